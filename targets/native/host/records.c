/* SPDX-License-Identifier: MIT */
/* Telling whoever looks on. Nothing here is on the path of a stack that nobody looks at. */
#include <string.h>

#include "carrick/records.h"
#include "host/records.h"

/* A write that fails is told by the stream's end: the stack goes on. */
void carrick_record_told(struct carrick_host *host, uint32_t kind, uint32_t number, const uint64_t *words,
                         uint32_t count) {
    struct carrick_record_head head = {host->now, host->number, kind, number, count};
    fwrite(&head, sizeof head, 1, host->records);
    if (count)
        fwrite(words, sizeof *words, count, host->records);
}

void carrick_record_opened(struct carrick_host *host, const struct carrick_config *config) {
    uint32_t params = host->program->param_count;
    struct carrick_ip6_address own = {0, config->address};
    if (host->net.config.six)
        own = config->address6;
    struct carrick_record_opening opening = {host->program->source_hash, own.high, own.low, config->mtu, config->seed};
    const uint32_t count = sizeof opening / sizeof(uint64_t);
    struct carrick_record_head head = {host->now, host->number, CARRICK_RECORD_OPENED, 0, count + params};
    fwrite(&head, sizeof head, 1, host->records);
    fwrite(&opening, sizeof opening, 1, host->records);
    if (params)
        fwrite(config->params, sizeof *config->params, params, host->records);
}

void carrick_record_packet(struct carrick_host *host, uint32_t kind, const uint8_t *packet, uint32_t len) {
    static const uint8_t zeros[8] = {0};
    uint32_t words = (len + 7) / 8;
    struct carrick_record_head head = {host->now, host->number, kind, len, words};
    fwrite(&head, sizeof head, 1, host->records);
    fwrite(packet, 1, len, host->records);
    fwrite(zeros, 1, words * 8 - len, host->records);
}

void carrick_record_completed(struct carrick_host *host, const struct carrick_completion *done) {
    uint64_t words[] = {done->token, done->value};
    carrick_record_told(host, CARRICK_RECORD_COMPLETED, done->status, words, 2);
}
