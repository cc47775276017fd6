internal import COpenSSL
public import Secrets

/// A file with an Ed25519 private key: PKCS #8 in PEM (RFC 8410 §7), in clear or under a
/// passphrase (PBES2, RFC 8018 §6.2), as OpenSSL and others write it.
///
/// Neither the key nor what it is read from leaves secret memory but into OpenSSL, which wipes what
/// it makes of them.
public struct Ed25519KeyFile: ~Copyable {
    /// No file is longer.
    public static let byteCountMax = PEM.byteCountMax

    /// Whether a passphrase protects the key.
    public let isProtected: Bool
    private let der: SecretBytes

    /// Throws ``KeyFileError/damaged`` for what is no such file.
    public init(_ text: borrowing SecretBytes) throws(KeyFileError) {
        guard let document = PEM.read(text) else { throw .damaged }
        switch document.label {
        case Label.protected: isProtected = true
        case Label.clear: isProtected = false
        default: throw .damaged
        }
        der = document.der.copy()
    }

    /// The 32-byte seed (RFC 8032) of the key; the passphrase plays no part where none protects it.
    ///
    /// Throws ``KeyFileError/wrongPassphrase``, ``KeyFileError/damaged``, or
    /// ``KeyFileError/otherAlgorithm`` for keys and protections of other kinds.
    public borrowing func seed(
        passphrase: borrowing SecretBytes
    ) throws(KeyFileError) -> SecretBytes {
        guard isProtected else { return try PrivateKeyInfo(der).seed() }
        defer { ERR_clear_error() }
        let sealed = try SealedKeyInfo(der)
        try sealed.checkCost()
        return try sealed.open(passphrase).seed()
    }

    /// The file of a key under a passphrase of 1 to 4,096 bytes: AES-256-CBC with scrypt.
    ///
    /// Throws ``KeyFileError/invalid`` for other lengths.
    public static func protected(
        seed: borrowing SecretBytes, passphrase: borrowing SecretBytes, random: some RandomSource
    ) throws(KeyFileError) -> [UInt8] {
        guard seed.count == Ed25519.seedBytes, 1...4_096 ~= passphrase.count else { throw .invalid }
        let head = Layout.privateHead
        let der = SecretBytes(count: head.count + seed.count) { target in
            target.copyBytes(from: head)
            seed.withBytes { seed in
                UnsafeMutableRawBufferPointer(rebasing: target[head.count...])
                    .copyMemory(from: seed)
            }
        }
        defer { ERR_clear_error() }
        let sealed = try PrivateKeyInfo(der).seal(passphrase, random: random)
        return PEM.text(try sealed.der(), label: Label.protected)
    }

    /// The file of a public key: SubjectPublicKeyInfo in PEM (RFC 8410 §4).
    ///
    /// Throws ``KeyFileError/invalid`` unless the key has 32 bytes.
    public static func text(publicKey: [UInt8]) throws(KeyFileError) -> [UInt8] {
        guard publicKey.count == Ed25519.publicKeyBytes else { throw .invalid }
        return PEM.text(Layout.publicHead + publicKey, label: Label.publicKey)
    }

    /// The 32 bytes of a public key's file.
    ///
    /// Throws ``KeyFileError/damaged`` for what is no such file, and
    /// ``KeyFileError/otherAlgorithm`` for a public key of another kind.
    public static func publicKey(_ text: [UInt8]) throws(KeyFileError) -> [UInt8] {
        guard let document = PEM.read(SecretBytes(copying: text)), document.label == Label.publicKey
        else { throw .damaged }
        let der = document.der.withBytes { Array($0) }
        // Such a key has this one form.
        guard der.count == Layout.publicHead.count + Ed25519.publicKeyBytes,
            der.starts(with: Layout.publicHead)
        else { throw .otherAlgorithm }
        return Array(der[Layout.publicHead.count...])
    }

    private enum Label {
        static let clear = "PRIVATE KEY"
        static let protected = "ENCRYPTED PRIVATE KEY"
        static let publicKey = "PUBLIC KEY"
    }

    private enum Layout {
        /// A PrivateKeyInfo of version 0 up to the seed.
        static let privateHead: [UInt8] = [
            0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x04, 0x22,
            0x04, 0x20,
        ]
        /// A SubjectPublicKeyInfo up to the key.
        static let publicHead: [UInt8] = [
            0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00,
        ]
    }
}

/// Why a key file gives no key, or a key no file.
public enum KeyFileError: Error, Equatable, Sendable {
    /// It is no key file, or was changed.
    case damaged
    /// The passphrase is another one; or what it protects was changed, which looks the same.
    case wrongPassphrase
    /// It is of another kind than Ed25519, or protected in another way than PBES2 within bounds.
    case otherAlgorithm
    /// A key or a passphrase does not have a length that can be written.
    case invalid
    /// The cryptographic library failed.
    case failed
}

/// A private key in clear inside OpenSSL, which wipes it when it ends.
private struct PrivateKeyInfo: ~Copyable {
    let pointer: OpaquePointer

    init(taking pointer: OpaquePointer) { self.pointer = pointer }

    init(_ der: borrowing SecretBytes) throws(KeyFileError) {
        defer { ERR_clear_error() }
        let read = der.withBytes { der -> OpaquePointer? in
            var next = der.octets
            guard let read = d2i_PKCS8_PRIV_KEY_INFO(nil, &next, der.count) else { return nil }
            guard next == der.octets.map({ $0 + der.count }) else {
                PKCS8_PRIV_KEY_INFO_free(read)
                return nil
            }
            return read
        }
        guard let read else { throw .damaged }
        pointer = read
    }

    deinit { PKCS8_PRIV_KEY_INFO_free(pointer) }

    /// The content of an octet string within an octet string (RFC 8410 §7).
    borrowing func seed() throws(KeyFileError) -> SecretBytes {
        var algorithm: OpaquePointer?
        var octets: UnsafePointer<UInt8>?
        var count: Int32 = 0
        guard PKCS8_pkey_get0(&algorithm, &octets, &count, nil, pointer) == 1,
            OBJ_obj2nid(algorithm) == NID_ED25519
        else { throw .otherAlgorithm }
        let content = UnsafeRawBufferPointer(start: octets, count: Int(count))
        guard content.count == 2 + Ed25519.seedBytes, content[0] == 0x04,
            Int(content[1]) == Ed25519.seedBytes
        else { throw .damaged }
        return SecretBytes(copying: UnsafeRawBufferPointer(rebasing: content[2...]))
    }

    borrowing func seal(
        _ passphrase: borrowing SecretBytes, random: some RandomSource
    ) throws(KeyFileError) -> SealedKeyInfo {
        let salt = random.bytes(16)
        var vector = random.bytes(AESCBC.blockBytes)
        let scheme = PKCS5_pbe2_set_scrypt(
            EVP_aes_256_cbc(), salt, Int32(salt.count), &vector, PassphraseCost.n, PassphraseCost.r,
            PassphraseCost.p)
        guard let scheme else { throw .failed }
        let sealed = passphrase.withBytes { passphrase in
            PKCS8_set0_pbe(
                passphrase.baseAddress?.assumingMemoryBound(to: CChar.self),
                Int32(passphrase.count), pointer, scheme)
        }
        guard let sealed else {
            X509_ALGOR_free(scheme)
            throw .failed
        }
        return SealedKeyInfo(taking: sealed)
    }
}

/// A private key under a passphrase.
private struct SealedKeyInfo: ~Copyable {
    let pointer: OpaquePointer

    init(taking pointer: OpaquePointer) { self.pointer = pointer }

    init(_ der: borrowing SecretBytes) throws(KeyFileError) {
        let read = der.withBytes { der -> OpaquePointer? in
            var next = der.octets
            guard let read = d2i_X509_SIG(nil, &next, der.count) else { return nil }
            guard next == der.octets.map({ $0 + der.count }) else {
                X509_SIG_free(read)
                return nil
            }
            return read
        }
        guard let read else { throw .damaged }
        pointer = read
    }

    deinit { X509_SIG_free(pointer) }

    /// Throws where the file's parameters would keep the machine busy for minutes.
    borrowing func checkCost() throws(KeyFileError) {
        var isScrypt: Int32 = 0
        let cost = coffer_pbes2_cost(pointer, &isScrypt)
        guard cost > 0,
            cost <= (isScrypt == 1 ? PassphraseCost.blocksMax : PassphraseCost.roundsMax)
        else {
            throw .otherAlgorithm
        }
    }

    borrowing func open(
        _ passphrase: borrowing SecretBytes
    ) throws(KeyFileError) -> PrivateKeyInfo {
        let opened = passphrase.withBytes { passphrase in
            PKCS8_decrypt(
                pointer, passphrase.baseAddress?.assumingMemoryBound(to: CChar.self),
                Int32(clamping: passphrase.count))
        }
        guard let opened else {
            throw coffer_passphrase_failed() == 1 ? .wrongPassphrase : .otherAlgorithm
        }
        return PrivateKeyInfo(taking: opened)
    }

    borrowing func der() throws(KeyFileError) -> [UInt8] {
        let count = i2d_X509_SIG(pointer, nil)
        guard count > 0 else { throw .failed }
        var bytes = [UInt8](repeating: 0, count: Int(count))
        let written = bytes.withUnsafeMutableBytes { target in
            var next = target.octets
            return i2d_X509_SIG(pointer, &next)
        }
        guard written == count else { throw .failed }
        return bytes
    }
}

/// What a key's passphrase is worth.
private enum PassphraseCost {
    /// Half a second and 16 MB; OpenSSL 3 refuses to read a file that takes 32 MB.
    static let n: UInt64 = 16_384
    static let r: UInt64 = 8
    static let p: UInt64 = 8
    /// The most that is read of others: some seconds.
    static let blocksMax: Int64 = 16_384 * 8 * 64
    static let roundsMax: Int64 = 20_000_000
}
