// Counts the calls with which a program makes files durable or gives and takes their names, and
// kills the program at one of them. Loaded before the C library by LD_PRELOAD: the program knows
// nothing of it.
//
// KILLPOINTS names a file of 40 bytes that the test maps too: five numbers of 64 bits, native
// order.
//   0: whether calls are counted (1) or pass (0)
//   1: calls counted so far
//   2: the call that kills: 2n before the n-th call, 2n + 1 after it; 0 for none
//   3: whether it has killed (1)
//   4: the process that is killed; 0 for this one
// Where the file NAME.log stands beside it, a line for every counted call is appended to that, with
// the monotonic time in nanoseconds before it. Where the file NAME.drawn does, the random bytes that
// the program draws 16 at a time are appended to that, in hexadecimal: the keys of its changes are
// among them.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

struct control {
    _Atomic uint64_t counting;
    _Atomic uint64_t count;
    _Atomic uint64_t fatal;
    _Atomic uint64_t struck;
    _Atomic uint64_t victim;
};

static struct control *control;
static int log_file = -1;
static int drawn_file = -1;

static int beside(const char *path, const char *suffix) {
    char name[4096];
    if (snprintf(name, sizeof name, "%s%s", path, suffix) >= (int)sizeof name) abort();
    return open(name, O_WRONLY | O_APPEND | O_CLOEXEC);
}

__attribute__((constructor)) static void begin(void) {
    const char *path = getenv("KILLPOINTS");
    if (path == NULL) return;
    int file = open(path, O_RDWR | O_CLOEXEC);
    if (file < 0) abort();
    void *mapped =
        mmap(NULL, sizeof(struct control), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (mapped == MAP_FAILED) abort();
    close(file);
    control = mapped;
    log_file = beside(path, ".log");
    drawn_file = beside(path, ".drawn");
}

static void strike(void) {
    pid_t victim = (pid_t)atomic_load(&control->victim);
    atomic_store(&control->struck, 1);
    kill(victim == 0 ? getpid() : victim, SIGKILL);
    while (victim == 0) pause();
}

// Counts a call, and kills before it where that is wanted. Zero for a call that is not counted.
static uint64_t enter(const char *call, const char *path, int descriptor) {
    if (control == NULL || atomic_load(&control->counting) == 0) return 0;
    int code = errno;
    uint64_t number = atomic_fetch_add(&control->count, 1) + 1;
    if (log_file >= 0) {
        char name[4096] = "", line[8192];
        if (path == NULL) {
            char link[64];
            snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
            if (readlink(link, name, sizeof name - 1) < 0) name[0] = 0;
            path = name;
        }
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        int length = snprintf(
            line, sizeof line, "%lld %s %s\n",
            (long long)now.tv_sec * 1000000000 + now.tv_nsec, call, path);
        if (write(log_file, line, (size_t)length) != length) abort();
    }
    if (atomic_load(&control->fatal) == 2 * number) strike();
    errno = code;
    return number;
}

// Kills after the call where that is wanted.
static int leave(uint64_t number, int result) {
    if (number != 0 && atomic_load(&control->fatal) == 2 * number + 1) strike();
    return result;
}

#define REAL(type, name) ((type)dlsym(RTLD_NEXT, name))

typedef int (*of_descriptor)(int);
typedef int (*of_path)(const char *);
typedef int (*of_two_paths)(const char *, const char *);
typedef int (*of_place)(int, const char *, int);
typedef int (*of_two_places)(int, const char *, int, const char *);
typedef int (*of_two_places_and_flags)(int, const char *, int, const char *, int);
typedef int (*of_two_places_and_unsigned_flags)(
    int, const char *, int, const char *, unsigned int);

int fsync(int file) {
    uint64_t number = enter("fsync", NULL, file);
    return leave(number, REAL(of_descriptor, "fsync")(file));
}

int fdatasync(int file) {
    uint64_t number = enter("fdatasync", NULL, file);
    return leave(number, REAL(of_descriptor, "fdatasync")(file));
}

int unlink(const char *path) {
    uint64_t number = enter("unlink", path, -1);
    return leave(number, REAL(of_path, "unlink")(path));
}

int unlinkat(int folder, const char *path, int flags) {
    uint64_t number = enter("unlinkat", path, -1);
    return leave(number, REAL(of_place, "unlinkat")(folder, path, flags));
}

int rename(const char *from, const char *to) {
    uint64_t number = enter("rename", to, -1);
    return leave(number, REAL(of_two_paths, "rename")(from, to));
}

int renameat(int from_folder, const char *from, int to_folder, const char *to) {
    uint64_t number = enter("renameat", to, -1);
    return leave(number, REAL(of_two_places, "renameat")(from_folder, from, to_folder, to));
}

int renameat2(
    int from_folder, const char *from, int to_folder, const char *to, unsigned int flags) {
    uint64_t number = enter("renameat2", to, -1);
    return leave(
        number, REAL(of_two_places_and_unsigned_flags, "renameat2")(
                    from_folder, from, to_folder, to, flags));
}

int link(const char *from, const char *to) {
    uint64_t number = enter("link", to, -1);
    return leave(number, REAL(of_two_paths, "link")(from, to));
}

int linkat(int from_folder, const char *from, int to_folder, const char *to, int flags) {
    uint64_t number = enter("linkat", to, -1);
    return leave(
        number, REAL(of_two_places_and_flags, "linkat")(
                    from_folder, from, to_folder, to, flags));
}

// For calls that are made by number: renameat2 may be.
long syscall(long number, ...) {
    long words[6];
    va_list list;
    va_start(list, number);
    for (int index = 0; index < 6; index++) words[index] = va_arg(list, long);
    va_end(list);
    uint64_t counted =
        number == SYS_renameat2 ? enter("renameat2", (const char *)words[3], -1) : 0;
    long result = REAL(long (*)(long, ...), "syscall")(
        number, words[0], words[1], words[2], words[3], words[4], words[5]);
    leave(counted, 0);
    return result;
}

typedef ssize_t (*of_bytes)(void *, size_t, unsigned int);

enum { drawn_bytes = 16 };

ssize_t getrandom(void *bytes, size_t count, unsigned int flags) {
    ssize_t drawn = REAL(of_bytes, "getrandom")(bytes, count, flags);
    if (drawn_file < 0 || drawn != drawn_bytes) return drawn;
    char line[2 * drawn_bytes + 2];
    for (int index = 0; index < drawn_bytes; index++)
        snprintf(line + 2 * index, 3, "%02x", ((const unsigned char *)bytes)[index]);
    line[2 * drawn_bytes] = '\n';
    if (write(drawn_file, line, 2 * drawn_bytes + 1) != 2 * drawn_bytes + 1) abort();
    return drawn;
}
