internal import SharesMessages
internal import Wire

extension Verb {
    static let holderRelease = Verb(
        "holder release", required: [.share, .keyPath, .newFile],
        options: [
            .request, .clientKey, .restoration, .yes, .passphraseDescriptor, .noPinentry,
        ],
        summary: "Release a share for a restoration, as its holder.",
        help: """
            Opens the share with the holder's key and seals it anew for the key of the \
            restoration, which comes from --request, or from --for and --restoration. Neither the \
            private key nor the share in clear leaves: what is written opens for the restoration \
            alone. Shows what the share is of and for which key, and asks, unless --yes is \
            given. Compare the fingerprint with what the owner reads to you by another way than \
            the request came. Needs no installation, no services and no network.
            """
    ) { run throws(CommandFailure) in
        let request = try run.releaseRequest()
        let path = run.invocation[.newFile] ?? ""
        try run.checkNew(path)
        let input = try ShareInput.read([run.invocation[.share] ?? ""])[0]
        if input.file != nil, request.restoration == nil {
            throw .usage("--for wants --restoration ID with it, for a share file.")
        }
        let key = try run.holderKey(run.invocation[.keyPath] ?? "")
        try input.check(key)
        let fingerprint = KeyFingerprint.text(of: request.publicKey)
        let shown = TextTable.lines(input.rows + [["for key", fingerprint]])
        try run.confirmRelease(shown)
        let released = try input.released(key, for: request, random: run.parts.random)
        try run.write(released, to: path)
        let text = """
            \(path): the share, released for that key alone.

            \(shown)

            Neither your private key nor the share in clear is in it.
            """
        return Report(text) { writer in
            input.write(to: &writer)
            writer.string("file", path)
            writer.optionalIdentifier("restoration", request.restoration)
            writer.hex("recipient", request.publicKey)
            writer.string("fingerprint", fingerprint)
        }
    }
}

/// What a share is released for.
struct ReleaseTarget {
    /// Nil where the owner named a key alone, which does for shares of other programs.
    let restoration: RestorationID?
    /// Ed25519, 32 bytes.
    let publicKey: [UInt8]
}

extension CommandRun {
    fileprivate func releaseRequest() throws(CommandFailure) -> ReleaseTarget {
        switch (invocation[.request], try publicKey(.clientKey)) {
        case (let path?, nil):
            guard !invocation.has(.restoration) else {
                throw .usage("--request says for which restoration: leave --restoration out.")
            }
            let bytes = try FileInput.bytes(path, limit: ReleaseRequest.byteCountMax)
            guard let request = ReleaseRequest(bytes) else {
                throw CommandFailure(
                    .damagedFile, "\(path) is no request for shares, or was changed.")
            }
            return ReleaseTarget(
                restoration: request.restoration, publicKey: request.publicKey)
        case (nil, let key?):
            return ReleaseTarget(restoration: try restorationID(), publicKey: key)
        default:
            throw .usage("Give either --request FILE or --for KEY with --restoration ID.")
        }
    }

    /// The restoration that an option names.
    func restorationID() throws(CommandFailure) -> RestorationID? {
        guard let text = invocation[.restoration] else { return nil }
        guard let id = RestorationID(text.lowercased()) else {
            throw .usage("--restoration wants the 32 hexadecimal digits of a restoration.")
        }
        return id
    }

    fileprivate func confirmRelease(_ shown: String) throws(CommandFailure) {
        guard !invocation.has(.yes) else { return }
        let question = """
            \(shown)

            Does the owner read this fingerprint to you? Then type `yes` to release the share:
            """
        guard try parts.person.line(question, insteadOf: .yes) == "yes" else {
            throw CommandFailure(.notConfirmed)
        }
    }
}
