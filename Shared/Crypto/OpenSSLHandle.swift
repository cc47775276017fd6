internal import COpenSSL

/// One use of a cipher.
///
/// OpenSSL wipes the key schedule when it ends.
struct CipherContext: ~Copyable {
    let pointer: OpaquePointer

    init() throws(CryptoError) {
        guard let pointer = EVP_CIPHER_CTX_new() else { throw .failed }
        self.pointer = pointer
    }

    deinit { EVP_CIPHER_CTX_free(pointer) }
}

/// One use of a message authentication code.
///
/// OpenSSL wipes its state when it ends.
struct MACContext: ~Copyable {
    let pointer: OpaquePointer

    init(_ name: String) throws(CryptoError) {
        let method = EVP_MAC_fetch(nil, name, nil)
        defer { EVP_MAC_free(method) }
        guard let pointer = EVP_MAC_CTX_new(method) else { throw .failed }
        self.pointer = pointer
    }

    deinit { EVP_MAC_CTX_free(pointer) }
}

/// One use of a key derivation function.
///
/// OpenSSL wipes its inputs when it ends.
struct KDFContext: ~Copyable {
    let pointer: OpaquePointer

    init(_ name: String) throws(CryptoError) {
        let method = EVP_KDF_fetch(nil, name, nil)
        defer { EVP_KDF_free(method) }
        guard let pointer = EVP_KDF_CTX_new(method) else { throw .failed }
        self.pointer = pointer
    }

    deinit { EVP_KDF_CTX_free(pointer) }
}

/// An asymmetric key inside OpenSSL, which wipes it when it ends.
struct KeyHandle: ~Copyable {
    let pointer: OpaquePointer

    init(taking pointer: OpaquePointer?) throws(CryptoError) {
        guard let pointer else { throw .failed }
        self.pointer = pointer
    }

    deinit { EVP_PKEY_free(pointer) }
}

/// One key agreement.
struct AgreementContext: ~Copyable {
    let pointer: OpaquePointer

    init(_ key: borrowing KeyHandle) throws(CryptoError) {
        guard let pointer = EVP_PKEY_CTX_new(key.pointer, nil) else { throw .failed }
        self.pointer = pointer
    }

    deinit { EVP_PKEY_CTX_free(pointer) }
}
