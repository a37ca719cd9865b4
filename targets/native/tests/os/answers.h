/* SPDX-License-Identifier: MIT */
/* Calls whose answers the state of a socket determines; one of them, at random. */
#ifndef CARRICK_TESTS_OS_ANSWERS_H
#define CARRICK_TESTS_OS_ANSWERS_H

/* Its peer may be gone. */
void answers_connected(int fd);
void answers_listening(int fd);
/* Both directions have ended in order. */
void answers_ended(int fd);

#endif
