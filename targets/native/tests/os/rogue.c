/* SPDX-License-Identifier: MIT */
/* Programs that speak to a stack's door themselves, and want what is not theirs. */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>
#include <sys/un.h>

#include "carrick/sockets.h"
#include "tests/os/apps.h"
#include "tests/os/calls.h"

#define SERVICE "/service"

static int reach(const char *path, int type) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    strcpy(address.sun_path, path);
    int fd = os_socket(AF_UNIX, type, 0);
    if (fd < 0 || os_connect(fd, (const struct sockaddr *)&address, sizeof address) == 0)
        return fd;
    os_close(fd);
    return -1;
}

/* A service of another user, which believes what the system tells of who writes to it (SO_PASSCRED). */
void service_main(void *argument) {
    struct app *app = argument;
    struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = SERVICE};
    int fd = os_socket(AF_UNIX, SOCK_STREAM, 0);
    if (os_bind(fd, (const struct sockaddr *)&address, sizeof address) != 0 || os_listen(fd, 16) != 0)
        return;
    while (os_now() < app->until) {
        int client = os_accept4(fd, NULL, NULL, 0);
        char octets[512];
        while (client >= 0 && os_recv(client, octets, sizeof octets, 0) > 0)
            if (os_last_writer() == 0)
                os_broken("a service reads what root wrote over a connection that another user opened");
        if (client >= 0)
            os_close(client);
    }
    app_gone(app);
}

static struct carrick_ask to_someone(const struct app *app, uint32_t kind) {
    return (struct carrick_ask){.version = CARRICK_SOCKETS_VERSION,
                                .kind = kind,
                                .address = carrick_address_of_ipv4(node_address(1 - app->node)),
                                .port = (uint16_t)(PORT_FIRST + os_random(PORTS))};
}

/* Asks for a connection whose bytes shall go to this descriptor. */
static void lend(const struct app *app, int door, int fd) {
    struct carrick_ask ask = to_someone(app, CARRICK_ASK_CONNECT);
    struct carrick_answer answer;
    ask.id = 1 + os_random(1000);
    if (fd >= 0 && carrick_socket_pass(door, &ask, sizeof ask, fd, 0))
        while (os_recv(door, &answer, sizeof answer, 0) == sizeof answer && answer.error == 0)
            os_sleep(os_random(100000000));
}

static void lend_datagrams(const struct app *app, int door) {
    int ends[2];
    if (os_socketpair(AF_UNIX, SOCK_DGRAM, 0, ends) == 0)
        lend(app, door, ends[0]);
}

static void babble(int door) {
    uint8_t octets[sizeof(struct carrick_ask) + 8];
    for (size_t i = 0; i < sizeof octets; i++)
        octets[i] = (uint8_t)os_random(256);
    struct carrick_ask ask = {.version = CARRICK_SOCKETS_VERSION, .kind = os_random(8), .id = os_random(256)};
    size_t len = os_random(2) ? os_random(sizeof octets) : sizeof ask;
    if (os_random(2))
        memcpy(octets, &ask, sizeof ask);
    if (len > 0)
        (void)carrick_socket_pass(door, octets, len, os_random(2) ? door : -1, MSG_DONTWAIT);
}

/* Takes as many of the door's places as it can, and holds them. */
static void crowd(const struct app *app) {
    for (int i = 0; i < 80; i++)
        (void)reach(node_door(app->node), SOCK_SEQPACKET);
    os_sleep(os_random(500000000));
}

void rogue_main(void *argument) {
    struct app *app = argument;
    for (uint32_t i = 0; i < app->sessions; i++) {
        int door = reach(node_door(app->node), SOCK_SEQPACKET);
        switch (door < 0 ? 9 : os_random(5)) {
        case 0:
            lend(app, door, reach(SERVICE, SOCK_STREAM));
            break;
        case 1:
            lend_datagrams(app, door);
            break;
        case 2:
            crowd(app);
            break;
        default:
            babble(door);
        }
        os_sleep(os_random(50000000));
    }
    app_gone(app);
}
