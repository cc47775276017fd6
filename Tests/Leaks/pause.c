// Stops a program when it ends, so that its memory can be looked at: its own clearing up is done by
// then. Loaded by LD_PRELOAD.

#include <signal.h>

__attribute__((destructor)) static void stop(void) { raise(SIGSTOP); }
