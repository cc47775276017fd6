#pragma once
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <sys/syscall.h>
#include <unistd.h>

// renameat2 is declared for GNU sources alone, and Swift's view of the C library is none.
// Answers 0, or the error's number: EEXIST where the new name is taken.
static inline int coffer_rename_without_replacing(int folder, const char *from, const char *to) {
  return syscall(SYS_renameat2, folder, from, folder, to, RENAME_NOREPLACE) == 0 ? 0 : errno;
}

// Two folders of one file system change their names at one instant. Answers 0, or the error's number.
static inline int coffer_exchange_names(int folder, const char *one, const char *other) {
  return syscall(SYS_renameat2, folder, one, folder, other, RENAME_EXCHANGE) == 0 ? 0 : errno;
}
