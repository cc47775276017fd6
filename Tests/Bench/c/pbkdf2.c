// The passcode's key derivation by OpenSSL: pbkdf2 ITERATIONS prints the seconds that it took.
#include <openssl/evp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double seconds(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

int main(int count, char **words) {
  uint8_t password[32], salt[16], key[32];
  if (count != 2) return 2;
  memset(password, 1, sizeof password);
  memset(salt, 2, sizeof salt);
  double begun = seconds();
  int done = PKCS5_PBKDF2_HMAC((const char *)password, sizeof password, salt, sizeof salt,
                               atoi(words[1]), EVP_sha256(), sizeof key, key);
  printf("%.6f\n", seconds() - begun);
  return done != 1;
}
