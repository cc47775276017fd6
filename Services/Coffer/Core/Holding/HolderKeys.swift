internal import Crypto
internal import Secrets
internal import Wire

/// The keys that holders keep in files.
extension CommandRun {
    /// How often a person may mistype a passphrase.
    private static var passphraseTries: Int { 3 }

    /// The private key in a file; where a passphrase protects it, that is read from its descriptor
    /// or asked for.
    ///
    /// - Parameter index: which of the keys of the command line it is, from 0.
    func holderKey(_ path: String, at index: Int = 0) throws(CommandFailure) -> SharedSecret {
        let text = try FileInput.secret(path, limit: Ed25519KeyFile.byteCountMax)
        guard !Self.isPublic(text) else {
            throw .usage(
                "\(path) is a public key, and the private one is wanted: the file that "
                    + "`coffer holder keygen` wrote it beside.")
        }
        do throws(KeyFileError) {
            let file = try Ed25519KeyFile(text)
            guard file.isProtected else {
                return SharedSecret(try file.seed(passphrase: SecretBytes(count: 0)))
            }
        } catch {
            throw Self.failure(error, path)
        }
        if let descriptor = try descriptor(.passphraseDescriptors, at: index) {
            let passphrase = try DescriptorInput.secret(
                descriptor, named: .passphraseDescriptors)
            return try Self.open(text, passphrase, path)
        }
        return try askedKey(text, path)
    }

    private func askedKey(
        _ text: borrowing SecretBytes, _ path: String
    ) throws(CommandFailure) -> SharedSecret {
        var description = "The key \(path) is under a passphrase."
        for _ in 1..<Self.passphraseTries {
            let passphrase = try ask(description)
            do throws(CommandFailure) {
                return try Self.open(text, passphrase.bytes, path)
            } catch {
                guard error.code == ClientFault.wrongPassphrase.rawValue else { throw error }
                description = error.refusal.message
            }
        }
        return try Self.open(text, ask(description).bytes, path)
    }

    private func ask(_ description: String) throws(CommandFailure) -> SharedSecret {
        SharedSecret(
            try parts.person.secret(
                SecretQuestion(
                    description: description, prompt: "Passphrase", isNew: false,
                    option: .passphraseDescriptors)))
    }

    private static func open(
        _ text: borrowing SecretBytes, _ passphrase: borrowing SecretBytes, _ path: String
    ) throws(CommandFailure) -> SharedSecret {
        do throws(KeyFileError) {
            return SharedSecret(try Ed25519KeyFile(text).seed(passphrase: passphrase))
        } catch {
            throw failure(error, path)
        }
    }

    /// The public key in a file.
    func publicHolderKey(_ path: String) throws(CommandFailure) -> [UInt8] {
        // Somebody may give the private one.
        let text = try FileInput.secret(path, limit: Ed25519KeyFile.byteCountMax)
        guard !Self.isPrivate(text) else {
            throw .usage(
                "\(path) is a private key, and only its holder needs that. Give the public one, "
                    + "which `coffer holder keygen` wrote beside it with `.pub`; `openssl pkey -in "
                    + "KEY -pubout` makes it again.")
        }
        do throws(KeyFileError) {
            return try Ed25519KeyFile.publicKey(text.withBytes { Array($0) })
        } catch {
            throw Self.failure(error, path)
        }
    }

    private static func isPrivate(_ text: borrowing SecretBytes) -> Bool {
        has(text, "PRIVATE KEY") || has(text, "ENCRYPTED PRIVATE KEY")
            || has(text, "OPENSSH PRIVATE KEY")
    }

    private static func isPublic(_ text: borrowing SecretBytes) -> Bool {
        has(text, "PUBLIC KEY")
    }

    /// Whether a block of PEM with this label begins in the text.
    private static func has(_ text: borrowing SecretBytes, _ label: String) -> Bool {
        let line = Array("-----BEGIN \(label)-----".utf8)
        return text.withBytes { bytes in
            bytes.indices.contains { bytes[$0...].starts(with: line) }
        }
    }

    private static func failure(_ error: KeyFileError, _ path: String) -> CommandFailure {
        switch error {
        case .wrongPassphrase:
            CommandFailure(.wrongPassphrase, "That passphrase does not open `\(path)`.")
        case .damaged:
            CommandFailure(
                .damagedFile, "\(path) is no PEM file with such a key, or was changed.")
        case .otherAlgorithm:
            CommandFailure(
                .damagedFile,
                "\(path) is a key of another kind than Ed25519, or protected in a way that is not "
                    + "read here.")
        case .invalid, .failed: CommandFailure(.internalError)
        }
    }
}

extension CommandRun {
    /// A public key in hexadecimal digits of either case.
    func publicKey(_ option: CommandOption) throws(CommandFailure) -> [UInt8]? {
        guard let text = invocation[option] else { return nil }
        guard let key = Hex.decode(text.lowercased()), key.count == Ed25519.publicKeyBytes else {
            throw .usage("\(option.name) wants the 64 hexadecimal digits of a public key.")
        }
        return key
    }
}
