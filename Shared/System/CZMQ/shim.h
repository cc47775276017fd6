#pragma once
#include <zmq.h>

// What is waited for beside sockets.
#include <sys/eventfd.h>
#include <sys/timerfd.h>

// How large a block is that C++ gives back.
#include <malloc.h>

// What takes the C library's place in taking connections. Swift calls no variadic C function.
#include <sys/syscall.h>
#include <unistd.h>
static inline int coffer_accept(int listener, void *address, void *length, int flags) {
    return (int)syscall(SYS_accept4, listener, address, length, flags);
}
