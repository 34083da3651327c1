/*
 * Lets storage fail: loaded with LD_PRELOAD. The file FAULT_CONTROL contains "ID OPERATION FAULT SKIP":
 * sync or write; EIO, ENOSPC, or torn; and how many calls pass first. Without the file, nothing fails.
 * Only files whose path contains FAULT_PATH are affected. "torn" writes half and kills the process.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

static long current_id = -1;
static long passed = 0;

static int is_affected(int fd) {
  const char *part = getenv("FAULT_PATH");
  char link[64], path[4096];
  if (part == NULL) return 0;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0) return 0;
  path[length] = 0;
  const char *found = strstr(path, part);
  /* The shared memory of the log is not on the disk as far as SQLite is concerned. */
  return found != NULL && strstr(path, "-shm") == NULL;
}

/* Returns 0, an error number, or -1 for a torn write. */
static int find_fault(int fd, const char *operation) {
  const char *control = getenv("FAULT_CONTROL");
  char text[128], wanted[16], fault[16];
  long id, skip;
  if (control == NULL) return 0;
  int file = open(control, O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  ssize_t length = read(file, text, sizeof text - 1);
  close(file);
  if (length <= 0) return 0;
  text[length] = 0;
  if (sscanf(text, "%ld %15s %15s %ld", &id, wanted, fault, &skip) != 4) return 0;
  if (strcmp(wanted, operation) != 0 || !is_affected(fd)) return 0;
  if (__atomic_exchange_n(&current_id, id, __ATOMIC_SEQ_CST) != id)
    __atomic_store_n(&passed, 0, __ATOMIC_SEQ_CST);
  if (__atomic_fetch_add(&passed, 1, __ATOMIC_SEQ_CST) < skip) return 0;
  if (strcmp(fault, "torn") == 0) return -1;
  return strcmp(fault, "ENOSPC") == 0 ? ENOSPC : EIO;
}

#define REAL(type, name, ...) \
  static type (*real)(__VA_ARGS__); \
  if (real == NULL) real = (type (*)(__VA_ARGS__))dlsym(RTLD_NEXT, name)

#define SYNC(name) \
  int name(int fd) { \
    REAL(int, #name, int); \
    int fault = find_fault(fd, "sync"); \
    if (fault == 0) return real(fd); \
    if (fault < 0) kill(getpid(), SIGKILL); \
    errno = fault; \
    return -1; \
  }

#define PWRITE(name) \
  ssize_t name(int fd, const void *bytes, size_t count, off64_t offset) { \
    REAL(ssize_t, #name, int, const void *, size_t, off64_t); \
    int fault = find_fault(fd, "write"); \
    if (fault == 0) return real(fd, bytes, count, offset); \
    if (fault < 0) { \
      real(fd, bytes, count / 2, offset); \
      kill(getpid(), SIGKILL); \
    } \
    errno = fault; \
    return -1; \
  }

SYNC(fsync)
SYNC(fdatasync)
PWRITE(pwrite)
PWRITE(pwrite64)

ssize_t write(int fd, const void *bytes, size_t count) {
  REAL(ssize_t, "write", int, const void *, size_t);
  int fault = find_fault(fd, "write");
  if (fault == 0) return real(fd, bytes, count);
  if (fault < 0) {
    real(fd, bytes, count / 2);
    kill(getpid(), SIGKILL);
  }
  errno = fault;
  return -1;
}
