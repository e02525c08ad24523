/* Stands between a process and the C library (LD_PRELOAD): the so-many-th call that touches a file below one folder
 * fails, is cut short, or is met by a signal. Everything else passes. What happened is told on a shared page. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

enum { NOTHING, FAIL, SHORT, SIGNAL_BEFORE, SIGNAL_AFTER };
enum { READS = 1, NO_EXCHANGE = 2 };
enum { NOT_OURS, READ, WRITTEN };

struct page {
    long calls;
    char hit[64];
};

static struct page own;
static struct page *page = &own;
static char below[4096];
static size_t length;
static long wanted;
static int mode, value, flags, armed;
static unsigned char watched[1 << 16];

void faults_share(void *shared) { page = shared; }

void faults_arm(const char *folder, long number, int how, int what, int more) {
    memset(watched, 0, sizeof watched);
    memset(page, 0, sizeof *page);
    snprintf(below, sizeof below, "%s", folder);
    length = strlen(below);
    wanted = number, mode = how, value = what, flags = more;
    armed = 1;
}

void faults_disarm(void) { armed = 0; }

static int is_below(int folder, const char *path) {
    if (!armed || !path) return 0;
    if (*path == '/') return !strncmp(path, below, length);
    return folder == AT_FDCWD || (folder >= 0 && folder < (int)sizeof watched && watched[folder]);
}

static int is_watched(int file) { return armed && file >= 0 && file < (int)sizeof watched && watched[file]; }

static int may_be_interrupted(const char *name) {
    return strstr("open open64 openat openat64 write pwrite pwrite64 writev read pread pread64 flock ftruncate ftruncate64", name) != 0;
}

/* Count a call; returns 1 if it must fail, 2 if it must be cut short. */
static int count(const char *name) {
    if (__sync_add_and_fetch(&page->calls, 1) != wanted) return 0;
    snprintf(page->hit, sizeof page->hit, "%s", name);
    if (mode == SIGNAL_BEFORE) kill(getpid(), value);
    if (mode == FAIL) {
        errno = value == EINTR && !may_be_interrupted(name) ? EIO : value;
        return 1;
    }
    return mode == SHORT ? 2 : 0;
}

static void after(long before) {
    if (armed && mode == SIGNAL_AFTER && before < wanted && page->calls >= wanted) {
        int kept = errno;
        kill(getpid(), value);
        errno = kept;
    }
}


#define CALL(type, name, touched, parameters, arguments) \
    type name parameters { \
        static type(*real) parameters; \
        if (!real) real = dlsym(RTLD_NEXT, #name); \
        if (!(touched)) return real arguments; \
        long before = page->calls; \
        if (count(#name) == 1) return -1; \
        type found = real arguments; \
        after(before); \
        return found; \
    }

#define OPEN(name, touched, parameters, fixed) \
    int name parameters { \
        static int (*real)(int, const char *, int, ...); \
        mode_t mask = 0; \
        if (how & (O_CREAT | O_TMPFILE)) { \
            va_list more; \
            va_start(more, how); \
            mask = va_arg(more, mode_t); \
            va_end(more); \
        } \
        if (!real) real = dlsym(RTLD_NEXT, "openat64"); \
        if (!(touched)) return real(fixed, path, how, mask); \
        long before = page->calls; \
        if (count(#name) == 1) return -1; \
        int found = real(fixed, path, how, mask); \
        if (found >= 0 && found < (int)sizeof watched) watched[found] = how & (O_WRONLY | O_RDWR) ? WRITTEN : READ; \
        after(before); \
        return found; \
    }

OPEN(open, is_below(AT_FDCWD, path), (const char *path, int how, ...), AT_FDCWD)
OPEN(open64, is_below(AT_FDCWD, path), (const char *path, int how, ...), AT_FDCWD)
OPEN(openat, is_below(folder, path), (int folder, const char *path, int how, ...), folder)
OPEN(openat64, is_below(folder, path), (int folder, const char *path, int how, ...), folder)

#define WRITE(name, parameters, arguments, shorter) \
    ssize_t name parameters { \
        static ssize_t(*real) parameters; \
        if (!real) real = dlsym(RTLD_NEXT, #name); \
        if (!is_watched(file)) return real arguments; \
        long before = page->calls; \
        int verdict = count(#name); \
        if (verdict == 1) return -1; \
        ssize_t found = verdict == 2 && size > 1 ? real shorter : real arguments; \
        after(before); \
        return found; \
    }

WRITE(write, (int file, const void *bytes, size_t size), (file, bytes, size), (file, bytes, size / 2))
WRITE(pwrite, (int file, const void *bytes, size_t size, off_t at), (file, bytes, size, at), (file, bytes, size / 2, at))
WRITE(pwrite64, (int file, const void *bytes, size_t size, off64_t at), (file, bytes, size, at), (file, bytes, size / 2, at))
CALL(ssize_t, writev, is_watched(file), (int file, const struct iovec *parts, int many), (file, parts, many))

#define IS_READ (is_watched(file) && (flags & READS))
CALL(ssize_t, read, IS_READ, (int file, void *bytes, size_t size), (file, bytes, size))
CALL(ssize_t, pread, IS_READ, (int file, void *bytes, size_t size, off_t at), (file, bytes, size, at))
CALL(ssize_t, pread64, IS_READ, (int file, void *bytes, size_t size, off64_t at), (file, bytes, size, at))

CALL(int, fsync, is_watched(file), (int file), (file))
CALL(int, fdatasync, is_watched(file), (int file), (file))
CALL(int, ftruncate, is_watched(file), (int file, off_t size), (file, size))
CALL(int, ftruncate64, is_watched(file), (int file, off64_t size), (file, size))
CALL(int, fchmod, is_watched(file), (int file, mode_t mask), (file, mask))
CALL(int, flock, is_watched(file), (int file, int how), (file, how))

CALL(int, rename, is_below(AT_FDCWD, from) || is_below(AT_FDCWD, to), (const char *from, const char *to), (from, to))
CALL(int, renameat, is_below(first, from) || is_below(second, to), (int first, const char *from, int second, const char *to), (first, from, second, to))
CALL(int, link, is_below(AT_FDCWD, to), (const char *from, const char *to), (from, to))
CALL(int, linkat, is_below(second, to), (int first, const char *from, int second, const char *to, int how), (first, from, second, to, how))
CALL(int, unlink, is_below(AT_FDCWD, path), (const char *path), (path))
CALL(int, unlinkat, is_below(folder, path), (int folder, const char *path, int how), (folder, path, how))
CALL(int, rmdir, is_below(AT_FDCWD, path), (const char *path), (path))
CALL(int, mkdir, is_below(AT_FDCWD, path), (const char *path, mode_t mask), (path, mask))
CALL(int, mkdirat, is_below(folder, path), (int folder, const char *path, mode_t mask), (folder, path, mask))
CALL(int, chmod, is_below(AT_FDCWD, path), (const char *path, mode_t mask), (path, mask))
CALL(int, fchmodat, is_below(folder, path), (int folder, const char *path, mode_t mask, int how), (folder, path, mask, how))

int renameat2(int first, const char *from, int second, const char *to, unsigned int how) {
    static int (*real)(int, const char *, int, const char *, unsigned int);
    if (!real) real = dlsym(RTLD_NEXT, "renameat2");
    if (!is_below(first, from) && !is_below(second, to)) return real(first, from, second, to, how);
    if (flags & NO_EXCHANGE) {
        errno = ENOSYS;
        return -1;
    }
    long before = page->calls;
    if (count("renameat2") == 1) return -1;
    int found = real(first, from, second, to, how);
    after(before);
    return found;
}

/* A file is closed whatever the call says; nothing can go wrong with one that was only read. */
int close(int file) {
    static int (*real)(int);
    if (!real) real = dlsym(RTLD_NEXT, "close");
    if (!is_watched(file)) return real(file);
    int was = watched[file];
    watched[file] = NOT_OURS;
    if (was == READ) return real(file);
    long before = page->calls;
    int verdict = count("close"), kept = errno;
    int found = real(file);
    after(before);
    if (verdict == 1) {
        errno = kept;
        return -1;
    }
    return found;
}
