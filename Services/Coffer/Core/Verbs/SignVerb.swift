internal import AuthorityMessages
internal import Crypto
internal import Secrets
internal import Tokens
internal import VaultMessages
internal import Wire

extension Verb {
    static let walletSign = Verb(
        "wallet sign", arguments: [.required("WALLET")],
        options: [.scheme, .path, .messageFile, .digest, .hash, .namespace]
            + CommandOption.asking,
        summary: "Sign with a key of a wallet.",
        help: """
            Signs a message (--message-file, with --hash for secp256k1) or 32 bytes as they are \
            (--digest). ed25519 keys come by SLIP-0010 from hardened paths; secp256k1 keys by \
            BIP-32, signatures by RFC 6979 with low S. A wallet of kind ton or ton-rotation has \
            one ed25519 key, and --scheme and --path are left out; one of kind dash signs with \
            secp256k1 unless --scheme says otherwise. Asks for the passcode, or uses the session \
            of `coffer unlock` where `coffer sign-policy show` says `session`.
            """
    ) { run throws(CommandFailure) in
        // What can be told from the line alone is told before anything is asked.
        try run.checkContent()
        let given = try run.scheme()
        let path = try run.path()
        var early: SharedSecret?
        if let given { early = try run.content(for: given) }
        let wallet = try run.walletDescription()
        let key = try run.key(of: wallet.kind, given, path)
        let content = if let early { early } else { try run.content(for: key.scheme) }
        let request = SignWithWallet(
            namespace: try run.namespace(), wallet: wallet.wallet, scheme: key.scheme,
            path: key.path)
        let reply = try run.sign(request, content)
        var rows = [
            ["wallet", wallet.wallet.text], ["label", ShownText.printable(wallet.label)],
            ["signature", Hex.encode(reply.signature)],
            ["public key", Hex.encode(reply.publicKey)],
        ]
        if let recovery = reply.recovery { rows.append(["recovery", String(recovery)]) }
        return Report(TextTable.lines(rows)) { writer in
            writer.identifier("wallet", wallet.wallet)
            writer.string("label", wallet.label)
            reply.write(to: &writer)
        }
    }
}

extension WalletKind {
    /// The scheme of wallets that nearly always sign with one.
    fileprivate var usualScheme: SignatureScheme? { self == .dash ? .secp256k1 : nil }
}

/// What is signed.
enum SignedContent {
    /// The largest message that Ed25519 signs over the bus, in bytes.
    static let messageLimit = 32 * 1_024
    /// The largest file that is hashed before it is signed, in bytes.
    static let fileLimit = 64 * 1_024 * 1_024

    /// The digest of a message for secp256k1; nil for a hash that is not known.
    static func digest(of message: [UInt8], hash: String) -> [UInt8]? {
        switch hash {
        case "sha256": SHA256.digest(message)
        case "sha256d": SHA256.digest(SHA256.digest(message))
        default: nil
        }
    }
}

extension CommandRun {
    /// The scheme that was given, if any.
    fileprivate func scheme() throws(CommandFailure) -> SignatureScheme? {
        guard let text = invocation[.scheme] else { return nil }
        guard let scheme = SignatureScheme(text) else {
            throw .usage("--scheme wants ed25519 or secp256k1.")
        }
        return scheme
    }

    /// The path that was given, if any.
    fileprivate func path() throws(CommandFailure) -> String? {
        guard let path = invocation[.path] else { return nil }
        guard path.utf8.count <= SignWithWallet.pathLimit else {
            throw .usage("--path wants at most \(SignWithWallet.pathLimit) bytes.")
        }
        guard KeyPathForm.accepts(path) else {
            throw .usage(
                "--path wants `m` and up to ten levels, such as `m/44'/0'/0'`: a slash and a "
                    + "number for each, and `'` or `h` where it is hardened.")
        }
        return path
    }

    /// The key that a wallet of this kind signs with.
    fileprivate func key(
        of kind: WalletKind, _ scheme: SignatureScheme?, _ path: String?
    ) throws(CommandFailure) -> (scheme: SignatureScheme, path: String) {
        let sole = kind.soleKey
        guard let scheme = scheme ?? sole?.scheme ?? kind.usualScheme else {
            throw .usage("A wallet of kind \(kind.text) wants --scheme ed25519 or secp256k1.")
        }
        guard let path = path ?? sole?.path else {
            throw .usage("A wallet of kind \(kind.text) wants --path, such as m/44'/0'/0'/0/0.")
        }
        return (scheme, path)
    }

    fileprivate func checkContent() throws(CommandFailure) {
        guard invocation.has(.messageFile) != invocation.has(.digest) else {
            throw .usage("Give either --message-file FILE or --digest HEX.")
        }
    }

    fileprivate func content(
        for scheme: SignatureScheme
    ) throws(CommandFailure) -> SharedSecret {
        if let path = invocation[.messageFile] {
            return SharedSecret(SecretBytes(copying: try message(in: path, for: scheme)))
        }
        let text = invocation[.digest] ?? ""
        guard let digest = Hex.decode(text.lowercased()), digest.count == 32 else {
            throw .usage("--digest wants 64 hexadecimal digits.")
        }
        guard !invocation.has(.hash) else { throw .usage("--digest is hashed already.") }
        return SharedSecret(SecretBytes(copying: digest))
    }

    private func message(
        in path: String, for scheme: SignatureScheme
    ) throws(CommandFailure) -> [UInt8] {
        switch scheme {
        case .ed25519:
            guard !invocation.has(.hash) else {
                throw .usage("ed25519 signs the message itself: leave --hash out.")
            }
            return try DescriptorInput.file(
                path, limit: SignedContent.messageLimit, named: .messageFile)
        case .secp256k1:
            let hash = invocation[.hash] ?? ""
            guard SignedContent.digest(of: [], hash: hash) != nil else {
                throw .usage("secp256k1 signs a digest: give --hash sha256 or --hash sha256d.")
            }
            let message = try DescriptorInput.file(
                path, limit: SignedContent.fileLimit, named: .messageFile)
            return SignedContent.digest(of: message, hash: hash) ?? []
        }
    }

    /// Under a proof for this one signature, or under a session where the owner allows that.
    fileprivate func sign(
        _ request: SignWithWallet, _ content: SharedSecret
    ) throws(CommandFailure) -> SignWithWallet.Reply {
        let caller = try caller()
        switch try caller.call(AskSignPolicy()).reply.policy {
        case .session:
            return try withResource(to: "sign") { (token) throws(CommandFailure) in
                try caller.call(request, token: token, attachments: [content]).reply
            }
        case .proof:
            let session = try verify(
                .sign(request.namespace, request.wallet), audience: [.walletVault], to: "sign")
            return try caller.call(request, token: session.token, attachments: [content]).reply
        }
    }
}
