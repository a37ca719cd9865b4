/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "apps/offload.h"

#include <inttypes.h>
#include <stdlib.h>

#include "carrick/reserve.h"

#define RETRY_AFTER UINT64_C(1000000) /* ns, where the program has no space for one more request */

static void take(struct offload_worker *worker);

void offload_note(struct offload *all, enum offload_count count, const char *sentence) {
    all->counts[count]++;
    if (!all->said[count])
        fprintf(stderr, "offload: %s\n", sentence);
    all->said[count] = true;
}

/* Without these calls nothing goes on. */
static void fail(struct offload *all, const char *call, const char *why) {
    fprintf(stderr, "offload: the call `%s` of the program failed: %s.\n", call, why);
    carrick_stack_stop(all->stack, CARRICK_EXIT_FAILED);
}

static void begun(const struct offload_worker *worker, const char *call, int refused) {
    if (refused)
        fail(worker->all, call, "too many requests are open; raise --requests");
}

static void wait_until(struct offload_worker *worker, enum offload_wait waits, uint64_t deadline) {
    worker->waits = waits;
    worker->deadline = deadline;
    if (deadline != CARRICK_NEVER)
        offload_set_timer(worker->all);
}

static void answered(void *user, enum carrick_status status, uint64_t value) {
    struct offload_worker *worker = user;
    (void)value;
    if (status == CARRICK_OK)
        worker->all->counts[worker->consumed ? OFFLOAD_CONSUMED : OFFLOAD_PUT]++;
    else
        offload_note(worker->all, OFFLOAD_REFUSED,
                     "the program refused an answer: it was too long, or its message had ended.");
    take(worker);
}

void offload_put(struct offload_worker *worker, const uint8_t *data, uint32_t len) {
    worker->consumed = false;
    wait_until(worker, OFFLOAD_REQUEST, CARRICK_NEVER);
    begun(worker, "put", carrick_put(worker->all->stack, worker->message, data, len, answered, worker));
}

void offload_consume(struct offload_worker *worker) {
    worker->consumed = true;
    wait_until(worker, OFFLOAD_REQUEST, CARRICK_NEVER);
    begun(worker, "consume", carrick_consume(worker->all->stack, worker->message, answered, worker));
}

void offload_pass(struct offload_worker *worker) {
    worker->all->counts[OFFLOAD_PASSED]++;
    offload_put(worker, worker->taken, worker->len);
}

/* A worker has a message. */
static void serve(struct offload_worker *worker) {
    struct offload *all = worker->all;
    uint64_t now = carrick_stack_now(all->stack);
    if (all->process.fd >= 0) {
        worker->number = ++all->generation * OFFLOAD_WORKERS + (uint64_t)(worker - all->workers);
        wait_until(worker, OFFLOAD_SOCKET, now + all->settings.within);
        if (offload_process_give(worker))
            worker->waits = OFFLOAD_PROCESS;
        return;
    }
    if (all->settings.path[0]) {
        offload_pass(worker);
        return;
    }
    uint64_t takes = offload_model_time(all);
    if (takes == 0)
        offload_model_answer(worker);
    else
        wait_until(worker, OFFLOAD_SERVICE, now + takes);
}

static void received(void *user, enum carrick_status status, uint64_t len) {
    struct offload_worker *worker = user;
    struct offload *all = worker->all;
    worker->len = (uint32_t)len;
    if (status == CARRICK_NO_ROOM) {
        fail(all, "recv", "the target has no memory for messages of this length; lower the setting longest");
    } else if (status != CARRICK_OK || len == 0) {
        all->counts[OFFLOAD_ENDED]++;
        take(worker);
    } else if (len > all->settings.longest) {
        offload_note(all, OFFLOAD_TOO_LONG,
                     "a message is longer than the setting longest allows, and gets no answer: raise it.");
        take(worker);
    } else {
        all->counts[OFFLOAD_TAKEN]++;
        serve(worker);
    }
}

static void taken(void *user, enum carrick_status status, uint64_t message) {
    struct offload_worker *worker = user;
    struct offload *all = worker->all;
    worker->message = message;
    if (status == CARRICK_OK)
        begun(worker, "recv",
              carrick_recv(all->stack, message, worker->taken, all->settings.longest + 1, received, worker));
    else if (status == CARRICK_BUSY)
        wait_until(worker, OFFLOAD_RETRY, carrick_stack_now(all->stack) + RETRY_AFTER);
    else
        fail(all, "take", carrick_status_text(status));
}

static void take(struct offload_worker *worker) {
    wait_until(worker, OFFLOAD_REQUEST, CARRICK_NEVER);
    begun(worker, "take", carrick_take(worker->all->stack, worker->all->opened, taken, worker));
}

static void opened(void *user, enum carrick_status status, uint64_t handle) {
    struct offload *all = user;
    all->opened = handle;
    if (status != CARRICK_OK)
        fail(all, "open", carrick_status_text(status));
    for (uint32_t n = 0; status == CARRICK_OK && n < all->settings.workers; n++)
        take(&all->workers[n]);
}

void offload_due(struct offload *all) {
    uint64_t now = carrick_stack_now(all->stack);
    for (uint32_t n = 0; n < all->settings.workers; n++) {
        struct offload_worker *worker = &all->workers[n];
        if (worker->deadline > now)
            continue;
        switch (worker->waits) {
        case OFFLOAD_RETRY:
            take(worker);
            break;
        case OFFLOAD_SERVICE:
            offload_model_answer(worker);
            break;
        default:
            offload_note(all, OFFLOAD_LATE,
                         "the process did not answer a message in time (within): it passes unchanged.");
            offload_pass(worker);
        }
    }
    offload_set_timer(all);
}

static void offload_finish(void *state) {
    static const char *const names[OFFLOAD_COUNTS] = {"taken", "put",    "consumed", "refused", "too_long",
                                                      "ended", "passed", "late",     "invalid", "needless"};
    struct offload *all = state;
    for (int n = 0; n < OFFLOAD_COUNTS; n++)
        if (all->counts[n])
            fprintf(stderr, "offload_%-12s %" PRIu64 "\n", names[n], all->counts[n]);
    offload_process_close(all);
    carrick_unreserve(all->memory, 2 * all->settings.workers + 1, all->settings.longest + 1);
    free(all);
}

/* Memory for the messages of all workers. */
static bool make_workers(struct offload *all) {
    size_t each = all->settings.longest + 1;
    all->memory = carrick_reserve(2 * all->settings.workers + 1, each);
    if (!all->memory)
        return false;
    all->record = all->memory + 2 * all->settings.workers * each;
    for (uint32_t n = 0; n < all->settings.workers; n++)
        all->workers[n] = (struct offload_worker){.all = all,
                                                  .deadline = CARRICK_NEVER,
                                                  .taken = all->memory + 2 * n * each,
                                                  .answer = all->memory + (2 * n + 1) * each};
    return true;
}

static bool offload_open(struct offload *all, struct carrick_port_error *error) {
    if (!make_workers(all)) {
        snprintf(error->text, sizeof error->text, "There is not enough memory for messages: lower workers or longest.");
        return false;
    }
    if (!carrick_stack_has(all->stack, "take") || !carrick_stack_has(all->stack, "put") ||
        (all->settings.intercept > 0 && !carrick_stack_has(all->stack, "consume"))) {
        snprintf(error->text, sizeof error->text,
                 "An offload needs a program with an interface of the shape `offload`, and for intercept its call "
                 "`consume`.");
        return false;
    }
    if (!offload_process_open(all, error))
        return false;
    if (!carrick_stack_has(all->stack, "open"))
        opened(all, CARRICK_OK, 0);
    else if (carrick_open_offload(all->stack, all->settings.buffer, opened, all) != 0)
        fail(all, "open", "no request is free");
    return true;
}

static void *offload_start(struct carrick_stack *stack, const char *argument, struct carrick_port_error *error) {
    struct offload *all = calloc(1, sizeof *all);
    if (!all) {
        snprintf(error->text, sizeof error->text, "There is not enough memory for an offload.");
        return NULL;
    }
    all->stack = stack;
    all->process = (struct offload_process){.epoll = -1, .listener = -1, .timer = -1, .fd = -1};
    if (offload_settings_read(argument, &all->settings, error) && offload_open(all, error))
        return all;
    offload_finish(all);
    return NULL;
}

const struct carrick_application carrick_offload_application = {
    .name = "offload",
    .usage = "offload[:service=TIME,ratio=LEAST..GREATEST,intercept=SHARE,workers=N,buffer=BYTES,longest=BYTES,"
             "socket=PATH,within=TIME]",
    .start = offload_start,
    .finish = offload_finish,
    .removes = true};
