/* SPDX-License-Identifier: MIT */
/* Telling whoever looks on; only while `host->records` is there. */
#ifndef CARRICK_HOST_RECORDS_H
#define CARRICK_HOST_RECORDS_H

#include "carrick/host.h"

void carrick_record_told(struct carrick_host *host, uint32_t kind, uint32_t number, const uint64_t *words,
                         uint32_t count);

void carrick_record_opened(struct carrick_host *host, const struct carrick_config *config);

/* A packet of `len` bytes that left the core (CARRICK_RECORD_SENT), or that goes to it (CARRICK_RECORD_ARRIVED). */
void carrick_record_packet(struct carrick_host *host, uint32_t kind, const uint8_t *packet, uint32_t len);

void carrick_record_completed(struct carrick_host *host, const struct carrick_completion *done);

#endif
