internal import Crypto
internal import Secrets
internal import WholeFiles
internal import Wire

extension Verb {
    static let holderKeygen = Verb(
        "holder keygen", required: [.newFile],
        options: [.passphraseDescriptor, .noPinentry],
        summary: "Make a key pair for keeping shares.",
        help: """
            Writes the private key, under a passphrase, and beside it with `.pub` the public key \
            that the owner is given. Both are PEM files as OpenSSL reads them; nothing is \
            replaced. The passphrase is asked for twice, or read once from --passphrase-fd. \
            Needs no installation: the holder does this on a machine of his own.
            """
    ) { run throws(CommandFailure) in
        let path = run.invocation[.newFile] ?? ""
        let publicPath = "\(path).pub"
        try run.checkNew(path)
        try run.checkNew(publicPath)
        let passphrase = try run.secret(
            SecretQuestion(
                description: "Choose a passphrase for the new key `\(path)`.",
                prompt: "Passphrase", isNew: true, option: .passphraseDescriptor))
        let key = try run.makeKeyPair(passphrase, path: path)
        let isPlain = passphrase.bytes.withBytes { $0.allSatisfy { $0 < 0x80 } }
        if !isPlain {
            run.note(
                "The passphrase has letters outside ASCII. Another keyboard or system may type "
                    + "the same letters as other bytes, which do not open the key: try it where "
                    + "the key will be used, or choose another one.")
        }
        let fingerprint = KeyFingerprint.text(of: key)
        let text = """
            \(path): the private key. It stays with you, and so does its passphrase.
            \(publicPath): the public key, for the owner of the wallets.
            Read its fingerprint to the owner: \(fingerprint)
            """
        return Report(text) {
            $0.string("key_file", path)
            $0.string("public_key_file", publicPath)
            $0.hex("public_key", key)
            $0.string("fingerprint", fingerprint)
        }
    }
}

extension CommandRun {
    /// Both files, or none.
    ///
    /// - Returns: the public key.
    fileprivate func makeKeyPair(
        _ passphrase: SharedSecret, path: String
    ) throws(CommandFailure) -> [UInt8] {
        let seed = parts.random.secret(Ed25519.seedBytes)
        let key: [UInt8]
        let files: [[UInt8]]
        do {
            key = try Ed25519.publicKey(seed: seed)
            files = [
                try Ed25519KeyFile.protected(
                    seed: seed, passphrase: passphrase.bytes, random: parts.random),
                try Ed25519KeyFile.text(publicKey: key),
            ]
        } catch {
            throw CommandFailure(.internalError)
        }
        do throws(WholeFileError) {
            try WholeFiles.write(files[0], beside: files[1], to: path, random: parts.random)
        } catch {
            throw CommandFailure(error)
        }
        return key
    }
}
