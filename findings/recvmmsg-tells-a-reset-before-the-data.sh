#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A TCP peer sends five bytes and then resets the connection. Both have arrived when the program reads: with recv(), and on a second
# connection with recvmmsg(), which asks for two messages.
#
# Expected by most: recvmmsg(2) "is an extension of recvmsg(2)", so both give the five bytes, and then ECONNRESET.
# Seen (glibc 2.36, Linux 6.18): recv gives the bytes, then ECONNRESET. recvmmsg gives ECONNRESET at once. A program that calls
# it again gets the bytes after all, and then messages of no bytes: the end of the stream, as if the peer had closed in order.
# So: an error of recvmmsg does not say that there is nothing to read, and the end that it reports may have been a reset.
. "$(dirname "$0")/packages"

debian libc6=2.36-9+deb12u14
cat >reads.c <<'END'
// reads: connects to itself, resets one end behind five bytes, and says what reading at the other end gives.
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

static int broken(void) {
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof at;
    int listener = socket(AF_INET, SOCK_STREAM, 0), peer = socket(AF_INET, SOCK_STREAM, 0);
    bind(listener, (struct sockaddr *)&at, len);
    listen(listener, 1);
    getsockname(listener, (struct sockaddr *)&at, &len);
    connect(peer, (struct sockaddr *)&at, len);
    int fd = accept(listener, NULL, NULL);
    send(peer, "hello", 5, 0);
    setsockopt(peer, SOL_SOCKET, SO_LINGER, &(struct linger){.l_onoff = 1}, sizeof(struct linger));
    close(peer);
    close(listener);
    struct pollfd until = {.fd = fd}; // POLLERR or POLLHUP: the reset is there
    poll(&until, 1, 10000);
    return fd;
}

int main(void) {
    char room[2][3];
    int fd = broken();
    for (int i = 0; i < 3; i++) {
        ssize_t got = recv(fd, room, sizeof room, MSG_DONTWAIT);
        printf("recv %s\n", got < 0 ? strerrorname_np(errno) : (char[]){'0' + (char)got, 0});
    }
    fd = broken();
    for (int i = 0; i < 3; i++) {
        struct iovec into[2] = {{room[0], 3}, {room[1], 3}};
        struct mmsghdr two[2] = {{.msg_hdr = {.msg_iov = &into[0], .msg_iovlen = 1}},
                                 {.msg_hdr = {.msg_iov = &into[1], .msg_iovlen = 1}}};
        int got = recvmmsg(fd, two, 2, MSG_DONTWAIT, NULL);
        if (got < 0)
            printf("recvmmsg %s\n", strerrorname_np(errno));
        else
            printf("recvmmsg %u+%u\n", two[0].msg_len, got > 1 ? two[1].msg_len : 0);
    }
}
END
gcc -D_GNU_SOURCE -w reads.c -o reads
seen=$(LD_LIBRARY_PATH=$libraries ./reads)
echo "$seen"
expected='recv 5
recv ECONNRESET
recv 0
recvmmsg ECONNRESET
recvmmsg 3+2
recvmmsg 0+0'
[ "$seen" = "$expected" ] || { echo "this has changed (Linux $(uname -r))" >&2; exit 1; }
echo "as stated (Linux $(uname -r)): recvmmsg tells the reset first, and recv the data"
