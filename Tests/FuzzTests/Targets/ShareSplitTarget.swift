import BackupShares
import Crypto
import Secrets

extension FuzzTarget {
    /// What is split, released and opened again; the first bytes choose what, the rest is a phrase.
    static let shareSplit = FuzzTarget(
        name: "share-split",
        seeds: {
            let phrase = Array("abandon abandon about".utf8)
            return [
                [0, 0, 0, 0] + phrase, [1, 0, 1, 12] + phrase, [2, 1, 2, 24] + phrase,
                [4, 2, 0, 12] + phrase, [8, 0, 0, 12] + phrase, [16, 0, 1, 12] + phrase,
                [32, 0, 2, 12] + phrase, [64, 1, 1, 12] + phrase, [128, 2, 0, 12] + phrase,
                [0, 3, 0, 12], [0, 0, 0, 200] + phrase, [0, 0],
            ]
        },
        run: { input in
            guard input.count >= 4,
                let block = try? PhraseBlock.encode(copy(of: input.dropFirst(4)))
            else { return }
            SplitScene(choosing: Array(input.prefix(4))).play(block)
        })

    private static func copy(of bytes: ArraySlice<UInt8>) -> SecretBytes {
        SecretBytes(copying: Array(bytes))
    }
}

/// One split and what is done with it, as four bytes choose.
private struct SplitScene {
    /// Seeds of the holders' keys and of the restoration's.
    static let seeds = (1...4).map { [UInt8](repeating: $0, count: Ed25519.seedBytes) }
    static let keys = seeds.map { seed in
        must { try Ed25519.publicKey(seed: SecretBytes(copying: seed)) }
    }
    static let restoration = [UInt8](repeating: 0x22, count: ShareFile.nameBytes)

    let choices: [UInt8]

    init(choosing choices: [UInt8]) { self.choices = choices }

    private func chose(_ bit: UInt8) -> Bool { choices[0] & bit != 0 }

    /// Whose share is looked at closely.
    private var place: Int { Int(choices[1] % 3) }

    /// What can be wrong with holders or facts: each of them alone keeps a split from being made.
    private var isInForm: Bool {
        !(chose(1) || chose(2) || chose(4) || chose(8) || chose(16)) && 1...108 ~= choices[3]
    }

    private var holders: [ShareHolder] {
        var holders = (0..<3).map { ShareHolder(name: "holder-\($0)", publicKey: Self.keys[$0]) }
        if chose(2) { holders[1].publicKey = holders[0].publicKey }
        if chose(4) { holders[place].publicKey.removeLast() }
        if chose(8) { holders[place].name = "no name" }
        if chose(1) { holders.removeLast() }
        return holders
    }

    func play(_ block: borrowing SecretBytes) {
        let wallet = ShareFacts.Wallet(
            kind: "dash", network: choices[2] & 1 != 0 ? "testnet" : nil, identity: [1, 2],
            words: Int(choices[3]))
        let id = [UInt8](repeating: 0x11, count: chose(16) ? 15 : ShareFile.nameBytes)
        guard
            let files = try? ShareFile.split(
                block, id: id, wallet: wallet, made: UInt64(choices[2]), among: holders,
                random: KernelRandom())
        else {
            promise(!isInForm, "a split in form was refused")
            return
        }
        promise(isInForm, "a split out of form was made")
        promise((try? ShareFile.check(holders)) != nil)
        restore(files, block)
        refuse(files[place])
        passOn(files[place].envelope)
    }

    /// All three are released, read again and combined.
    private func restore(_ files: [ShareFile], _ block: borrowing SecretBytes) {
        let payloads = files.enumerated().map { index, file in
            let released = must {
                try file.release(
                    privateKey: seed(index), for: Self.restoration, publicKey: Self.keys[3],
                    random: KernelRandom())
            }
            return must {
                try ShareFile(released.bytes).releasedPayload(
                    privateKey: seed(3), restoration: Self.restoration)
            }
        }
        let joined = must { try ShareSplit.combine(payloads) }
        promise(joined.isEqual(to: block), "another phrase was restored")
        promise((try? ShareSplit.combine(payloads.dropLast())) == nil)
    }

    /// What a file may not be used for.
    private func refuse(_ file: ShareFile) {
        let other = (place + 1) % 3
        promise((try? file.payload(privateKey: seed(other))) == nil, "another's share was opened")
        promise((try? file.payload(privateKey: SecretBytes(count: 31))) == nil)
        promise(
            (try? file.releasedPayload(privateKey: seed(place), restoration: Self.restoration))
                == nil, "a share was taken that was not released")
        let released = must {
            try file.release(
                privateKey: seed(place), for: Self.restoration, publicKey: Self.keys[3],
                random: KernelRandom())
        }
        let wrong = [UInt8](repeating: 0x23, count: ShareFile.nameBytes)
        promise(
            (try? released.releasedPayload(privateKey: seed(3), restoration: wrong)) == nil,
            "a share of another restoration was taken")
        promise(
            (try? released.release(
                privateKey: seed(3), for: wrong, publicKey: Self.keys[other],
                random: KernelRandom())) == nil,
            "a released share was released again")
        promise(
            (try? file.release(
                privateKey: seed(place), for: Self.restoration, publicKey: [0],
                random: KernelRandom())) == nil)
    }

    /// The same envelope without a file, as another program writes it.
    private func passOn(_ envelope: ShareEnvelope) {
        let received = must { try ReceivedShare(envelope.bytes) }
        guard case .foreign(let foreign) = received else { fatalError("an envelope is a file") }
        let again = must {
            try foreign.release(
                privateKey: seed(place), publicKey: Self.keys[3], random: KernelRandom())
        }
        let payload = must { try again.open(privateKey: seed(3)) }
        let first = must { try envelope.open(privateKey: seed(place)) }
        promise(payload.isEqual(to: first))
        plantedTrap(choices[2] == 77 && place == 2)
    }

    private func seed(_ index: Int) -> SecretBytes { SecretBytes(copying: Self.seeds[index]) }
}
