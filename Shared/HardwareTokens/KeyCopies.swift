internal import CP11Kit
public import Secrets

/// How a copy of a key lies with a token.
public enum CopyForm: String, CaseIterable, Sendable {
    /// A private data object on the token.
    case data
    /// Outside, under a key pair of the token that does ECDH.
    case ecdh
    /// Outside, under a key pair of the token that decrypts RSA-OAEP.
    case rsa
}

/// A copy that a token keeps, or keeps the key of.
public struct StoredCopy: Equatable, Sendable {
    /// The URI of exactly that token.
    public let token: String
    public let form: CopyForm
    /// What is kept outside; empty for a data object.
    public let sealed: [UInt8]
}

/// Copies of a 32-byte key that nobody gets without the token and its PIN.
public struct KeyCopies {
    static let keyBytes = 32

    private let modules: TokenModules
    private let pin: SharedSecret?
    private let random: any RandomSource

    public init(modules: TokenModules, pin: SharedSecret?, random: any RandomSource) {
        self.modules = modules
        self.pin = pin
        self.random = random
    }

    /// Puts a copy on a token, or makes a key pair on it and seals the copy to that.
    ///
    /// - Parameters:
    ///   - name: of what is made on the token; nothing else may have it.
    ///   - form: the first that the token takes where nil.
    ///   - binding: what the copy is of.
    public func store(
        _ key: SharedSecret, name: String, on uri: TokenURI, form: CopyForm?, binding: [UInt8]
    ) throws(HardwareTokenError) -> StoredCopy {
        let token = try modules.token(uri)
        // Where nobody logs in, a private object is for everybody.
        guard token.has(CKF_LOGIN_REQUIRED) else { throw .unsupported }
        let exact = try TokenURI(of: token.info).text()
        let session = try TokenSession(token, pin: pin, writing: true)
        for candidate in form.map({ [$0] }) ?? CopyForm.allCases {
            do throws(HardwareTokenError) {
                let sealed = try store(key, name, candidate, binding, session)
                return StoredCopy(token: exact, form: candidate, sealed: sealed)
            } catch {
                guard error == .unsupported else { throw error }
            }
        }
        throw .unsupported
    }

    private func store(
        _ key: SharedSecret, _ name: String, _ form: CopyForm, _ binding: [UInt8],
        _ session: TokenSession
    ) throws(HardwareTokenError) -> [UInt8] {
        guard form != .data else {
            try DataObject(name: name).store(key.bytes, session)
            return []
        }
        let pair = SealingKeyPair(name: name, form: form)
        let made = try pair.make(session, random)
        return try SealedCopy.seal(
            key.bytes, under: made.secret, ticket: made.ticket, binding: binding,
            nonce: random.bytes(12))
    }

    /// Has the token give the key back: a read or an operation of its own, after its PIN.
    public func release(
        name: String, on uri: TokenURI, form: CopyForm, sealed: [UInt8], binding: [UInt8]
    ) throws(HardwareTokenError) -> SecretBytes {
        let session = try TokenSession(try modules.token(uri), pin: pin, writing: false)
        let key: SecretBytes
        if form == .data {
            key = try DataObject(name: name).read(session)
        } else {
            guard let ticket = SealedCopy.ticket(of: sealed) else { throw .mismatch }
            let pair = SealingKeyPair(name: name, form: form)
            let secret = try pair.secret(for: ticket, session)
            key = try SealedCopy.open(sealed, under: secret, binding: binding)
        }
        guard key.count == Self.keyBytes else { throw .mismatch }
        return key
    }

    /// Deletes what a token has under these names, where they were given to that very token.
    ///
    /// It logs in even where there is nothing to delete, so that a wrong PIN is noticed.
    ///
    /// - Returns: the names that are gone, those included that were not there.
    public func delete(
        _ entries: [(name: String, token: String)], on uri: TokenURI
    ) throws(HardwareTokenError) -> [String] {
        let token = try modules.token(uri)
        let session = try TokenSession(token, pin: pin, writing: true)
        var names: [String] = []
        for entry in entries where (try? TokenURI(entry.token))?.matches(token.info) == true {
            names.append(entry.name)
        }
        for name in names {
            for object in try session.find(DataObject.attributes(of: name)) {
                try session.destroy(object)
            }
        }
        return names
    }
}
