#pragma once
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <openssl/core_names.h>
#include <openssl/params.h>
#include <openssl/bn.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/pkcs12.h>
#include <openssl/x509.h>

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
