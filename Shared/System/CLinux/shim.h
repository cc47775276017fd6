#pragma once
#include <signal.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

// prctl is variadic, and Swift calls no variadic C function.
static inline int coffer_clear_dumpable(void) { return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); }
static inline int coffer_die_with_parent(void) { return prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0); }
// glibc declares its wrapper for programs alone that ask for its extensions.
static inline int coffer_close_from(unsigned int first) {
  return (int)syscall(SYS_close_range, first, ~0U, 0);
}
static inline int coffer_is_dumpable(void) { return prctl(PR_GET_DUMPABLE, 0, 0, 0, 0); }
