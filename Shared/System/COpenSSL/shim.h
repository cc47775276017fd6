#pragma once
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <openssl/core_names.h>
#include <openssl/params.h>
#include <openssl/bn.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/pkcs12.h>
#include <openssl/sha.h>
#include <openssl/x509.h>
#include <string.h>

// OpenSSL reads names and values through the pointers of a parameter list, so a list is built where
// all of them are alive.

static inline int coffer_mac_start(EVP_MAC_CTX *context, const char *digest,
                                   const unsigned char *key, size_t key_length) {
  const OSSL_PARAM parameters[] = {
      OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, (char *)digest, 0),
      OSSL_PARAM_construct_end(),
  };
  return EVP_MAC_init(context, key, key_length, parameters);
}

static inline int coffer_hkdf_sha256(EVP_KDF_CTX *context, const void *key, size_t key_length,
                                     const void *salt, size_t salt_length, const void *info,
                                     size_t info_length, unsigned char *result,
                                     size_t result_length) {
  const OSSL_PARAM parameters[] = {
      OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, (char *)"SHA256", 0),
      OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_KEY, (void *)key, key_length),
      OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_SALT, (void *)salt, salt_length),
      OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_INFO, (void *)info, info_length),
      OSSL_PARAM_construct_end(),
  };
  return EVP_KDF_derive(context, result, result_length, parameters);
}

// PBKDF2-HMAC-SHA512 (RFC 8018 §5.2). OpenSSL's own takes a context apart and puts it together again
// for every round, which costs as much as the hashing. Here a round is two blocks of SHA-512, and
// whatever is secret is in the caller's memory. OpenSSL 3 calls the block function deprecated, and
// has no other way to it.
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wdeprecated-declarations"

struct coffer_pbkdf2_sha512 {
  SHA512_CTX inner, outer;   // after the first block of either, which is the key's
  SHA512_CTX running;
  unsigned char block[128];  // the second block of either: a digest, and its padding
  uint64_t sum[8];
};

static inline void coffer_store_words(const uint64_t words[8], unsigned char *bytes) {
  for (int i = 0; i < 8; i++) {
    const uint64_t word = __builtin_bswap64(words[i]);
    memcpy(bytes + 8 * i, &word, sizeof word);
  }
}

static inline void coffer_pbkdf2_sha512_key(struct coffer_pbkdf2_sha512 *state,
                                            const void *password, size_t length) {
  memset(state->block, 0, sizeof state->block);
  if (length > sizeof state->block) {
    SHA512_Init(&state->running);
    SHA512_Update(&state->running, password, length);
    SHA512_Final(state->block, &state->running);
  } else if (length > 0) {
    memcpy(state->block, password, length);
  }
  for (size_t i = 0; i < sizeof state->block; i++) state->block[i] ^= 0x36;
  SHA512_Init(&state->inner);
  SHA512_Update(&state->inner, state->block, sizeof state->block);
  for (size_t i = 0; i < sizeof state->block; i++) state->block[i] ^= 0x36 ^ 0x5c;
  SHA512_Init(&state->outer);
  SHA512_Update(&state->outer, state->block, sizeof state->block);
}

// The HMAC of what stands in the block, back into the block and added to the sum.
static inline void coffer_pbkdf2_sha512_round(struct coffer_pbkdf2_sha512 *state) {
  memcpy(state->running.h, state->inner.h, sizeof state->running.h);
  SHA512_Transform(&state->running, state->block);
  coffer_store_words((const uint64_t *)state->running.h, state->block);
  memcpy(state->running.h, state->outer.h, sizeof state->running.h);
  SHA512_Transform(&state->running, state->block);
  coffer_store_words((const uint64_t *)state->running.h, state->block);
  for (int i = 0; i < 8; i++) state->sum[i] ^= state->running.h[i];
}

// At least one round and one byte of result. Built on a machine whose words begin with the least
// significant byte.
static inline void coffer_pbkdf2_hmac_sha512(struct coffer_pbkdf2_sha512 *state,
                                             const void *password, size_t password_length,
                                             const void *salt, size_t salt_length, uint32_t rounds,
                                             unsigned char *result, size_t length) {
  coffer_pbkdf2_sha512_key(state, password, password_length);
  for (uint32_t number = 1; length > 0; number++) {
    const unsigned char suffix[4] = {(unsigned char)(number >> 24), (unsigned char)(number >> 16),
                                     (unsigned char)(number >> 8), (unsigned char)number};
    state->running = state->inner;
    SHA512_Update(&state->running, salt, salt_length);
    SHA512_Update(&state->running, suffix, sizeof suffix);
    SHA512_Final(state->block, &state->running);
    state->running = state->outer;
    SHA512_Update(&state->running, state->block, SHA512_DIGEST_LENGTH);
    SHA512_Final(state->block, &state->running);
    memcpy(state->sum, state->running.h, sizeof state->sum);
    // A digest behind the key's block: 1,536 bits in all.
    memset(state->block + SHA512_DIGEST_LENGTH, 0, SHA512_DIGEST_LENGTH);
    state->block[SHA512_DIGEST_LENGTH] = 0x80;
    state->block[126] = 0x06;
    for (uint32_t round = 1; round < rounds; round++) coffer_pbkdf2_sha512_round(state);
    coffer_store_words(state->sum, state->block);
    const size_t count = length < SHA512_DIGEST_LENGTH ? length : SHA512_DIGEST_LENGTH;
    memcpy(result, state->block, count);
    result += count;
    length -= count;
  }
}

#pragma clang diagnostic pop

// Private keys under a passphrase: PBES2 (RFC 8018 §6.2). Its parameters are ASN.1 structures whose
// members are C fields.

// The work that a file's own parameters ask for, in rounds of PBKDF2 or blocks of scrypt; negative
// for another scheme.
static inline int64_t coffer_pbes2_cost(const X509_SIG *document, int *is_scrypt) {
  const X509_ALGOR *scheme = NULL;
  X509_SIG_get0(document, &scheme, NULL);
  if (OBJ_obj2nid(scheme->algorithm) != NID_pbes2) return -1;
  PBE2PARAM *both = (PBE2PARAM *)ASN1_TYPE_unpack_sequence(ASN1_ITEM_rptr(PBE2PARAM),
                                                           scheme->parameter);
  if (both == NULL || both->keyfunc == NULL) {
    PBE2PARAM_free(both);
    return -1;
  }
  int64_t cost = -1;
  const int function = OBJ_obj2nid(both->keyfunc->algorithm);
  if (function == NID_id_pbkdf2) {
    PBKDF2PARAM *rounds = (PBKDF2PARAM *)ASN1_TYPE_unpack_sequence(ASN1_ITEM_rptr(PBKDF2PARAM),
                                                                   both->keyfunc->parameter);
    *is_scrypt = 0;
    if (rounds == NULL || !ASN1_INTEGER_get_int64(&cost, rounds->iter)) cost = -1;
    PBKDF2PARAM_free(rounds);
  } else if (function == NID_id_scrypt) {
    SCRYPT_PARAMS *blocks = (SCRYPT_PARAMS *)ASN1_TYPE_unpack_sequence(
        ASN1_ITEM_rptr(SCRYPT_PARAMS), both->keyfunc->parameter);
    int64_t n = 0, r = 0, p = 0;
    *is_scrypt = 1;
    if (blocks != NULL && ASN1_INTEGER_get_int64(&n, blocks->costParameter) &&
        ASN1_INTEGER_get_int64(&r, blocks->blockSize) &&
        ASN1_INTEGER_get_int64(&p, blocks->parallelizationParameter) && n > 0 && r > 0 && p > 0 &&
        n <= INT32_MAX && r <= 1024 && p <= 1024)
      cost = n * r * p;
    SCRYPT_PARAMS_free(blocks);
  }
  PBE2PARAM_free(both);
  return cost;
}

// Whether the last failure of a decryption is one that a wrong passphrase causes: the padding, or
// what is in it.
static inline int coffer_passphrase_failed(void) {
  const unsigned long error = ERR_peek_last_error();
  return ERR_GET_LIB(error) == ERR_LIB_PKCS12 &&
         (ERR_GET_REASON(error) == PKCS12_R_PKCS12_CIPHERFINAL_ERROR ||
          ERR_GET_REASON(error) == PKCS12_R_DECODE_ERROR);
}
