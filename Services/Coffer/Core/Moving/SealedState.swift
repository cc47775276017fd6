internal import Crypto
internal import Secrets

/// The form of a state export: a head, and after it a stream in sealed chunks.
///
/// Chunks are those of the STREAM construction (Hoang, Reyhanitabar, Rogaway, Vizár, 2015): each
/// nonce has the chunk's number and whether it is the last, so that a chunk that is changed, moved,
/// left out or cut off is noticed. The head is bound to each of them. `docs/formats.md` has the
/// bytes.
enum SealedState {
    /// Why a file gives no state.
    enum Fault: Error, Equatable {
        /// It does not begin as an export does.
        case otherFile
        /// The first chunk does not open: the passphrase is another one, or head or chunk were
        /// changed.
        case wrongPassphrase
        /// A later chunk does not open, bytes are missing, or too many are there.
        case damaged
        /// Its manifest is one of a newer release.
        case newerRelease
    }

    static let magic = Array("coffer.state.v1\n".utf8)
    static let saltBytes = 32
    static let headBytes = magic.count + saltBytes
    /// What one chunk holds at most; all but the last are full.
    static let chunkBytes = 65_536

    /// 128 MiB for each guess.
    static let cost = Scrypt.Cost(rounds: 1 << 17, blockSize: 8, lanes: 1)

    static func key(
        passphrase: borrowing SecretBytes, salt: [UInt8]
    ) throws(CryptoError) -> SecretBytes {
        try Scrypt.key(
            passphrase: passphrase, salt: salt, cost: cost, count: AESGCM.keyBytes)
    }

    /// Three zero bytes, the chunk's number in eight, most significant first, and 1 for the last.
    static func nonce(_ number: UInt64, isLast: Bool) -> [UInt8] {
        [0, 0, 0] + (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * $0)) }
            + [isLast ? 1 : 0]
    }
}

/// Seals a stream.
struct StateSealer: ~Copyable {
    private let head: [UInt8]
    private let key: SecretBytes
    private let sink: (UnsafeRawBufferPointer) throws -> Void
    private var chunk = SecretBytes(count: SealedState.chunkBytes)
    private var filled = 0
    private var number: UInt64 = 0

    /// Hands the head to the sink.
    ///
    /// - Parameter key: of this salt and of no other stream.
    init(
        salt: [UInt8], key: consuming SecretBytes,
        sink: @escaping (UnsafeRawBufferPointer) throws -> Void
    ) throws {
        head = SealedState.magic + salt
        self.key = key
        self.sink = sink
        try head.withUnsafeBytes { try sink($0) }
    }

    mutating func append(_ bytes: UnsafeRawBufferPointer) throws {
        var rest = bytes
        while !rest.isEmpty {
            // A full chunk waits until it is known not to be the last.
            if filled == SealedState.chunkBytes { try seal(isLast: false) }
            let count = min(rest.count, SealedState.chunkBytes - filled)
            let start = filled
            chunk.withMutableBytes { target in
                UnsafeMutableRawBufferPointer(rebasing: target[start..<start + count])
                    .copyMemory(from: UnsafeRawBufferPointer(rebasing: rest[..<count]))
            }
            filled += count
            rest = UnsafeRawBufferPointer(rebasing: rest[count...])
        }
    }

    /// Seals what is left, and with it the end.
    mutating func finish() throws { try seal(isLast: true) }

    private mutating func seal(isLast: Bool) throws {
        let box = try AESGCM.seal(
            chunk.slice(0..<filled), key: key,
            nonce: SealedState.nonce(number, isLast: isLast), aad: head)
        // Number and last say what the nonce is.
        try box.withUnsafeBytes {
            try sink(UnsafeRawBufferPointer(rebasing: $0[AESGCM.nonceBytes...]))
        }
        number += 1
        filled = 0
    }
}

/// Opens a sealed stream; what it hands out was sealed so, in this order.
struct StateOpener: ~Copyable {
    private let head: [UInt8]
    private let key: SecretBytes
    /// Reads so many bytes, fewer only where the file ends.
    private let source: (Int) throws -> [UInt8]
    private var ahead: [UInt8] = []
    private var chunk = SecretBytes(count: 0)
    private var used = 0
    private var number: UInt64 = 0
    private var isOver = false

    /// - Parameters:
    ///   - head: the file's first ``SealedState/headBytes`` bytes.
    ///   - source: the bytes after them.
    init(
        head: [UInt8], key: consuming SecretBytes, source: @escaping (Int) throws -> [UInt8]
    ) {
        self.head = head
        self.key = key
        self.source = source
    }

    /// The salt in a head.
    static func salt(of head: [UInt8]) throws(SealedState.Fault) -> [UInt8] {
        guard head.count == SealedState.headBytes, head.starts(with: SealedState.magic) else {
            throw .otherFile
        }
        return Array(head[SealedState.magic.count...])
    }

    /// The next bytes, as many as are at hand, at least one and at most `limit`.
    ///
    /// Throws ``SealedState/Fault/damaged`` where nothing is left.
    mutating func next(limit: Int) throws -> SecretBytes {
        while used == chunk.count {
            guard !isOver else { throw SealedState.Fault.damaged }
            try open()
        }
        let end = min(chunk.count, used + limit)
        defer { used = end }
        return chunk.slice(used..<end)
    }

    /// Exactly so many of the next bytes.
    mutating func take(_ count: Int) throws -> SecretBytes {
        var taken = SecretBytes(count: count)
        var filled = 0
        while filled < count {
            let piece = try next(limit: count - filled)
            let start = filled
            taken.withMutableBytes { target in
                piece.withBytes { piece in
                    UnsafeMutableRawBufferPointer(rebasing: target[start..<start + piece.count])
                        .copyMemory(from: piece)
                }
            }
            filled += piece.count
        }
        return taken
    }

    /// Throws unless the stream is over, with its mark of the end.
    mutating func finish() throws {
        while used == chunk.count, !isOver { try open() }
        guard used == chunk.count else { throw SealedState.Fault.damaged }
    }

    private mutating func open() throws {
        let full = SealedState.chunkBytes + AESGCM.tagBytes
        // One byte more tells whether another chunk follows.
        let bytes = try ahead + source(full + 1 - ahead.count)
        let sealed = bytes.prefix(full)
        ahead = Array(bytes.dropFirst(full))
        isOver = ahead.isEmpty
        guard sealed.count >= AESGCM.tagBytes else { throw SealedState.Fault.damaged }
        do {
            chunk = try AESGCM.open(
                SealedState.nonce(number, isLast: isOver) + sealed, key: key, aad: head)
        } catch {
            throw number == 0 ? SealedState.Fault.wrongPassphrase : .damaged
        }
        used = 0
        number += 1
    }
}
