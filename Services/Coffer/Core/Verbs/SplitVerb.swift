internal import BackupShares
internal import Crypto
internal import Secrets
internal import SharesMessages
internal import Tokens
internal import VaultMessages
internal import WholeFiles
internal import Wire

extension Verb {
    static let backupSplit = Verb(
        "backup split", arguments: [.required("WALLET")], required: [.newFolder],
        options: [.namespace, .holder] + CommandOption.asking,
        summary: "Share a wallet's phrase out among three holders.",
        help: """
            Writes three share files into a folder, each sealed for one holder: NAME-SPLIT.share. \
            All three together restore the wallet, two of them tell nothing. Beside them stands \
            README-SPLIT.txt, which tells how to restore it, also without Coffer. All four are \
            whole or not there, and nothing is replaced. The split counts as a backup once they \
            are known to be written. Asks for the passcode, once. WALLET is an id, at least the \
            first 8 characters of one, or a label.
            """
    ) { run throws(CommandFailure) in try WalletSplit(run).report() }
}

/// Splits a wallet, writes the files, and has the split count.
private struct WalletSplit {
    private let run: CommandRun
    private let namespace: Namespace
    private let folder: String

    /// The phrase goes from the one to the other and never to this command.
    private static let audience: [ServiceName] = [.walletVault, .backupShares]

    init(_ run: CommandRun) throws(CommandFailure) {
        self.run = run
        namespace = try run.namespace()
        folder = run.invocation[.newFolder] ?? ""
    }

    func report() throws(CommandFailure) -> Report {
        let holders = try holders()
        let isNew = try checkFolder()
        let wallets = try run.withResource(to: "split a wallet", audience: Self.audience) {
            (token) throws(CommandFailure) in try run.listing(token).wallets
        }
        let wallet = try WalletChoice.find(run.invocation.arguments[0], in: wallets)
        let (manifest, files) = try split(wallet, holders)
        let readme = RestoreText.file(for: manifest, Self.mark(of: manifest.split.bytes))
        let digests = try kept(files, readme, isNew: isNew)
        try confirm(manifest, digests)
        return report(wallet, manifest, files, readme)
    }

    // MARK: Before anything is spent

    private func holders() throws(CommandFailure) -> [HolderName] {
        let known = try run.caller().call(ListHolders()).reply.holders.map(\.name)
        guard run.invocation.has(.holder) else {
            guard known.count == SplitWallet.shareCount else {
                throw .usage(
                    "A wallet is shared out among three holders, and there are \(known.count): "
                        + "name three with --holder, or take some in with `coffer holder add`.")
            }
            return known
        }
        var holders: [HolderName] = []
        for text in run.invocation.all(.holder) {
            guard let name = HolderName(text), known.contains(name) else {
                var refusal = SharesFault.noSuchHolder.refusal
                refusal.message =
                    "There is no holder `\(ShownText.printable(text))`. `coffer holder list` "
                    + "shows them."
                throw CommandFailure(refusal, kind: .fresh)
            }
            holders.append(name)
        }
        guard Set(holders).count == SplitWallet.shareCount else {
            throw .usage("--holder wants three different holders.")
        }
        return holders
    }

    /// A folder that is there is filled; else it is made.
    ///
    /// Both are tried: a split that is made for files which cannot be written stays in the list,
    /// and nobody can take it back.
    ///
    /// - Returns: whether it is to be made.
    private func checkFolder() throws(CommandFailure) -> Bool {
        do throws(WholeFileError) {
            return try WholeFiles.tryFolder(folder, random: run.parts.random) == .canBeMade
        } catch {
            throw CommandFailure(error)
        }
    }

    // MARK: The split

    private func split(
        _ wallet: WalletDescription, _ holders: [HolderName]
    ) throws(CommandFailure) -> (Manifest, [NewFile]) {
        let proof = try run.verify(
            .reveal(namespace, wallet.wallet), audience: Self.audience, to: "split a wallet")
        let answer = try run.caller().call(
            SplitWallet(namespace: namespace, wallet: wallet.wallet, holders: holders),
            token: proof.token)
        let manifest = answer.reply
        var files: [NewFile] = []
        for (index, attachment) in answer.attachments.enumerated() {
            let bytes = attachment.bytes.withBytes { Array($0) }
            guard let file = try? ShareFile(bytes), file.index == index,
                file.holder == holders[index].text, file.split.id == manifest.split.bytes,
                SHA256.digest(bytes) == manifest.shares[index].file
            else { throw CommandFailure(BusFault.badReply.refusal, kind: .fresh) }
            files.append(NewFile(name: Self.name(of: file), bytes: bytes))
        }
        return (manifest, files)
    }

    private static func name(of file: ShareFile) -> String {
        "\(file.holder)-\(mark(of: file.split.id)).share"
    }

    /// What the files of a split have in their names.
    private static func mark(of split: [UInt8]) -> String { Hex.encode(Array(split.prefix(4))) }

    // MARK: The files

    /// Writes the files, and answers the digests of the shares as they are on the disk.
    private func kept(
        _ files: [NewFile], _ readme: NewFile, isNew: Bool
    ) throws(CommandFailure) -> [[UInt8]] {
        do throws(CommandFailure) {
            try write(files + [readme], isNew: isNew)
            return try readBack(files)
        } catch {
            // The split was made: it is not true that nothing happened.
            var failure = error
            failure.refusal.outcome = .unknown
            failure.refusal.message +=
                " The split is in `coffer backup list` as not confirmed: it counts for nothing, "
                + "and goes with the next split of this wallet that is confirmed."
            throw failure
        }
    }

    /// A folder that came to be while the wallet was split is somebody else's.
    private func write(_ files: [NewFile], isNew: Bool) throws(CommandFailure) {
        do throws(WholeFileError) {
            if isNew {
                try WholeFiles.write(files, asFolder: folder, random: run.parts.random)
            } else {
                try WholeFiles.write(files, into: folder, random: run.parts.random)
            }
        } catch {
            throw CommandFailure(error)
        }
    }

    private func path(of file: NewFile) -> String {
        folder.hasSuffix("/") ? "\(folder)\(file.name)" : "\(folder)/\(file.name)"
    }

    /// The digests of the files as they are now.
    private func readBack(_ files: [NewFile]) throws(CommandFailure) -> [[UInt8]] {
        var digests: [[UInt8]] = []
        for file in files {
            let bytes = try FileInput.bytes(path(of: file), limit: ShareFile.byteCountMax)
            digests.append(SHA256.digest(bytes))
        }
        return digests
    }

    private func confirm(
        _ manifest: Manifest, _ digests: [[UInt8]]
    ) throws(CommandFailure) {
        let caller = try run.caller()
        do throws(CommandFailure) {
            _ = try run.withResource(to: "confirm the split", audience: [.backupShares]) {
                (token) throws(CommandFailure) in
                try caller.change(
                    ConfirmSplit(namespace: namespace, split: manifest.split, files: digests),
                    key: caller.newKey(), token: token)
            }
        } catch {
            run.note(
                "The three files in \(folder) are written, and the split does not count as a "
                    + "backup yet. Split the wallet anew.")
            throw error
        }
    }

    // MARK: What is said

    private func report(
        _ wallet: WalletDescription, _ manifest: Manifest, _ files: [NewFile],
        _ readme: NewFile
    ) -> Report {
        let rows = zip(manifest.shares, files).map { share, file in
            [share.holder.text, KeyFingerprint.text(of: share.publicKey), path(of: file)]
        }
        let text = """
            The wallet is shared out. All three files restore it; two of them tell nothing.

            \(wallet.table)

            \(TextTable.lines([["HOLDER", "KEY", "FILE"]] + rows))

            Compare each key with what its holder reads from his own, and give him his file. A \
            backup that nobody has tried is none: restore it once, into another home.

            \(path(of: readme)) tells how to restore the wallet without Coffer, too. It is no \
            secret: give each holder a copy, and keep one.
            """
        let paths = files.map(path)
        let readmePath = path(of: readme)
        return Report(text) { writer in
            writer.identifier("split", manifest.split)
            writer.bool("confirmed", true)
            writer.identifier("id", wallet.wallet)
            writer.string("label", wallet.label)
            writer.object("wallet") { manifest.wallet.write(to: &$0) }
            writer.uint64("made", manifest.made)
            writer.objects("shares", zip(manifest.shares, paths)) { writer, entry in
                writer.identifier("holder", entry.0.holder)
                writer.hex("public_key", entry.0.publicKey)
                writer.string("file", entry.1)
            }
            writer.string("readme", readmePath)
        }
    }
}
