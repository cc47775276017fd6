#pragma once
#include <sys/prctl.h>
#include <sys/random.h>

// prctl is variadic, and Swift calls no variadic C function.
static inline int coffer_clear_dumpable(void) { return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); }
static inline int coffer_is_dumpable(void) { return prctl(PR_GET_DUMPABLE, 0, 0, 0, 0); }
