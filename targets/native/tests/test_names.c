/* SPDX-License-Identifier: MIT */
/* Names of the sockets of unmodified programs: each says all that it was made of, and nothing else is one. */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>

#include "carrick/sockets.h"
#include "tests/check.h"

static void says_what_it_was_made_of(char kind, bool six, bool only6, bool packets) {
    struct carrick_socket_name name = {.kind = kind,
                                       .id = UINT64_MAX - 5,
                                       .six = six,
                                       .only6 = only6,
                                       .packets = packets,
                                       .local_address = {UINT64_MAX, 1},
                                       .remote_address = {2, UINT64_MAX},
                                       .local_port = UINT16_MAX,
                                       .remote_port = 1};
    struct carrick_socket_name read;
    struct sockaddr_un address;
    socklen_t len = carrick_socket_name_make(&name, &address);
    CHECK(len <= sizeof address && carrick_socket_name_read(&address, len, &read));
    CHECK(read.kind == kind && read.id == name.id);
    CHECK(read.six == six && read.only6 == only6 && read.packets == packets);
    CHECK(read.local_address.high == UINT64_MAX && read.local_address.low == 1);
    CHECK(read.remote_address.high == 2 && read.remote_address.low == UINT64_MAX);
    CHECK(read.local_port == UINT16_MAX && read.remote_port == 1);
    for (socklen_t less = 0; less < len; less++)
        CHECK(!carrick_socket_name_read(&address, less, &read) || less + 4 > len); /* its last number may be shorter */
}

static void others_are_none(void) {
    struct carrick_socket_name name = {.kind = 'x'}, read;
    struct sockaddr_un address;
    socklen_t len = carrick_socket_name_make(&name, &address);
    CHECK(!carrick_socket_name_read(&address, len, &read));
    name.kind = CARRICK_SOCKET_LETTERS;
    len = carrick_socket_name_make(&name, &address);
    address.sun_path[0] = 'c'; /* a path in a folder */
    CHECK(!carrick_socket_name_read(&address, len, &read));
}

int main(void) {
    static const char kinds[] = {CARRICK_SOCKET_CONNECTION, CARRICK_SOCKET_ENDS, CARRICK_SOCKET_BOUND,
                                 CARRICK_SOCKET_LETTERS};
    for (size_t i = 0; i < sizeof kinds; i++)
        for (unsigned flags = 0; flags < 8; flags++)
            says_what_it_was_made_of(kinds[i], flags & 1, flags & 2, flags & 4);
    others_are_none();
    printf("names: ok\n");
    return 0;
}
