#pragma once
#include <nettle/pbkdf2.h>
#include <nettle/hmac.h>
