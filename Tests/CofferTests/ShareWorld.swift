import BackupShares
import Crypto
import Glibc
import Secrets
import SharesMessages
import TestKit
import VaultMessages
import Wire

@testable import CofferCore

/// Three holders with their keys in files, a wallet, and a backup-shares that keeps it all in
/// memory: enough to split and to restore for good.
final class ShareWorld {
    let fixture: Fixture
    let folder: TemporaryFolder
    let names = ["anna", "bert", "carl"]
    /// Restorations that are open: public key and private key.
    private(set) var restorations: [RestorationID: (publicKey: [UInt8], seed: SharedSecret)] = [:]
    private(set) var confirmed: [ConfirmSplit] = []
    private(set) var restored: [String] = []
    /// What the home knows of the wallet, so that nobody has to be asked.
    var knownIdentity: [UInt8]?
    /// Whether the wallet is in the vault already.
    var hasWallet = false

    static let phrase = String(repeating: "abandon ", count: 11) + "about"
    static let identity = [UInt8](repeating: 2, count: 33)
    private static let splitID = [UInt8](0xa0..<0xb0)

    init(secrets: [String] = ["1234"], lines: [String] = []) throws {
        fixture = Fixture(secrets: secrets, lines: lines)
        folder = try TemporaryFolder()
        for (index, name) in names.enumerated() {
            let pem = index == 0 ? clearPEM(0) : try Self.protected[index - 1].get()
            try write(pem, to: "\(name).pem")
        }
        answerSplits()
        answerRestorations()
    }

    // MARK: Holders

    /// The first holder's key is in clear, the others' under their names.
    func seed(_ index: Int) -> SecretBytes { Self.seed(index) }

    private static func seed(_ index: Int) -> SecretBytes {
        SecretBytes(copying: SHA256.digest([UInt8(index), 0x5e]))
    }

    /// Made once: a passphrase is made slow to try.
    private static let protected = ["bert", "carl"].enumerated().map { index, name in
        Result {
            try Ed25519KeyFile.protected(
                seed: seed(index + 1), passphrase: SecretBytes(copying: Array(name.utf8)),
                random: KernelRandom())
        }
    }

    func publicKey(_ index: Int) throws -> [UInt8] { try Ed25519.publicKey(seed: seed(index)) }

    func keyPath(_ index: Int) -> String { folder.path(of: "\(names[index]).pem") }

    func sharePath(_ index: Int) -> String {
        folder.path(of: "out/\(names[index])-a0a1a2a3.share")
    }

    /// The path of a file with a holder's key in clear.
    func clearKey(_ index: Int) throws -> String {
        try write(clearPEM(index), to: "\(names[index]).clear.pem")
        return folder.path(of: "\(names[index]).clear.pem")
    }

    private func clearPEM(_ index: Int) -> [UInt8] {
        let head: [UInt8] = [
            0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x04, 0x22,
            0x04, 0x20,
        ]
        let der = head + seed(index).withBytes { Array($0) }
        return Array(
            """
            -----BEGIN PRIVATE KEY-----
            \(String(decoding: Base64.standard.encode(der), as: UTF8.self))
            -----END PRIVATE KEY-----

            """.utf8)
    }

    // MARK: Files

    func write(_ bytes: [UInt8], to name: String) throws {
        let file = open(folder.path(of: name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw CommandFailure(.fileNotWritten) }
        defer { close(file) }
        let count = bytes.withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) }
        guard count == bytes.count else { throw CommandFailure(.fileNotWritten) }
    }

    func read(_ path: String) throws -> [UInt8] {
        try FileInput.bytes(path, limit: 100_000)
    }

    func change(_ name: String, _ body: (inout [UInt8]) -> Void) throws {
        var bytes = try read(folder.path(of: name))
        body(&bytes)
        try write(bytes, to: name)
    }

    /// A pipe with this text in it.
    func descriptor(_ text: String) -> String {
        var ends: [Int32] = [0, 0]
        _ = pipe(&ends)
        _ = Array(text.utf8).withUnsafeBytes { Glibc.write(ends[1], $0.baseAddress, $0.count) }
        close(ends[1])
        return String(ends[0])
    }

    /// Splits the wallet into the folder `out`.
    func split() throws {
        _ = try fixture.run("backup", "split", "savings", "--out", folder.path(of: "out"))
    }

    func run(_ line: [String]) throws(CommandFailure) -> Report {
        let run = try fixture.prepare(line)
        let report = try run.invocation.verb.run(run)
        run.endOwnSessions()
        return report
    }

    // MARK: The service

    private func answerSplits() {
        let services = fixture.services
        services.on(ListHolders.self) { [unowned self] _, _ in
            Answer(
                ListHolders.Reply(
                    holders: try names.enumerated().map { index, name in
                        HolderDescription(
                            name: try Self.name(name), publicKey: try publicKey(index), added: 0)
                    }))
        }
        services.on(ListWallets.self) { _, _ in
            Answer(ListWallets.Reply(wallets: [Fixture.wallet], more: false))
        }
        services.on(SplitWallet.self) { [unowned self] request, _ in
            try split(among: request.holders)
        }
        services.on(ConfirmSplit.self) { [unowned self] request, _ in
            confirmed.append(request)
            return Answer(Empty())
        }
    }

    private func split(among holders: [HolderName]) throws -> Answer<SplitWallet> {
        let files = try ShareFile.split(
            PhraseBlock.encode(SecretBytes(copying: Array(Self.phrase.utf8))), id: Self.splitID,
            wallet: ShareFacts.Wallet(
                kind: "bip39", network: nil, identity: Self.identity, words: 12),
            made: 1_700_000_000,
            among: try holders.map { holder in
                let index = names.firstIndex(of: holder.text) ?? 0
                return ShareHolder(name: holder.text, publicKey: try publicKey(index))
            }, random: fixture.random)
        let shares = zip(files, holders).map { file, holder in
            Manifest.Share(
                holder: holder, publicKey: file.recipient,
                digest: file.split.digests[file.index], file: SHA256.digest(file.bytes))
        }
        let manifest = Manifest(
            split: try Self.id(Self.splitID), wallet: Self.wallet, made: 1_700_000_000,
            confirmed: false, shares: shares)
        return Answer(
            manifest,
            attachments: files.map { SharedSecret(SecretBytes(copying: $0.bytes)) })
    }

    private func answerRestorations() {
        let services = fixture.services
        services.on(BeginRestoration.self) { [unowned self] _, _ in
            let seed = SharedSecret(fixture.random.secret(32))
            let id: RestorationID = try Self.id(fixture.random.bytes(16))
            let publicKey = try Ed25519.publicKey(seed: seed.bytes)
            restorations[id] = (publicKey, seed)
            return Answer(
                RestorationDescription(
                    restoration: id, publicKey: publicKey, begun: 5, intact: true))
        }
        services.on(AbandonRestoration.self) { [unowned self] request, _ in
            restorations[request.restoration] = nil
            return Answer(Empty())
        }
        services.on(RestoreWallet.self) { [unowned self] request, _ in
            Answer(try restore(request))
        }
        services.on(FindWallet.self) { [unowned self] request, _ in
            guard hasWallet, request.identity == Self.identity else {
                throw VaultFault.noSuchWallet.refusal
            }
            return Answer(Fixture.wallet)
        }
    }

    /// Opens what was attached last.
    private func restore(_ request: RestoreWallet) throws -> RestoreWallet.Reply {
        guard let key = restorations[request.restoration]?.seed else {
            throw SharesFault.noSuchRestoration.refusal
        }
        let attached = fixture.services.seen(RestoreWallet.self).last?.attachments ?? []
        var payloads: [SharedSecret] = []
        var unusable: [RestoreWallet.Reply.Unusable] = []
        for (index, bytes) in attached.enumerated() {
            do {
                switch try ReceivedShare(bytes) {
                case .file(let file):
                    payloads.append(
                        try file.releasedPayload(
                            privateKey: key.bytes, restoration: request.restoration.bytes))
                case .foreign(let received):
                    payloads.append(
                        SharedSecret(try received.envelope.open(privateKey: key.bytes)))
                }
            } catch {
                unusable.append(.init(file: index, holder: nil, problem: .damaged))
            }
        }
        guard unusable.isEmpty else { return .unusable(unusable) }
        guard let block = try? ShareSplit.combine(payloads) else {
            throw SharesFault.unfitShares.refusal
        }
        guard let expected = request.expected ?? knownIdentity else {
            return .unconfirmed(Self.wallet)
        }
        guard expected == Self.identity else { throw SharesFault.unexpectedIdentity.refusal }
        guard !hasWallet else { throw VaultFault.walletExists.refusal }
        restored.append(
            try PhraseBlock.decode(block).withBytes { String(decoding: $0, as: UTF8.self) })
        restorations[request.restoration] = nil
        var wallet = Fixture.wallet
        wallet.label = request.label
        return .installed(wallet)
    }

    static let wallet = SharedWallet(kind: .bip39, network: nil, identity: identity, words: 12)

    private static func name(_ text: String) throws -> HolderName {
        guard let name = HolderName(text) else { throw CommandFailure(.internalError) }
        return name
    }

    private static func id<T>(_ bytes: [UInt8]) throws -> Identifier<T> {
        guard let id = Identifier<T>(bytes) else { throw CommandFailure(.internalError) }
        return id
    }
}
