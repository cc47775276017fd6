internal import AuthorityMessages
internal import Crypto
internal import Secrets

/// Why a wrapper does not give the access key.
enum PasscodeWrapperError: Error, Equatable {
    /// The key is not the one it was sealed under: the passcode is wrong.
    case wrongKey
    /// It has not the length of a wrapper, or a fresh one does not open to what was sealed.
    case damaged
}

/// The access key under a passcode: AES-256-GCM, bound to the credential and the passcode's kind.
enum PasscodeWrapper {
    static let wrappedBytes = CredentialRecord.accessKeyBytes + AESGCM.overheadBytes
    /// How many PBKDF2 iterations a wrapper may have; any other number is damage, and no attempt.
    static let iterationsAllowed = 600_000...3_000_000
    /// How long the key that wraps is, in bytes.
    static let keyBytes = 32

    /// Seals a plaintext under a key with a nonce and associated data.
    typealias Cipher = (
        borrowing SecretBytes, borrowing SecretBytes, [UInt8], [UInt8]
    ) throws(CryptoError) -> [UInt8]

    /// Wraps the access key, and opens the result again before anyone relies on it.
    ///
    /// - Parameter cipher: what seals; another one only to show what comes of one that errs.
    static func seal(
        _ accessKey: borrowing SecretBytes, under key: borrowing SecretBytes, nonce: [UInt8],
        credential: String, kind: PasscodeKind,
        by cipher: Cipher = AESGCM.seal(_:key:nonce:aad:)
    ) throws(PasscodeWrapperError) -> [UInt8] {
        do throws(CryptoError) {
            let data = associatedData(credential, kind)
            let wrapped = try cipher(accessKey, key, nonce, data)
            let opened = try AESGCM.open(wrapped, key: key, aad: data)
            guard wrapped.count == wrappedBytes, opened.isEqual(to: accessKey) else {
                throw .failed
            }
            return wrapped
        } catch {
            throw .damaged
        }
    }

    static func open(
        _ wrapped: [UInt8], under key: borrowing SecretBytes, credential: String,
        kind: PasscodeKind
    ) throws(PasscodeWrapperError) -> SecretBytes {
        guard wrapped.count == wrappedBytes else { throw .damaged }
        do throws(CryptoError) {
            return try AESGCM.open(wrapped, key: key, aad: associatedData(credential, kind))
        } catch {
            throw error == .authenticationFailed ? .wrongKey : .damaged
        }
    }

    private static func associatedData(_ credential: String, _ kind: PasscodeKind) -> [UInt8] {
        Array("credential.v1:\(credential):\(kind.text)".utf8)
    }
}
