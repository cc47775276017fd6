import AuthorityDouble
import BackupShares
import Loop
import Secrets
import Serving
import SharesMessages
import TestKit
import Testing
import Tokens
import VaultMessages
import Wire

@testable import SharesCore

/// Phrases that everybody knows.
enum Phrase {
    static let about = String(repeating: "abandon ", count: 11) + "about"
    static let yellow =
        "legal winner thank year wave sausage worth useful legal winner thank yellow"
    static let longest = String(repeating: "zoo ", count: 23) + "vote"
    /// Of ton-crypto's tests.
    static let ton = """
        hospital stove relief fringe tongue always charge angry urge sentence again match nerve \
        inquiry senior coconut label tumble carry category beauty bean road solution
        """
}

/// What tests do often.
extension Rig {
    @discardableResult
    func add(_ holder: Holder, owner: Owner? = nil) async throws -> HolderDescription {
        try await ask(
            AddHolder(name: holder.name, publicKey: holder.publicKey), owner: owner,
            token: token(.settings, owner: owner, audience: [.backupShares])
        ).reply
    }

    func addHolders() async throws {
        for holder in holders.prefix(3) { try await add(holder) }
    }

    func bring(
        _ phrase: String = Phrase.about, in namespace: Namespace? = nil, owner: Owner? = nil,
        kind: WalletKind = .bip39, network: WalletNetwork? = nil
    ) async throws -> WalletDescription {
        let namespace = namespace ?? main
        return try await vault.ask(
            ImportWallet(
                namespace: namespace, label: "first", walletKind: kind, network: network,
                expected: nil),
            from: app, owner: owner ?? self.owner, token: resource(namespace, owner: owner),
            attachments: [secret(phrase)]
        ).reply
    }

    func split(
        _ wallet: WalletID, in namespace: Namespace? = nil, among names: [HolderName]? = nil,
        token: [UInt8]? = nil
    ) async throws -> (manifest: Manifest, files: [[UInt8]]) {
        let namespace = namespace ?? main
        let answer = try await ask(
            SplitWallet(
                namespace: namespace, wallet: wallet,
                holders: names ?? holders.prefix(3).map(\.name)),
            token: try token ?? self.token(.reveal(namespace, wallet)))
        return (answer.reply, answer.attachments.map(\.array))
    }

    func confirm(_ manifest: Manifest, in namespace: Namespace? = nil) async throws {
        let namespace = namespace ?? main
        try await ask(
            ConfirmSplit(
                namespace: namespace, split: manifest.split, files: manifest.shares.map(\.file)),
            token: resource(namespace))
    }

    func splits(_ namespace: Namespace? = nil) async throws -> [Manifest] {
        let namespace = namespace ?? main
        return try await ask(ListSplits(namespace: namespace), token: resource(namespace))
            .reply.splits
    }

    func begin(_ namespace: Namespace? = nil) async throws -> RestorationDescription {
        let namespace = namespace ?? main
        return try await ask(BeginRestoration(namespace: namespace), token: resource(namespace))
            .reply
    }

    func restorations(_ namespace: Namespace? = nil) async throws -> [RestorationDescription] {
        let namespace = namespace ?? main
        return try await ask(ListRestorations(namespace: namespace), token: resource(namespace))
            .reply.restorations
    }

    /// What the holders do with their files.
    func release(
        _ files: [[UInt8]], for restoration: RestorationDescription
    ) throws -> [[UInt8]] {
        try zip(files, holders).map { file, holder in
            try ShareFile(file).release(
                privateKey: holder.privateKey.bytes, for: restoration.restoration.bytes,
                publicKey: restoration.publicKey, random: random
            ).bytes
        }
    }

    func restore(
        _ files: [[UInt8]], _ restoration: RestorationDescription, in namespace: Namespace? = nil,
        label: String = "restored", expected: [UInt8]? = nil, kind: WalletKind? = nil,
        network: WalletNetwork? = nil, key: IdempotencyKey? = nil
    ) async throws -> RestoreWallet.Reply {
        let namespace = namespace ?? main
        return try await ask(
            RestoreWallet(
                namespace: namespace, restoration: restoration.restoration, label: label,
                expected: expected, walletKind: kind, network: network),
            token: resource(namespace), attachments: files.map { secret($0) }, key: key
        ).reply
    }

    func wallets(_ namespace: Namespace? = nil) async throws -> [WalletDescription] {
        let namespace = namespace ?? main
        return try await vault.ask(
            ListWallets(namespace: namespace), from: app, owner: owner,
            token: resource(namespace)
        ).reply.wallets
    }
}

/// The wallet of a restoration that was installed; nil for every other reply.
func installed(_ reply: RestoreWallet.Reply) -> WalletDescription? {
    guard case .installed(let wallet) = reply else { return nil }
    return wallet
}

/// The code of the refusal that a body ends with, or `ok`.
@ServiceLoop
func code<T>(of body: @ServiceLoop () async throws -> T) async throws -> String {
    do {
        _ = try await body()
        return "ok"
    } catch let refusal as Refusal {
        return refusal.code
    }
}
