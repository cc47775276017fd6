import Crypto
import Secrets
import TestKit
import Testing
import Wire

@testable import BackupShares

@Suite struct ShareFileRules {
    private let client = Result { try KeyPair(number: 9) }

    // MARK: The way of a share

    @Test(arguments: [Phrases.about, Phrases.longest, "été forêt"])
    func aPhraseComesBackThroughHoldersAndRestoration(_ phrase: String) throws {
        let split = try SplitFiles(phrase)
        let client = try client.get()
        var payloads: [SharedSecret] = []
        for (file, holder) in zip(split.files, split.holders) {
            let handed = try ShareFile(file.bytes)
            #expect(handed == file)
            let released = try ShareFile(
                handed.release(
                    privateKey: holder.privateKey.bytes, for: Names.restoration,
                    publicKey: client.publicKey, random: KernelRandom()
                ).bytes)
            #expect(released.split == file.split)
            #expect(released.holder == file.holder)
            #expect(released.index == file.index)
            #expect(released.recipient == client.publicKey)
            #expect(released.restoration == Names.restoration)
            payloads.append(
                try released.releasedPayload(
                    privateKey: client.privateKey.bytes, restoration: Names.restoration))
        }
        #expect(try PhraseBlock.decode(ShareSplit.combine(payloads)).text == phrase)
    }

    @Test func theThreeSayAlikeWhatIsOfTheirSplit() throws {
        let files = try SplitFiles().files
        #expect(files.map(\.index) == [0, 1, 2])
        #expect(files.map(\.holder) == ["anna", "bert", "carl"])
        #expect(files.allSatisfy { $0.split == files[0].split && $0.restoration == nil })
        #expect(Set(files[0].split.digests).count == 3)
        #expect(Set(files.map(\.envelope.ephemeralKey)).count == 3)
        #expect(files.allSatisfy { $0.envelope.bytes.count == 288 })
    }

    @Test func aReleaseHasAnEphemeralKeyOfItsOwn() throws {
        let split = try SplitFiles()
        let keys = try (0..<20).map { _ in
            try split.released(0, for: client.get()).envelope.ephemeralKey
        }
        #expect(Set(keys).count == 20)
    }

    /// What was handed out once has to open for ever.
    @Test func earlierFilesAreRead() throws {
        let texts = [KnownShareFiles.anna, KnownShareFiles.bert, KnownShareFiles.carl]
        let files = try texts.map { try ShareFile(Array($0.utf8)) }
        #expect(files.allSatisfy { $0.split == files[0].split })
        let wallet = files[0].split.wallet
        #expect(wallet.kind == "bip39" && wallet.network == nil && wallet.words == 12)
        #expect(
            hex(wallet.identity)
                == "03d902f35f560e0470c63313c7369168d9d7df2d49bf295fd9fb7cb109ccee0494")
        let payloads = try files.map { file in
            try file.payload(
                privateKey: secret(SHA256.digest(Array(file.holder.utf8))))
        }
        #expect(try PhraseBlock.decode(ShareSplit.combine(payloads)).text == Phrases.about)
    }

    // MARK: Changes

    @Test func everyBitOfASealedFileCounts() throws {
        let split = try SplitFiles()
        let key = split.holders[1].privateKey
        let whole = split.files[1].bytes
        let tried = refusals(of: whole) { changed throws(ShareFileError) in
            _ = try ShareFile(changed).payload(privateKey: key.bytes)
        }
        #expect(tried == whole.count * 8)
    }

    @Test func everyBitOfAReleasedFileCounts() throws {
        let client = try client.get()
        let whole = try SplitFiles().released(2, for: client).bytes
        let tried = refusals(of: whole) { changed throws(ShareFileError) in
            _ = try ShareFile(changed).releasedPayload(
                privateKey: client.privateKey.bytes, restoration: Names.restoration)
        }
        #expect(tried == whole.count * 8)
    }

    /// A change that only the code shows: the document stays in form.
    @Test(arguments: [
        ("bert", "berT"), ("1700000000", "1700000001"), ("\"words\":12", "\"words\":24"),
    ])
    func aChangeInFormIsDamage(_ old: String, _ new: String) throws {
        let split = try SplitFiles()
        let text = String(decoding: split.files[1].bytes, as: UTF8.self)
        let changed = try ShareFile(Array(text.replacing(old, with: new).utf8))
        #expect(changed != split.files[1])
        #expect(throws: ShareFileError.damaged) {
            _ = try changed.payload(privateKey: split.holders[1].privateKey.bytes)
        }
    }

    /// What a JSON reader would take for the same.
    @Test(
        arguments: [
            ("{\"format\"", "{ \"format\""), ("\"}", "\"} "), ("\"}", "\"}\n"),
            ("anna", "\\u0061nna"), ("\"index\":0", "\"index\":00"),
            ("\"index\":0", "\"index\":0,\"index\":0"), ("\"index\":0,", ""),
            ("\"index\":0,", "\"index\":0,\"more\":null,"), ("coffer.share.v1", "coffer.share.v2"),
            ("\"sealed\"", "\"released\""), ("\"sealed\"", "\"open\""),
            ("\"index\":0", "\"index\":3"),
            ("\"index\":0", "\"index\":-1"), ("anna", ""), ("anna", "an na"),
            ("\"words\":12", "\"words\":0"), ("\"words\":12", "\"words\":109"),
            ("1700000000", "9007199254740992"), ("mainnet", ""),
        ])
    func thereIsOneFormOnly(_ old: String, _ new: String) throws {
        let text = String(decoding: try SplitFiles().files[0].bytes, as: UTF8.self)
        let changed = text.replacing(old, with: new)
        #expect(changed != text)
        #expect(throws: ShareFileError.damaged) { _ = try ShareFile(Array(changed.utf8)) }
    }

    @Test func noBytesStopTheReader() throws {
        let random = SeededRandom(seed: 31)
        let whole = try SplitFiles().files[0].bytes
        var read = 0
        for _ in 0..<20_000 {
            var bytes = whole
            for _ in 0...random.number(in: 0...2) {
                let place = random.number(in: 0...(bytes.count - 1))
                switch random.number(in: 0...3) {
                case 0: bytes.remove(at: place)
                case 1: bytes.insert(random.bytes(1)[0], at: place)
                default: bytes[place] = UInt8(random.number(in: 0x22...0x7d))
                }
            }
            guard let file = try? ShareFile(bytes) else { continue }
            read += 1
            #expect(file.bytes == bytes)
        }
        #expect(read > 100)
        #expect(throws: ShareFileError.damaged) {
            _ = try ShareFile(whole + [UInt8](repeating: 0x20, count: 1 << 20))
        }
    }

    // MARK: Who may read it

    @Test func anotherHolderIsToldThatItIsNotForHim() throws {
        let split = try SplitFiles()
        #expect(throws: ShareFileError.otherRecipient) {
            _ = try split.files[0].payload(privateKey: split.holders[1].privateKey.bytes)
        }
    }

    @Test func aSealedFileIsNotAReleasedOne() throws {
        let split = try SplitFiles()
        let holder = split.holders[0]
        #expect(throws: ShareFileError.sealed) {
            _ = try split.files[0].releasedPayload(
                privateKey: holder.privateKey.bytes, restoration: Names.restoration)
        }
        let client = try client.get()
        #expect(throws: ShareFileError.released) {
            _ = try split.released(0, for: client).release(
                privateKey: client.privateKey.bytes, for: Names.restoration,
                publicKey: client.publicKey, random: KernelRandom())
        }
    }

    @Test func aReleaseIsForOneRestoration() throws {
        let client = try client.get()
        let released = try SplitFiles().released(0, for: client)
        #expect(throws: ShareFileError.otherRecipient) {
            _ = try released.releasedPayload(
                privateKey: client.privateKey.bytes, restoration: Names.split)
        }
        let other = try KeyPair(number: 8)
        #expect(throws: ShareFileError.otherRecipient) {
            _ = try released.releasedPayload(
                privateKey: other.privateKey.bytes, restoration: Names.restoration)
        }
    }

    /// Whoever seals another payload under a file's head makes a whole file; the digest tells.
    @Test func anotherPayloadIsNotTheShare() throws {
        let split = try SplitFiles()
        let payload = try split.files[1].payload(privateKey: split.holders[1].privateKey.bytes)
        let forged = try ShareFile(
            sealing: payload.bytes, under: split.files[0].head, random: KernelRandom())
        #expect(try ShareFile(forged.bytes) == forged)
        #expect(throws: ShareFileError.wrong) {
            _ = try forged.payload(privateKey: split.holders[0].privateKey.bytes)
        }
    }

    // MARK: What a file is made of

    @Test func aSplitHasThreeHoldersWithKeys() throws {
        let keys = try (0..<3).map { try KeyPair(number: UInt8($0)).publicKey }
        for (keys, error) in [
            ([keys[0], keys[1]], .notThreeHolders),
            ([keys[0], keys[1], keys[0]], .notThreeHolders),
            ([keys[0], keys[1], []], .invalidKey),
            ([keys[0], keys[1], [1] + [UInt8](repeating: 0, count: 31)], .invalidKey),
        ] as [([[UInt8]], ShareFileError)] {
            #expect(throws: error) { _ = try SplitFiles.files(keys: keys) }
        }
    }

    @Test func whatDoesNotFitAFileIsNotWritten() throws {
        let keys = try (0..<3).map { try KeyPair(number: UInt8($0)).publicKey }
        #expect(throws: ShareFileError.invalid) {
            _ = try SplitFiles.files(keys: keys, id: [1, 2, 3])
        }
        #expect(throws: ShareFileError.invalid) {
            _ = try SplitFiles.files(keys: keys, kind: "of \"any\" kind")
        }
        #expect(throws: ShareFileError.invalid) {
            _ = try SplitFiles.files(keys: keys, made: 1 << 53)
        }
    }

    @Test func theLongestFileHasRoom() throws {
        let long = String(repeating: "n", count: 64)
        let head = ShareFile.Head(
            split: ShareFacts(
                id: Names.split,
                wallet: ShareFacts.Wallet(
                    kind: long, network: long, identity: [UInt8](repeating: 255, count: 64),
                    words: 108),
                made: 1 << 53 - 1,
                digests: Array(repeating: [UInt8](repeating: 9, count: 32), count: 3)),
            index: 2, holder: long, recipient: try client.get().publicKey,
            restoration: Names.restoration)
        let file = try ShareFile(
            sealing: SecretBytes(count: 220), under: head, random: KernelRandom())
        #expect(try ShareFile(file.bytes) == file)
        #expect(file.bytes.count < ShareFile.byteCountMax)
    }

    // MARK: Shares of other programs

    @Test func eitherFormOfShareIsKnown() throws {
        let file = try SplitFiles().files[0]
        #expect(try ReceivedShare(file.bytes) == .file(file))
        let envelope = try Split().envelopes[0]
        #expect(
            try ReceivedShare(envelope.bytes) == .foreign(ReceivedEnvelope(envelope.bytes)))
        #expect(throws: ShareFileError.damaged) { _ = try ReceivedShare([1, 2, 3]) }
        #expect(throws: ShareFileError.damaged) { _ = try ReceivedShare(file.bytes.dropLast()) }
    }

    @Test func aForeignEnvelopeIsReleasedAsAnEnvelope() throws {
        let split = try Split()
        let client = try client.get()
        let wrapped = try ReceivedEnvelope(Wrapper.encode(split.envelopes[0], index: 0))
        let released = try wrapped.release(
            privateKey: split.holders[0].privateKey.bytes, publicKey: client.publicKey,
            random: KernelRandom())
        #expect(released.bytes.count == 288)
        let payload = try split.payloads()[0]
        #expect(
            try released.open(privateKey: client.privateKey.bytes).isEqual(to: payload.bytes))
        #expect(throws: ShareError.authenticationFailed) {
            _ = try wrapped.release(
                privateKey: client.privateKey.bytes, publicKey: client.publicKey,
                random: KernelRandom())
        }
    }

    /// How many single flipped bits were refused; the unchanged file has to be read.
    private func refusals(
        of whole: [UInt8], _ read: ([UInt8]) throws(ShareFileError) -> Void
    ) -> Int {
        #expect(throws: Never.self) { try read(whole) }
        var refused = 0
        for bit in 0..<whole.count * 8 {
            var changed = whole
            changed[bit / 8] ^= 1 << UInt8(bit % 8)
            do {
                try read(changed)
                Issue.record("bit \(bit) plays no part")
            } catch {
                refused += 1
            }
        }
        return refused
    }
}
