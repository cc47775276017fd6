#pragma once
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <openssl/core_names.h>
#include <openssl/params.h>
#include <openssl/bn.h>
#include <openssl/crypto.h>

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
