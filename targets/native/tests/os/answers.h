/* SPDX-License-Identifier: MIT */
/* Calls whose answers the state of a socket determines; one of them, at random. */
#ifndef CARRICK_TESTS_OS_ANSWERS_H
#define CARRICK_TESTS_OS_ANSWERS_H

/* What was chosen of a socket before it was connected; 0: nothing. */
struct chosen {
    int receive, linger;
};

/* Neither bound nor connected. */
void answers_fresh(int fd, struct chosen *chosen);
/* The same socket, connected. */
void answers_chosen(int fd, const struct chosen *chosen);
/* Its peer may be gone. */
void answers_connected(int fd);
void answers_listening(int fd);
/* Both directions have ended in order. */
void answers_ended(int fd);

#endif
