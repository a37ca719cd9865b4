/* SPDX-License-Identifier: MIT */
/* A function on messages in the network: those that begin with `#` are comments and end here, and all others go on.
 *
 *     cc -Iinclude examples/offload.c -o offload
 *     ./offload /run/offload.sock
 */
#include <stdio.h>

#include "carrick/offload.h"

static uint8_t message[CARRICK_OFFLOAD_LONGEST];

int main(int argc, char **argv) {
    struct carrick_offload_head head;
    int fd = carrick_offload_connect(argc > 1 ? argv[1] : "offload.sock"), got;
    if (fd < 0) {
        perror("cannot connect");
        return 1;
    }
    while ((got = carrick_offload_take(fd, &head, message, sizeof message)) > 0) {
        int done = message[0] == '#' ? carrick_offload_consume(fd, head.message)
                                     : carrick_offload_put(fd, head.message, message, head.len);
        if (done != 0)
            perror("cannot answer");
    }
    return got < 0;
}
