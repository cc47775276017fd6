internal import CP11Kit
internal import Crypto
internal import Secrets

/// A key pair of a token whose private key never leaves it, and what is agreed with it.
struct SealingKeyPair {
    let name: String
    let form: CopyForm

    /// A secret that only the token gives back, for this ticket.
    struct Made: ~Copyable {
        let ticket: [UInt8]
        let secret: SecretBytes
    }

    /// P-256 as an object identifier in DER.
    private static let curve: [UInt8] = [
        0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07,
    ]
    private static let modulusBits: CK_ULONG = 2_048
    private static let ticketBytes = 256
    private static let exponent: [UInt8] = [1, 0, 1]

    private var keyType: CK_ULONG { form == .ecdh ? CKK_EC : CKK_RSA }

    // MARK: Making

    /// Makes the key pair, and a secret sealed to it.
    ///
    /// - Throws: ``HardwareTokenError/unsupported`` where the token makes no such key, or one whose
    ///   private half can leave it.
    func make(
        _ session: TokenSession, _ random: any RandomSource
    ) throws(HardwareTokenError) -> Made {
        let isAble =
            form == .ecdh
            ? session.mechanism(CKM_EC_KEY_PAIR_GEN, does: CKF_GENERATE_KEY_PAIR)
                && session.mechanism(CKM_ECDH1_DERIVE, does: CKF_DERIVE)
            : session.mechanism(CKM_RSA_PKCS_KEY_PAIR_GEN, does: CKF_GENERATE_KEY_PAIR)
                && session.mechanism(CKM_RSA_PKCS_OAEP, does: CKF_DECRYPT)
        guard isAble else { throw .unsupported }
        let publicKey: CK_OBJECT_HANDLE
        do throws(HardwareTokenError) {
            publicKey = try generate(session)
        } catch {
            throw error.meansUnsupported ? .unsupported : error
        }
        let privateKey = try privateKey(session)
        let leaves = try session.value(of: CKA_EXTRACTABLE, privateKey, limit: 1)
        let isPrivate = try session.value(of: CKA_PRIVATE, privateKey, limit: 1)
        guard leaves.withBytes({ $0.first == 0 }), isPrivate.withBytes({ $0.first == 1 }) else {
            try session.destroy(privateKey)
            try session.destroy(publicKey)
            throw .unsupported
        }
        return form == .ecdh
            ? try agree(with: publicKey, session) : try encrypt(to: publicKey, session, random)
    }

    /// - Returns: the public key.
    private func generate(_ session: TokenSession) throws(HardwareTokenError) -> CK_OBJECT_HANDLE {
        let common = DataObject.attributes(of: name) + [.bytes(CKA_ID, Array(name.utf8))]
        let publicPart: [Attribute] =
            form == .ecdh
            ? [.bytes(CKA_EC_PARAMS, Self.curve)]
            : [
                .number(CKA_MODULUS_BITS, Self.modulusBits),
                .bytes(CKA_PUBLIC_EXPONENT, Self.exponent), .flag(CKA_ENCRYPT, true),
            ]
        let privatePart: [Attribute] = [
            .flag(CKA_PRIVATE, true), .flag(CKA_SENSITIVE, true), .flag(CKA_EXTRACTABLE, false),
            .flag(form == .ecdh ? CKA_DERIVE : CKA_DECRYPT, true),
        ]
        var mechanism = CK_MECHANISM(
            mechanism: form == .ecdh ? CKM_EC_KEY_PAIR_GEN : CKM_RSA_PKCS_KEY_PAIR_GEN,
            pParameter: nil, ulParameterLen: 0)
        var keys: (made: CK_OBJECT_HANDLE, kept: CK_OBJECT_HANDLE) = (0, 0)
        try withTemplate(common + publicPart) { made, madeCount throws(HardwareTokenError) in
            try withTemplate(common + privatePart) { kept, keptCount throws(HardwareTokenError) in
                try check(
                    session.functions.C_GenerateKeyPair(
                        session.handle, &mechanism, made, madeCount, kept, keptCount, &keys.made,
                        &keys.kept))
            }
        }
        return keys.made
    }

    private func agree(
        with key: CK_OBJECT_HANDLE, _ session: TokenSession
    ) throws(HardwareTokenError) -> Made {
        let encoded = try session.value(of: CKA_EC_POINT, key, limit: 256)
        guard let point = Self.point(encoded.withBytes { Array($0) }) else { throw .unsupported }
        do throws(CryptoError) {
            let agreed = try P256Agreement.agree(with: point)
            return Made(ticket: agreed.point, secret: agreed.secret.copy())
        } catch {
            throw .unsupported
        }
    }

    /// The standard has the point inside an octet string, and some modules give it bare.
    private static func point(_ bytes: [UInt8]) -> [UInt8]? {
        let count = P256Agreement.pointBytes
        if bytes.count == count + 2, bytes[0] == 0x04, bytes[1] == UInt8(count) {
            return Array(bytes.dropFirst(2))
        }
        return bytes.count == count ? bytes : nil
    }

    private func encrypt(
        to key: CK_OBJECT_HANDLE, _ session: TokenSession, _ random: any RandomSource
    ) throws(HardwareTokenError) -> Made {
        let secret = random.secret(KeyCopies.keyBytes)
        var ticket = [UInt8](repeating: 0, count: Self.ticketBytes)
        var count = CK_ULONG(ticket.count)
        try withPadding { mechanism throws(HardwareTokenError) in
            try check(session.functions.C_EncryptInit(session.handle, mechanism, key))
        }
        let value = secret.withBytes { bytes in
            session.functions.C_Encrypt(
                session.handle, Self.start(bytes), CK_ULONG(bytes.count), &ticket, &count)
        }
        try check(value)
        guard count == CK_ULONG(Self.ticketBytes) else { throw .unsupported }
        return Made(ticket: ticket, secret: secret)
    }

    // MARK: Using

    /// Has the token give back the secret of a ticket.
    func secret(
        for ticket: [UInt8], _ session: TokenSession
    ) throws(HardwareTokenError) -> SecretBytes {
        let key = try privateKey(session)
        return form == .ecdh
            ? try derive(key, ticket, session) : try decrypt(key, ticket, session)
    }

    private func privateKey(
        _ session: TokenSession
    ) throws(HardwareTokenError) -> CK_OBJECT_HANDLE {
        let found = try session.find(
            DataObject.attributes(of: name) + [
                .number(CKA_CLASS, CKO_PRIVATE_KEY), .number(CKA_KEY_TYPE, keyType),
            ])
        guard let key = found.first else { throw .noObject }
        guard found.count == 1 else { throw .mismatch }
        return key
    }

    private func derive(
        _ key: CK_OBJECT_HANDLE, _ ticket: [UInt8], _ session: TokenSession
    ) throws(HardwareTokenError) -> SecretBytes {
        let attributes: [Attribute] = [
            .number(CKA_CLASS, CKO_SECRET_KEY), .number(CKA_KEY_TYPE, CKK_GENERIC_SECRET),
            .flag(CKA_TOKEN, false), .flag(CKA_SENSITIVE, false), .flag(CKA_EXTRACTABLE, true),
            .number(CKA_VALUE_LEN, CK_ULONG(P256Agreement.secretBytes)),
        ]
        var ticket = ticket
        var derived: CK_OBJECT_HANDLE = 0
        try withTemplate(attributes) { template, count throws(HardwareTokenError) in
            let value = ticket.withUnsafeMutableBufferPointer { point in
                var parameters = CK_ECDH1_DERIVE_PARAMS(
                    kdf: CKD_NULL, ulSharedDataLen: 0, pSharedData: nil,
                    ulPublicDataLen: CK_ULONG(point.count), pPublicData: point.baseAddress)
                return withUnsafeMutableBytes(of: &parameters) { parameters in
                    var mechanism = CK_MECHANISM(
                        mechanism: CKM_ECDH1_DERIVE, pParameter: parameters.baseAddress,
                        ulParameterLen: CK_ULONG(parameters.count))
                    return session.functions.C_DeriveKey(
                        session.handle, &mechanism, key, template, count, &derived)
                }
            }
            try check(value)
        }
        defer { _ = session.functions.C_DestroyObject(session.handle, derived) }
        return try session.value(of: CKA_VALUE, derived, limit: P256Agreement.secretBytes)
    }

    private func decrypt(
        _ key: CK_OBJECT_HANDLE, _ ticket: [UInt8], _ session: TokenSession
    ) throws(HardwareTokenError) -> SecretBytes {
        try withPadding { mechanism throws(HardwareTokenError) in
            try check(session.functions.C_DecryptInit(session.handle, mechanism, key))
        }
        var ticket = ticket
        // A module may write as much as the modulus has before it knows the length.
        var memory = SecretBytes(count: Self.ticketBytes)
        let count = try memory.withMutableBytes { bytes throws(HardwareTokenError) in
            var count = CK_ULONG(bytes.count)
            try check(
                session.functions.C_Decrypt(
                    session.handle, &ticket, CK_ULONG(ticket.count),
                    Self.start(UnsafeRawBufferPointer(bytes)), &count))
            return Int(clamping: count)
        }
        guard count == KeyCopies.keyBytes else { throw .mismatch }
        return memory.slice(0..<count)
    }

    /// OAEP with SHA-1 and its mask: what every token with OAEP can; its security does not rest on
    /// collisions.
    private func withPadding(
        _ body: (UnsafeMutablePointer<CK_MECHANISM>) throws(HardwareTokenError) -> Void
    ) throws(HardwareTokenError) {
        let parameters = UnsafeMutablePointer<CK_RSA_PKCS_OAEP_PARAMS>.allocate(capacity: 1)
        defer { parameters.deallocate() }
        parameters.initialize(
            to: CK_RSA_PKCS_OAEP_PARAMS(
                hashAlg: CKM_SHA_1, mgf: CK_ULONG(CKG_MGF1_SHA1), source: CKZ_DATA_SPECIFIED,
                pSourceData: nil, ulSourceDataLen: 0))
        var mechanism = CK_MECHANISM(
            mechanism: CKM_RSA_PKCS_OAEP, pParameter: parameters,
            ulParameterLen: CK_ULONG(MemoryLayout<CK_RSA_PKCS_OAEP_PARAMS>.size))
        try body(&mechanism)
    }

    /// The standard's interface knows no const.
    private static func start(_ bytes: UnsafeRawBufferPointer) -> UnsafeMutablePointer<CK_BYTE>? {
        UnsafeMutablePointer(mutating: bytes.bindMemory(to: CK_BYTE.self).baseAddress)
    }
}
