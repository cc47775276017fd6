internal import BackupShares
internal import Secrets
internal import SharesMessages
internal import Wire

/// A share that a command line names.
struct ShareInput {
    let path: String
    let bytes: [UInt8]
    let share: ReceivedShare

    /// Longer than any share that is read.
    private static let byteCountMax = 70_000

    /// Reads files, and names all that are no shares.
    static func read(_ paths: [String]) throws(CommandFailure) -> [ShareInput] {
        var inputs: [ShareInput] = []
        var unusable: [UnusableShare] = []
        for path in paths {
            let bytes = try FileInput.bytes(path, limit: byteCountMax)
            do throws(ShareFileError) {
                inputs.append(
                    ShareInput(path: path, bytes: bytes, share: try ReceivedShare(bytes)))
            } catch {
                unusable.append(UnusableShare(path: path, holder: nil, problem: .found(.damaged)))
            }
        }
        guard unusable.isEmpty else { throw CommandFailure(unusable) }
        return inputs
    }

    /// The share file; nil for the envelope of another program.
    var file: ShareFile? {
        guard case .file(let file) = share else { return nil }
        return file
    }

    func unusable(_ problem: UnusableShare.Problem) -> UnusableShare {
        UnusableShare(path: path, holder: file?.holder, problem: problem)
    }

    /// Checks all that the owner of the key can check.
    func check(_ key: SharedSecret) throws(CommandFailure) {
        try finding { () throws(ShareFileError) in
            switch share {
            case .file(let file):
                guard file.restoration == nil else { throw .released }
                _ = try file.payload(privateKey: key.bytes)
            case .foreign(let received): try Self.open(received, key)
            }
        }
    }

    /// The file of the share, released for the key of a restoration.
    func released(
        _ key: SharedSecret, for target: ReleaseTarget, random: any RandomSource
    ) throws(CommandFailure) -> [UInt8] {
        try finding { () throws(ShareFileError) in
            switch share {
            case .file(let file):
                try file.release(
                    privateKey: key.bytes, for: target.restoration?.bytes ?? [],
                    publicKey: target.publicKey, random: random
                ).bytes
            case .foreign(let received):
                try Self.release(received, key, for: target.publicKey, random)
            }
        }
    }

    /// Names the file where something is wrong with it.
    private func finding<R>(
        _ body: () throws(ShareFileError) -> R
    ) throws(CommandFailure) -> R {
        do throws(ShareFileError) {
            return try body()
        } catch {
            if let problem = UnusableShare.Problem(error) {
                let isForeign = file == nil && problem == .otherKey
                throw CommandFailure([unusable(isForeign ? .unopened : problem)])
            }
            throw error == .invalidKey
                ? .usage("A share cannot be released for this key: it is none.")
                : CommandFailure(.internalError)
        }
    }

    private static func open(
        _ received: ReceivedEnvelope, _ key: SharedSecret
    ) throws(ShareFileError) {
        do throws(ShareError) {
            _ = try received.envelope.open(privateKey: key.bytes)
        } catch {
            throw .otherRecipient
        }
    }

    private static func release(
        _ received: ReceivedEnvelope, _ key: SharedSecret, for publicKey: [UInt8],
        _ random: any RandomSource
    ) throws(ShareFileError) -> [UInt8] {
        do throws(ShareError) {
            return try received.release(
                privateKey: key.bytes, publicKey: publicKey, random: random
            ).bytes
        } catch {
            throw error == .invalidKey ? .invalidKey : .otherRecipient
        }
    }
}

extension ShareInput {
    /// For people: what the share says of itself.
    var rows: [[String]] {
        guard let file else {
            return [
                ["share", "of another program; it does not say of which wallet"], ["file", path],
            ]
        }
        let wallet = file.split.wallet
        let kind = wallet.network.map { "\(wallet.kind) (\($0))" } ?? wallet.kind
        return [
            ["share", "\(file.index + 1) of 3, holder \(file.holder)"], ["kind", kind],
            ["identity", Hex.encode(wallet.identity)], ["words", String(wallet.words)],
            ["split", "\(ShownTime.text(file.split.made)), \(Hex.encode(file.split.id))"],
        ]
    }

    func write(to writer: inout JSONWriter) {
        writer.string("share", path)
        guard let file else { return }
        writer.hex("split", file.split.id)
        writer.integer("index", file.index)
        writer.string("holder", file.holder)
        writer.uint64("made", file.split.made)
        writer.object("wallet") { writer in
            let wallet = file.split.wallet
            writer.string("kind", wallet.kind)
            writer.optionalString("network", wallet.network)
            writer.hex("identity", wallet.identity)
            writer.integer("words", wallet.words)
        }
    }
}
