/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "apps/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/audit.h>
#include <linux/bpf.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <linux/sockios.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#define CONFINE_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define CONFINE_ARCH AUDIT_ARCH_AARCH64
#elif defined(__riscv) && __riscv_xlen == 64
#define CONFINE_ARCH AUDIT_ARCH_RISCV64
#endif

/* Which of the needs allows a system call. */
enum confine_need { NEED_NOTHING, NEED_FILES, NEED_REMOVES, NEED_CONNECTS, NEED_KERNEL };

#define CONFINE_VALUES 5

/* A system call that is allowed. With `count`, only if the low 32 bits of an argument have one of the values. */
struct confine_rule {
    uint32_t number;
    enum confine_need need;
    uint32_t argument, count;
    uint32_t values[CONFINE_VALUES];
};

static const struct confine_rule confine_rules[] = {
    /* descriptors */
    {.number = SYS_read},
    {.number = SYS_readv},
    {.number = SYS_write},
    {.number = SYS_writev},
    {.number = SYS_pread64},
    {.number = SYS_pwrite64},
    {.number = SYS_close},
    {.number = SYS_fstat},
    {.number = SYS_newfstatat},
    {.number = SYS_lseek},
    {.number = SYS_fcntl},
    {.number = SYS_ioctl,
     .argument = 1,
     .count = 5,
     .values = {TCGETS, FIONREAD, SIOCOUTQ, SIOCGIFHWADDR, SIOCGIFNAME}},
    /* sockets; new ones are pairs of Unix sockets */
    {.number = SYS_socketpair, .count = 1, .values = {AF_UNIX}},
    {.number = SYS_bind},
    {.number = SYS_accept4},
    {.number = SYS_shutdown},
    {.number = SYS_sendto},
    {.number = SYS_sendmsg},
    {.number = SYS_sendmmsg},
    {.number = SYS_recvfrom},
    {.number = SYS_recvmsg},
    {.number = SYS_recvmmsg},
    {.number = SYS_getsockopt},
    {.number = SYS_setsockopt},
    {.number = SYS_getsockname},
    {.number = SYS_getpeername},
/* waiting and time */
#ifdef SYS_poll
    {.number = SYS_poll},
#endif
    {.number = SYS_ppoll},
#ifdef SYS_epoll_wait
    {.number = SYS_epoll_wait},
#endif
    {.number = SYS_epoll_pwait},
    {.number = SYS_epoll_ctl},
    {.number = SYS_timerfd_settime},
    {.number = SYS_clock_gettime},
    {.number = SYS_clock_nanosleep},
    {.number = SYS_nanosleep},
    {.number = SYS_restart_syscall},
    /* memory */
    {.number = SYS_brk},
    {.number = SYS_mmap},
    {.number = SYS_munmap},
    {.number = SYS_mremap},
    {.number = SYS_madvise},
    /* the process */
    {.number = SYS_getrandom},
    {.number = SYS_sysinfo}, /* qsort() */
    {.number = SYS_getpid},
    {.number = SYS_gettid},
    {.number = SYS_futex},
    {.number = SYS_rt_sigaction},
    {.number = SYS_rt_sigprocmask},
    {.number = SYS_rt_sigreturn},
    {.number = SYS_tgkill},
    {.number = SYS_exit},
    {.number = SYS_exit_group},
    /* what only some need */
    {.number = SYS_dup, .need = NEED_FILES},
    {.number = SYS_openat, .need = NEED_FILES},
    {.number = SYS_unlinkat, .need = NEED_FILES},
#ifdef SYS_renameat
    {.number = SYS_renameat, .need = NEED_FILES},
#endif
    {.number = SYS_renameat2, .need = NEED_FILES},
#ifdef SYS_unlink
    {.number = SYS_unlink, .need = NEED_REMOVES},
#endif
    {.number = SYS_unlinkat, .need = NEED_REMOVES},
    {.number = SYS_connect, .need = NEED_CONNECTS},
    {.number = SYS_socket, .need = NEED_KERNEL, .count = 3, .values = {AF_NETLINK, AF_UNIX, AF_INET}},
    {.number = SYS_bpf,
     .need = NEED_KERNEL,
     .count = 3,
     .values = {BPF_MAP_LOOKUP_ELEM, BPF_MAP_UPDATE_ELEM, BPF_MAP_DELETE_ELEM}},
};
#define CONFINE_RULES (sizeof confine_rules / sizeof confine_rules[0])

static bool refused(struct carrick_port_error *error, const char *what) {
    snprintf(error->text, sizeof error->text, "The process cannot give up its privileges: %s: %s.", what,
             strerror(errno));
    return false;
}

/* Another user's identity, for good. */
static bool become(uint32_t user, struct carrick_port_error *error) {
    if (geteuid() != 0 && user == geteuid())
        return true;
    if (prctl(PR_SET_KEEPCAPS, 1) != 0 || setgroups(0, NULL) != 0 || setresgid(user, user, user) != 0 ||
        setresuid(user, user, user) != 0)
        return refused(error, "--user");
    return true;
}

/* A process that changes its user hears no more of its parent's end (prctl(2)), which may have come meanwhile. */
static bool go_on_with_parent(const struct carrick_confinement *needs, struct carrick_port_error *error) {
    if (needs->death_signal == 0)
        return true;
    if (prctl(PR_SET_PDEATHSIG, needs->death_signal) != 0)
        return refused(error, "PR_SET_PDEATHSIG");
    if (getppid() != needs->parent)
        raise(needs->death_signal);
    return true;
}

/* All capabilities but the one to which changing maps of BPF is bound on some systems. */
static bool drop_capabilities(bool kernel, struct carrick_port_error *error) {
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];
    if (syscall(SYS_capget, &header, data) != 0)
        return refused(error, "capget");
    uint32_t kept = kernel ? data[CAP_TO_INDEX(CAP_BPF)].permitted & CAP_TO_MASK(CAP_BPF) : 0;
    memset(data, 0, sizeof data);
    data[CAP_TO_INDEX(CAP_BPF)].permitted = data[CAP_TO_INDEX(CAP_BPF)].effective = kept;
    return syscall(SYS_capset, &header, data) == 0 || refused(error, "capset");
}

#ifdef CONFINE_ARCH
#define RULE_CODE   (CONFINE_VALUES + 4)
#define FILTER_CODE (CONFINE_RULES * RULE_CODE + 8)

/* The code of a rule: falls through if it is another system call. Returns its length. */
static size_t rule_code(const struct confine_rule *rule, struct sock_filter *code) {
    const struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    const struct sock_filter refuse = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
    uint32_t low = (uint32_t)offsetof(struct seccomp_data, args) + 8 * rule->argument;
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    low += 4;
#endif
    size_t n = 0;
    uint8_t rest = (uint8_t)(rule->count ? rule->count + 3 : 1);
    code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, rule->number, 0, rest);
    if (rule->count) {
        code[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, low);
        for (uint32_t v = 0; v < rule->count; v++)
            code[n++] =
                (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, rule->values[v], (uint8_t)(rule->count - v), 0);
        code[n++] = refuse;
    }
    code[n++] = allow;
    return n;
}

static bool allow_calls(const struct carrick_confinement *needs, struct carrick_port_error *error) {
    static struct sock_filter code[FILTER_CODE];
    const bool given[] = {true, needs->files, needs->removes, needs->connects, needs->kernel};
    size_t n = 0;
    code[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch));
    code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, CONFINE_ARCH, 1, 0);
    code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
    code[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (size_t i = 0; i < CONFINE_RULES; i++)
        if (given[confine_rules[i].need])
            n += rule_code(&confine_rules[i], code + n);
    code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
    struct sock_fprog program = {.len = (unsigned short)n, .filter = code};
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0 || refused(error, "seccomp");
}
#else
/* Nobody has compared the numbers of system calls with this architecture's. */
static bool allow_calls(const struct carrick_confinement *needs, struct carrick_port_error *error) {
    (void)needs, (void)error;
    return true;
}
#endif

bool carrick_confine(const struct carrick_confinement *needs, struct carrick_port_error *error) {
    if (needs->has_user && !become(needs->user, error))
        return false;
    if (!drop_capabilities(needs->kernel, error) || !go_on_with_parent(needs, error))
        return false;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return refused(error, "PR_SET_NO_NEW_PRIVS");
    return allow_calls(needs, error);
}
