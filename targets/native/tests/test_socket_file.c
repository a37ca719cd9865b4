/* SPDX-License-Identifier: MIT */
/* What a socket's path may be: nothing that is there is lost, and nobody else can put something else there. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "carrick/app.h"
#include "carrick/socket_file.h"
#include "tests/check.h"

#define ANOTHER 12345 /* a user */

static struct carrick_port_error error;

static int make(const char *path) {
    return carrick_socket_file_open(path, SOCK_SEQPACKET | SOCK_CLOEXEC, 0640, &error);
}

static bool refused(const char *path, const char *why) {
    if (make(path) >= 0 || !strstr(error.text, why)) {
        fprintf(stderr, "%s: %s\n", path, error.text);
        return false;
    }
    return true;
}

static struct stat what(const char *path) {
    struct stat is;
    CHECK(lstat(path, &is) == 0);
    return is;
}

static void what_is_no_socket_stays(void) {
    const char text[] = "precious";
    char read_back[sizeof text] = "";
    int file = open("file", O_CREAT | O_RDWR, 0600);
    CHECK(file >= 0 && write(file, text, sizeof text) == sizeof text);
    int port = make("socket");
    CHECK(port >= 0 && symlink("file", "link") == 0 && symlink("socket", "to_socket") == 0 &&
          symlink("nowhere", "dangling") == 0 && mkdir("folder", 0755) == 0 && mkfifo("fifo", 0600) == 0);
    const char *const there[] = {"file", "link", "to_socket", "dangling", "folder", "fifo"};
    for (size_t i = 0; i < sizeof there / sizeof there[0]; i++) {
        struct stat before = what(there[i]);
        CHECK(refused(there[i], "no socket"));
        struct stat after = what(there[i]);
        CHECK(before.st_ino == after.st_ino && before.st_mode == after.st_mode);
    }
    CHECK(pread(file, read_back, sizeof text, 0) == sizeof text && strcmp(read_back, text) == 0);
    CHECK(!carrick_unix_open("file:peer", &error) && strstr(error.text, "no socket"));
    CHECK(what("file").st_size == sizeof text);
    close(file);
    close(port);
}

static void one_in_use_stays_and_one_left_behind_is_replaced(void) {
    int first = make("used");
    CHECK(first >= 0 && listen(first, 0) == 0);
    ino_t inode = what("used").st_ino;
    CHECK(refused("used", "another process"));
    int of_another_type = carrick_socket_file_open("used", SOCK_DGRAM, 0600, &error);
    CHECK(of_another_type < 0 && strstr(error.text, "another process") && what("used").st_ino == inode);
    close(first);
    int second = make("used");
    CHECK(second >= 0 && listen(second, 0) == 0 && refused("used", "another process"));
    close(second);
}

/* Whatever the mask of the process, and at once: nothing changes permissions later. */
static void permissions_are_those_that_were_asked_for(void) {
    const mode_t masks[] = {0, 022, 0777};
    mode_t before = umask(0);
    for (size_t i = 0; i < sizeof masks / sizeof masks[0]; i++) {
        umask(masks[i]);
        int fd = make("mode");
        CHECK(fd >= 0 && (what("mode").st_mode & 0777) == 0640 && umask(masks[i]) == masks[i]);
        close(fd);
    }
    umask(before);
}

static void folders_of_others_are_refused(void) {
    CHECK(mkdir("open", 0755) == 0 && mkdir("open/below", 0755) == 0 && chmod("open", 0777) == 0);
    CHECK(refused("open/socket", "written to by other users") && refused("open/below/socket", "other users"));
    CHECK(chmod("open", 0775) == 0 && refused("open/socket", "other users"));
    CHECK(symlink("open", "way") == 0 && refused("way/socket", "other users"));
    CHECK(chmod("open", 01777) == 0);
    int fd = make("open/below/socket");
    CHECK(fd >= 0);
    close(fd);
    CHECK(refused("nowhere/socket", "No such file"));
    if (geteuid() != 0) {
        SKIP("only root can give a folder to another user");
        return;
    }
    CHECK(chmod("open", 0755) == 0 && chown("open", ANOTHER, ANOTHER) == 0);
    CHECK(refused("open/socket", "belongs to another user") && refused("open/below/socket", "belongs to another"));
    CHECK(chmod("open", 01777) == 0 && refused("open/socket", "belongs to another user"));
}

/* `--user`: a folder of the user that this process becomes is as good as one of its own, and of no use to that user. */
static void a_folder_of_the_next_user_is_taken(void) {
    if (geteuid() != 0) {
        SKIP("only root becomes another user");
        return;
    }
    CHECK(chmod(".", 0755) == 0 && mkdir("theirs", 0755) == 0 && chown("theirs", ANOTHER, ANOTHER) == 0);
    CHECK(mkdir("third", 0755) == 0 && chown("third", ANOTHER + 1, ANOTHER) == 0);
    CHECK(mkdir("roots", 0755) == 0 && symlink("../roots", "theirs/link") == 0);
    CHECK(lchown("theirs/link", ANOTHER, ANOTHER) == 0);
    CHECK(refused("theirs/socket", "belongs to another user"));
    carrick_socket_file_next_user(ANOTHER);
    int theirs = make("theirs/socket"), ours = make("roots/socket");
    CHECK(theirs >= 0 && what("theirs/socket").st_uid == ANOTHER && (what("theirs/socket").st_mode & 0777) == 0640);
    CHECK(ours >= 0 && what("roots/socket").st_uid == 0);
    CHECK(geteuid() == 0 && getegid() == 0);
    CHECK(refused("third/socket", "belongs to another user"));
    CHECK(refused("theirs/link/another", "Permission denied") && refused("theirs/link/socket", "another process"));
    close(ours);
    CHECK(refused("theirs/link/socket", "another process") && what("roots/socket").st_uid == 0);
    close(theirs);
    theirs = make("theirs/socket");
    CHECK(theirs >= 0);
    close(theirs);
    carrick_socket_file_next_user(0);
    CHECK(refused("theirs/socket", "belongs to another user"));
}

int main(void) {
    char folder[] = "/tmp/carrick-test-XXXXXX", remove[64];
    CHECK(mkdtemp(folder) && chdir(folder) == 0);
    what_is_no_socket_stays();
    one_in_use_stays_and_one_left_behind_is_replaced();
    permissions_are_those_that_were_asked_for();
    folders_of_others_are_refused();
    a_folder_of_the_next_user_is_taken();
    snprintf(remove, sizeof remove, "rm -r %s", folder);
    CHECK(system(remove) == 0);
    puts("socket file: ok");
    return 0;
}
