/* SPDX-License-Identifier: MIT */
/* The built-in function: takes its time, changes the length of messages, and consumes some. */
#include <string.h>

#include "apps/offload.h"

/* In (0, 1]. */
static double draw(struct offload *all) {
    return ((double)carrick_stack_random(all->stack) + 1) / 4294967296.0;
}

/* The natural logarithm of a number in (0, 1], without the mathematics library. */
static double ln(double x) {
    double whole = 0;
    for (; x < 0.5; x *= 2)
        whole -= 0.693147180559945309;
    /* 2 artanh(z), whose series converges fast: |z| is at most a third. */
    double z = (x - 1) / (x + 1), sum = 0, power = z;
    for (int n = 1; n < 20; n += 2, power *= z * z)
        sum += power / n;
    return whole + 2 * sum;
}

uint64_t offload_model_time(struct offload *all) {
    const struct offload_settings *settings = &all->settings;
    if (!settings->exponential)
        return settings->service;
    return (uint64_t)(-ln(draw(all)) * (double)settings->service);
}

/* A longer message repeats its bytes. */
static uint32_t resize(const struct offload_worker *worker, double ratio) {
    double wanted = ratio * worker->len;
    uint32_t longest = worker->all->settings.longest;
    uint32_t len = wanted < 1 ? 1 : wanted > longest ? longest : (uint32_t)wanted;
    for (uint32_t at = 0; at < len; at += worker->len)
        memcpy(worker->answer + at, worker->taken, len - at < worker->len ? len - at : worker->len);
    return len;
}

void offload_model_answer(struct offload_worker *worker) {
    struct offload *all = worker->all;
    const struct offload_settings *settings = &all->settings;
    if (settings->intercept > 0 && draw(all) <= settings->intercept) {
        offload_consume(worker);
        return;
    }
    const double *ratio = settings->ratio;
    if (ratio[0] == 1 && ratio[1] == 1)
        offload_put(worker, worker->taken, worker->len);
    else
        offload_put(worker, worker->answer, resize(worker, ratio[0] + (ratio[1] - ratio[0]) * draw(all)));
}
