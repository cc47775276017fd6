#pragma once
#include <nettle/hmac.h>
#include <nettle/pbkdf2.h>
#include <string.h>

// Nettle's one-call form keeps the keyed MAC state on the stack and leaves it there. Here the state
// is in the caller's memory.
static inline void coffer_pbkdf2_hmac_sha256(struct hmac_sha256_ctx *state, size_t key_length,
                                             const uint8_t *key, unsigned iterations,
                                             size_t salt_length, const uint8_t *salt,
                                             size_t length, uint8_t *result) {
  hmac_sha256_set_key(state, key_length, key);
  PBKDF2(state, hmac_sha256_update, hmac_sha256_digest, SHA256_DIGEST_SIZE, iterations,
         salt_length, salt, length, result);
}

// Overwrites what a call that just returned left on the stack below its caller.
__attribute__((noinline)) static void coffer_overwrite_stack(void) {
  unsigned char room[32768];
  explicit_bzero(room, sizeof room);
}
