internal import Crypto
public import Secrets
internal import Wire

/// One share as a file: an envelope, and in clear what a person has to know about it.
///
/// A file is sealed for its holder, or released: sealed by the holder for the key of a restoration.
/// It has one form only, and a code under the envelope's key covers all of it, so that the owner of
/// the key that it is meant for notices any change. The digests of all three shares stand in each
/// of them: three files that agree in ``split`` and open are the shares that were handed out.
public struct ShareFile: Equatable, Sendable {
    /// No file is longer.
    public static let byteCountMax = 2_048
    /// Bytes of the name of a split and of a restoration.
    public static let nameBytes = 16

    /// What the three files of a split say alike.
    public let split: ShareFacts
    /// Which of the three this is, from 0.
    public let index: Int
    /// What the owner calls the holder: 1 to 64 of `A-Z a-z 0-9 . _ -`.
    public let holder: String
    /// The Ed25519 public key that the envelope is sealed for, 32 bytes.
    public let recipient: [UInt8]
    /// The restoration that the share was released for, 16 bytes; nil while it is sealed for its
    /// holder.
    public let restoration: [UInt8]?
    /// Holds a payload of ``ShareSplit/payloadBytes``.
    public let envelope: ShareEnvelope
    /// The code under the envelope's key, 32 bytes.
    let mac: [UInt8]

    /// Splits a phrase's block among three holders, in their order.
    ///
    /// Throws ``ShareFileError/notThreeHolders``, ``ShareFileError/invalidKey`` for a holder's key
    /// that is none, and ``ShareFileError/invalid`` for a block that ``PhraseBlock`` would not read
    /// or facts that are out of form.
    public static func split(
        _ block: borrowing SecretBytes, id: [UInt8], wallet: ShareFacts.Wallet, made: UInt64,
        among holders: [ShareHolder], random: some RandomSource
    ) throws(ShareFileError) -> [ShareFile] {
        try check(holders)
        let payloads: [SharedSecret]
        do throws(ShareError) {
            payloads = try ShareSplit.split(block, random: random)
        } catch {
            throw ShareFileError(making: error)
        }
        let digests = payloads.enumerated().map { index, payload in
            ShareDigest.digest(of: payload.bytes, index: index, split: id)
        }
        let facts = ShareFacts(id: id, wallet: wallet, made: made, digests: digests)
        var files: [ShareFile] = []
        for (index, holder) in holders.enumerated() {
            let head = Head(
                split: facts, index: index, holder: holder.name, recipient: holder.publicKey,
                restoration: nil)
            files.append(try ShareFile(sealing: payloads[index].bytes, under: head, random: random))
        }
        guard Set(files.map(\.envelope.ephemeralKey)).count == files.count else { throw .failed }
        return files
    }

    /// Whether a phrase can be split among these, as far as their keys say.
    ///
    /// Throws ``ShareFileError/notThreeHolders`` or ``ShareFileError/invalidKey``.
    public static func check(_ holders: [ShareHolder]) throws(ShareFileError) {
        do throws(ShareError) {
            try ShareEnvelope.check(holders.map(\.publicKey))
        } catch {
            throw ShareFileError(making: error)
        }
    }

    /// The share, released by its holder for the key of a restoration.
    ///
    /// Throws what ``payload(privateKey:)`` throws, ``ShareFileError/released`` for a share that is
    /// not the holder's any more, and ``ShareFileError/invalidKey`` for a restoration's key that is
    /// none.
    public func release(
        privateKey: borrowing SecretBytes, for restoration: [UInt8], publicKey: [UInt8],
        random: some RandomSource
    ) throws(ShareFileError) -> ShareFile {
        guard self.restoration == nil else { throw .released }
        let payload = try payload(privateKey: privateKey)
        let head = Head(
            split: split, index: index, holder: holder, recipient: publicKey,
            restoration: restoration)
        return try ShareFile(sealing: payload.bytes, under: head, random: random)
    }

    /// The payload of a share that was released for this restoration.
    ///
    /// Throws what ``payload(privateKey:)`` throws, and ``ShareFileError/sealed``.
    public func releasedPayload(
        privateKey: borrowing SecretBytes, restoration: [UInt8]
    ) throws(ShareFileError) -> SharedSecret {
        guard let released = self.restoration else { throw .sealed }
        guard released == restoration else { throw .otherRecipient }
        return try payload(privateKey: privateKey)
    }

    /// The payload of ``ShareSplit/payloadBytes``, for the owner of the key that the file is meant
    /// for, after all that can be checked was checked.
    ///
    /// Throws ``ShareFileError/damaged``, ``ShareFileError/otherRecipient``,
    /// ``ShareFileError/wrong`` or, for a private key that is not 32 bytes,
    /// ``ShareFileError/invalidKey``.
    public func payload(privateKey: borrowing SecretBytes) throws(ShareFileError) -> SharedSecret {
        guard privateKey.count == Ed25519.seedBytes else { throw .invalidKey }
        let isMeantForKey = try Self.publicKey(of: privateKey) == recipient
        let key = try messageKey(privateKey)
        guard let payload = try? envelope.open(key: key) else {
            throw isMeantForKey ? .damaged : .otherRecipient
        }
        let code = try Self.mac(over: head, envelope, key)
        guard isMeantForKey, ConstantTime.equal(code, mac) else { throw .damaged }
        let digest = ShareDigest.digest(of: payload, index: index, split: split.id)
        guard payload.count == ShareSplit.payloadBytes,
            ConstantTime.equal(digest, split.digests[index])
        else { throw .wrong }
        return SharedSecret(payload)
    }

    private static func publicKey(
        of privateKey: borrowing SecretBytes
    ) throws(ShareFileError) -> [UInt8] {
        do throws(CryptoError) {
            return try Ed25519.publicKey(seed: privateKey)
        } catch {
            throw .failed
        }
    }

    /// The key of the envelope's message, for the owner of the private key.
    private func messageKey(
        _ privateKey: borrowing SecretBytes
    ) throws(ShareFileError) -> MessageKey {
        do throws(ShareError) {
            return try MessageKey(privateKey: privateKey, publicKey: envelope.ephemeralKey)
        } catch {
            throw error == .failed ? .failed : .damaged
        }
    }
}

/// What the three files of a split say alike.
public struct ShareFacts: Equatable, Sendable {
    /// Names the split, 16 bytes.
    public var id: [UInt8]
    public var wallet: Wallet
    /// When it was made, in seconds since 1970, below 2^53.
    public var made: UInt64
    /// SHA-256 of each share with split and place, in the order of the places.
    public var digests: [[UInt8]]

    /// Whose phrase it is.
    public struct Wallet: Equatable, Sendable {
        /// A name of 1 to 64 of `A-Z a-z 0-9 . _ -`.
        public var kind: String
        /// Nil for kinds without one; else a name as the kind.
        public var network: String?
        /// 1 to 64 bytes; what they are, the kind says.
        public var identity: [UInt8]
        /// Words of the phrase, 1 to 108.
        public var words: Int

        public init(kind: String, network: String?, identity: [UInt8], words: Int) {
            self.kind = kind
            self.network = network
            self.identity = identity
            self.words = words
        }
    }

    public init(id: [UInt8], wallet: Wallet, made: UInt64, digests: [[UInt8]]) {
        self.id = id
        self.wallet = wallet
        self.made = made
        self.digests = digests
    }
}

/// Somebody to whom a share goes.
public struct ShareHolder: Equatable, Sendable {
    /// 1 to 64 of `A-Z a-z 0-9 . _ -`.
    public var name: String
    /// Ed25519, 32 bytes.
    public var publicKey: [UInt8]

    public init(name: String, publicKey: [UInt8]) {
        self.name = name
        self.publicKey = publicKey
    }
}

/// What a share answers to, without telling anything of it.
enum ShareDigest {
    private static let label = Array("coffer.share.digest.v1".utf8)

    static func digest(
        of payload: borrowing SecretBytes, index: Int, split: [UInt8]
    ) -> [UInt8] {
        let head = label + split + [UInt8(truncatingIfNeeded: index)]
        let message = SecretBytes(count: head.count + payload.count) { target in
            target.copyBytes(from: head)
            payload.withBytes { tail(of: target, from: head.count).copyMemory(from: $0) }
        }
        return SHA256.digest(of: message).withBytes { Array($0) }
    }
}

// MARK: Sealing

extension ShareFile {
    /// All that stands in a file before its envelope.
    struct Head: Equatable {
        var split: ShareFacts
        var index: Int
        var holder: String
        var recipient: [UInt8]
        var restoration: [UInt8]?

        var isInForm: Bool {
            let wallet = split.wallet
            return split.id.count == nameBytes && split.made < 1 << 53
                && split.digests.count == ShareSplit.shareCount
                && split.digests.allSatisfy { $0.count == SHA256.byteCount }
                && split.digests.indices.contains(index)
                && ([holder, wallet.kind, wallet.network ?? wallet.kind])
                    .allSatisfy(NameRule.accepts)
                && 1...64 ~= wallet.identity.count
                && 1...(PhraseBlock.byteCount + 1) / 2 ~= wallet.words
                && recipient.count == Ed25519.publicKeyBytes
                && (restoration?.count ?? nameBytes) == nameBytes
        }
    }

    var head: Head {
        Head(
            split: split, index: index, holder: holder, recipient: recipient,
            restoration: restoration)
    }

    init(_ head: Head, envelope: ShareEnvelope, mac: [UInt8]) {
        split = head.split
        index = head.index
        holder = head.holder
        recipient = head.recipient
        restoration = head.restoration
        self.envelope = envelope
        self.mac = mac
    }

    /// A payload, sealed for the recipient that the head names.
    init(
        sealing payload: borrowing SecretBytes, under head: Head, random: some RandomSource
    ) throws(ShareFileError) {
        guard head.isInForm, payload.count == ShareSplit.payloadBytes else { throw .invalid }
        let sealed = try Self.sealed(payload, to: head.recipient, random: random)
        let mac = try Self.mac(over: head, sealed.envelope, sealed.key)
        self.init(head, envelope: sealed.envelope, mac: mac)
    }

    private static func sealed(
        _ payload: borrowing SecretBytes, to recipient: [UInt8], random: some RandomSource
    ) throws(ShareFileError) -> ShareEnvelope.Sealed {
        do throws(ShareError) {
            return try ShareEnvelope.sealed(payload, to: recipient, random: random)
        } catch {
            throw ShareFileError(making: error)
        }
    }

    /// Over the document from its first byte to the last one before the comma and the code.
    private static func mac(
        over head: Head, _ envelope: ShareEnvelope, _ key: borrowing MessageKey
    ) throws(ShareFileError) -> [UInt8] {
        do throws(CryptoError) {
            let macKey = try HKDF.sha256(
                key: key.bytes, salt: [], info: Array("coffer.share.file.v1".utf8), count: 32)
            return HMAC.sha256(key: macKey, message: document(head, envelope))
                .withBytes { Array($0) }
        } catch {
            throw .failed
        }
    }
}

extension ShareFileError {
    /// What went wrong while a file was made.
    init(making error: ShareError) {
        self =
            switch error {
            case .wrongCount, .repeatedHolder: .notThreeHolders
            case .invalidKey: .invalidKey
            case .failed: .failed
            default: .invalid
            }
    }
}
