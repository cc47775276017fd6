#pragma once
#include <zmq.h>

// What is waited for beside sockets.
#include <sys/eventfd.h>
#include <sys/timerfd.h>

// How large a block is that C++ gives back.
#include <malloc.h>
