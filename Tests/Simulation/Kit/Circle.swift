import BackupShares
import Crypto
import Loop
import Secrets
import SharesMessages
import TestKit
import VaultMessages
import Wire

/// The three who keep an owner's shares, what they have, and what the owner was told of it.
@ServiceLoop
final class Circle {
    let holders: [Holder]
    /// Those who were told to be taken in.
    var added: Set<HolderName> = []
    private(set) var splits: [SplitID: Split] = [:]
    private(set) var restorations: [RestorationID: Restoration] = [:]
    private(set) var restored: [[UInt8]: Restored] = [:]
    /// Raised by whatever may change what is restored.
    private(set) var version = 0

    /// Somebody who keeps shares, with his key.
    struct Holder {
        let name: HolderName
        let privateKey: SharedSecret
        let publicKey: [UInt8]
    }

    /// A split whose files were handed out.
    struct Split {
        let manifest: Manifest
        let files: [[UInt8]]
        var isConfirmed = false
    }

    /// A restoration that was begun, for the phrase of one wallet.
    struct Restoration {
        enum Belief {
            case open
            case over
            /// It is being used, or nobody knows what became of that.
            case unsure
        }

        let description: RestorationDescription
        var belief = Belief.open
        /// The split that it is for, once it is for one.
        var split: SplitID?
        var version = 0
    }

    /// What is believed of one identity in the namespace of restored wallets.
    struct Restored {
        var isThere = false
        /// Attempts of which nobody knows what became.
        var open = 0
    }

    init() throws {
        holders = try ["alice", "bob", "carol"].enumerated().map { number, text in
            guard let name = HolderName(text) else {
                preconditionFailure("a name of the simulation is well-formed")
            }
            let key = [UInt8](repeating: UInt8(number + 1), count: Ed25519.seedBytes)
            let privateKey = SharedSecret(SecretBytes(copying: key))
            return Holder(
                name: name, privateKey: privateKey,
                publicKey: try Ed25519.publicKey(seed: privateKey.bytes))
        }
    }

    /// The holder who is to be taken in next; nil where all are.
    var next: Holder? { holders.first { !added.contains($0.name) } }

    // MARK: Splits

    func note(_ manifest: Manifest, _ files: [[UInt8]]) {
        splits[manifest.split] = Split(manifest: manifest, files: files)
    }

    func confirm(_ split: SplitID) { splits[split]?.isConfirmed = true }

    /// The splits that were told to be confirmed.
    var confirmed: Set<SplitID> { Set(splits.filter(\.value.isConfirmed).keys) }

    /// The names of all splits, in an order that repeats.
    var splitNames: [SplitID] { splits.keys.sorted { $0.text < $1.text } }

    /// What the holders do with their files.
    func release(
        _ split: Split, for restoration: RestorationDescription, _ random: SeededRandom
    ) -> [[UInt8]] {
        zip(split.files, holders).compactMap { file, holder in
            try? ShareFile(file).release(
                privateKey: holder.privateKey.bytes, for: restoration.restoration.bytes,
                publicKey: restoration.publicKey, random: random
            ).bytes
        }
    }

    // MARK: Restorations

    func note(_ restoration: RestorationDescription) {
        restorations[restoration.restoration] = Restoration(description: restoration)
    }

    /// Those that can be used, in an order that repeats.
    var usable: [RestorationID] {
        restorations.filter { $0.value.belief != .over }.keys.sorted { $0.text < $1.text }
    }

    func believe(_ belief: Restoration.Belief, of restoration: RestorationID) {
        restorations[restoration]?.belief = belief
        restorations[restoration]?.version += 1
    }

    /// A restoration begins to be used, for a split from then on.
    func use(_ restoration: RestorationID, for split: Split) {
        restorations[restoration]?.split = split.manifest.split
        believe(.unsure, of: restoration)
        version += 1
        restored[split.manifest.wallet.identity, default: Restored()].open += 1
    }

    /// It is known what came of a use.
    func end(_ restoration: RestorationID, for split: Split, installed: Bool) {
        version += 1
        restored[split.manifest.wallet.identity]?.open -= 1
        guard installed else { return }
        restored[split.manifest.wallet.identity]?.isThere = true
        believe(.over, of: restoration)
    }
}
