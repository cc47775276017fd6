internal import AuthorityMessages
internal import Secrets
internal import Wire

/// Why a stored document is not a credential record.
enum CredentialRecordError: Error, Equatable {
    /// Not the JSON of a record, or one that contradicts itself.
    case malformed
    /// A record of another version than 1.
    case unsupportedVersion
}

/// An owner's credential: version 1 of the passcode document's record.
///
/// The access key is in it twice at the most: wrapped under the passcode, and in clear while
/// protection is off.
struct CredentialRecord: Sendable {
    static let version = 1
    /// How long the access key is, in bytes.
    static let accessKeyBytes = 32
    /// The highest revision: what every reader of JSON reads as it stands.
    static let revisionLimit: UInt64 = 1 << 53

    /// What a passcode leaves in the record: nothing of itself, but what tells a right one.
    struct Passcode: Equatable, Sendable {
        static let saltBytes = 16

        var kind: PasscodeKind
        /// 16 bytes.
        var salt: [UInt8]
        /// Of PBKDF2; the bounds are checked where a passcode is tried.
        var iterations: Int
        /// The access key under the passcode's key: nonce, ciphertext and tag, 60 bytes.
        var wrappedKey: [UInt8]
    }

    /// Not empty; a new record gets an upper-case UUID.
    var id: String
    /// Counts changes, from one to ``revisionLimit``.
    var revision: UInt64
    /// Whether the record outranks what an older layout says of the passcode.
    var managedPasscode: Bool
    /// Nil while no passcode is set.
    var passcode: Passcode?
    /// The access key in clear, 32 bytes: there exactly while protection is off.
    var unprotectedKey: SharedSecret?
    /// Whether the access key needs the passcode.
    var protection: Bool
    var biometricAccount: String?
    var pendingBiometricAccount: String?
    var biometricCleanup: [String]

    /// A new owner's record, without a passcode.
    init(newWith id: String, accessKey: SharedSecret) {
        self.id = id
        revision = 1
        managedPasscode = true
        unprotectedKey = accessKey
        protection = false
        biometricCleanup = []
    }

    /// Takes away the ways of a biometric sensor, as everything that takes protection away does.
    ///
    /// Their items are another system's; their names stay until that one has deleted them.
    mutating func retireBiometrics() {
        let retired = [biometricAccount, pendingBiometricAccount].compactMap { $0 }
        biometricCleanup += retired.filter { !biometricCleanup.contains($0) }
        biometricAccount = nil
        pendingBiometricAccount = nil
    }

    /// The revision that the next change leaves behind.
    ///
    /// A record that was made here or imported never comes to the end of the numbers. One that was
    /// put there by hand stays at it, and every change ends all sessions besides.
    var nextRevision: UInt64 { min(revision + 1, Self.revisionLimit) }
}

// MARK: The document

extension CredentialRecord {
    /// Reads a record.
    ///
    /// Members that version 1 does not define are ignored and an explicit null is an absent member;
    /// repeated members are refused.
    init(decoding document: borrowing SecretBytes) throws(CredentialRecordError) {
        let object: JSONObject
        let version: Int
        do throws(JSONError) {
            object = try JSONDocument(document).object()
            version = try object.integer("version")
        } catch {
            throw .malformed
        }
        guard version == Self.version else { throw .unsupportedVersion }
        do throws(JSONError) {
            try self.init(members: object)
        } catch {
            throw .malformed
        }
        guard isConsistent else { throw .malformed }
    }

    private init(members object: JSONObject) throws(JSONError) {
        id = try object.string("id")
        revision = try object.uint64("revision")
        managedPasscode = try object.bool("managedPasscode")
        passcode = try Self.passcode(of: object)
        if let key = try object.optionalSecretBase64("unprotectedKey") {
            unprotectedKey = SharedSecret(key)
        }
        protection = try object.bool("walletProtection")
        biometricAccount = try object.optionalString("biometricAccount")
        pendingBiometricAccount = try object.optionalString("pendingBiometricAccount")
        biometricCleanup = try object.strings("biometricCleanup")
    }

    /// All of the members are read even without a kind, so that none of a wrong type passes.
    private static func passcode(of object: JSONObject) throws(JSONError) -> Passcode? {
        let kind = try object.optionalIdentifier("kind", as: PasscodeKind.self)
        let salt = try object.optionalBase64("salt")
        let iterations = try object.optionalInteger("iterations")
        let wrappedKey = try object.optionalBase64("wrappedKey")
        guard let kind else { return nil }
        guard let salt else { throw .missing("salt") }
        guard let iterations else { throw .missing("iterations") }
        guard let wrappedKey else { throw .missing("wrappedKey") }
        return Passcode(kind: kind, salt: salt, iterations: iterations, wrappedKey: wrappedKey)
    }

    /// The rules between members that every loaded record keeps.
    private var isConsistent: Bool {
        if let passcode {
            guard passcode.salt.count == Passcode.saltBytes,
                passcode.wrappedKey.count == PasscodeWrapper.wrappedBytes
            else { return false }
        }
        guard !id.isEmpty, 1...Self.revisionLimit ~= revision else { return false }
        if protection { return passcode != nil && unprotectedKey == nil }
        return unprotectedKey?.bytes.count == Self.accessKeyBytes
    }

    /// The record's document.
    func encode() -> SecretBytes {
        var writer = JSONWriter()
        writer.integer("version", Self.version)
        writer.string("id", id)
        writer.uint64("revision", revision)
        writer.bool("managedPasscode", managedPasscode)
        if let passcode {
            writer.identifier("kind", passcode.kind)
            writer.base64("salt", passcode.salt)
            writer.integer("iterations", passcode.iterations)
            writer.base64("wrappedKey", passcode.wrappedKey)
        }
        if let unprotectedKey { writer.secretBase64("unprotectedKey", unprotectedKey.bytes) }
        writer.bool("walletProtection", protection)
        writer.optionalString("biometricAccount", biometricAccount)
        writer.optionalString("pendingBiometricAccount", pendingBiometricAccount)
        writer.strings("biometricCleanup", biometricCleanup)
        return writer.finishSecret()
    }
}
