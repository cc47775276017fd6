#pragma once
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <systemd/sd-bus.h>
