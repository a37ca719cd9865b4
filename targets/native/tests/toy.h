/* SPDX-License-Identifier: MIT */
/*
 * A program written by hand, as small as can be: what is sent leaves in packets of at most 1000 bytes, what arrives is
 * received. One connection, no reliability. Shows a host all that it must cope with: a queue of 4 packets that refuses
 * more, a parameter, ports that are taken. The counter `called` is the time of the last request.
 */
#ifndef CARRICK_TESTS_TOY_H
#define CARRICK_TESTS_TOY_H

#include "carrick/program.h"

#define TOY_PROTOCOL 253u

/* Has the parameters `taken` (so many connects find their port in use) and `tick` (the interval of a timer that only
 * counts). */
extern const struct carrick_program toy_program;

#endif
