/* SPDX-License-Identifier: MIT */
/* A wire between two simulated processes: what one commits the other can receive after a delay. */
#ifndef CARRICK_TESTS_OS_WIRE_H
#define CARRICK_TESTS_OS_WIRE_H

#include "carrick/port.h"

/* For a run; the ends are opened once each, by the processes that have them. */
void wire_begin(uint64_t delay, bool ethernet);
struct carrick_port *wire_open(uint32_t end);
/* Writes the first bytes of a packet behind its network header to the log. */
void wire_show(const char *what, const uint8_t *octets, uint32_t len, uint32_t skip);
uint64_t wire_octets(uint32_t end);

#endif
