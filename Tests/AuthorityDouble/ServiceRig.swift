public import Loop
public import Secrets
public import Serving
public import TestKit
public import Wire

/// A service in one process, as tests ask it: requests go in, and their answers are there when the
/// turns are over.
@ServiceLoop
public protocol ServiceRig: AnyObject {
    associatedtype Tested: Service

    /// Nil while the service is killed.
    var host: ServiceHost<Tested>? { get }
    var replies: ReplyBox { get }
    var random: SeededRandom { get }
    /// Who asks, where a test does not say.
    var app: PeerEntry { get }
    /// For whom, where a test does not say.
    var owner: Owner { get }

    /// Runs turns until nothing is under way.
    func finish() async throws
}

extension ServiceRig {
    /// Puts a request on the loop; its answer is there after ``finish()``.
    public func send<R: Request>(
        _ request: R, from peer: PeerEntry? = nil, owner: Owner? = nil, token: [UInt8] = [],
        attachments: [SharedSecret] = [], key: IdempotencyKey? = nil, timeout: UInt64 = 5_000
    ) -> UInt64 {
        let id = replies.newID()
        let frames = RequestFrames(
            request, id: id,
            options: CallOptions(
                owner: owner ?? self.owner, token: token, timeoutMilliseconds: timeout,
                idempotency: R.kind == .change ? key ?? newKey() : nil),
            attachments: attachments)
        host?.receive(
            route: [UInt8(truncatingIfNeeded: id)], peer: (peer ?? app).key,
            header: frames.header, content: .success(frames))
        return id
    }

    public func newKey() -> IdempotencyKey {
        guard let key = IdempotencyKey(random.bytes(IdempotencyKey.byteCount)) else {
            preconditionFailure("a key has as many bytes as it has")
        }
        return key
    }

    public func hasAnswer(to id: UInt64) -> Bool { replies[id] != nil }

    public func answer<R: Request>(to id: UInt64, _ type: R.Type) throws -> Answer<R> {
        guard let reply = replies[id] else { throw NoAnswer() }
        return try reply.answer(to: R.self)
    }

    /// Asks and waits for the answer.
    @discardableResult
    public func ask<R: Request>(
        _ request: R, from peer: PeerEntry? = nil, owner: Owner? = nil, token: [UInt8] = [],
        attachments: [SharedSecret] = [], key: IdempotencyKey? = nil
    ) async throws -> Answer<R> {
        let id = send(
            request, from: peer, owner: owner, token: token, attachments: attachments, key: key)
        try await finish()
        return try answer(to: id, R.self)
    }

    /// The code of the refusal, or `ok`.
    public func refusal<R: Request>(
        _ request: R, from peer: PeerEntry? = nil, owner: Owner? = nil, token: [UInt8] = [],
        attachments: [SharedSecret] = [], key: IdempotencyKey? = nil
    ) async throws -> String {
        do {
            try await ask(
                request, from: peer, owner: owner, token: token, attachments: attachments,
                key: key)
            return "ok"
        } catch let refusal as Refusal {
            return refusal.code
        }
    }
}

/// What a host answered, by the number of the request.
@ServiceLoop
public final class ReplyBox: ReplyPort {
    private var replies: [UInt64: ReplyFrames] = [:]
    private var lastID: UInt64 = 0

    public init() {}

    public func send(_ reply: ReplyFrames, to route: [UInt8]) {
        guard let header = try? ReplyHeader(decoding: reply.header) else { return }
        replies[header.id] = reply
    }

    func newID() -> UInt64 {
        lastID += 1
        return lastID
    }

    subscript(id: UInt64) -> ReplyFrames? { replies[id] }
}

/// No answer came to a request.
struct NoAnswer: Error {}

/// The peers of a test.
public struct KnownPeers: PeerDirectory {
    private let entries: [PeerKey: PeerEntry]

    public init(_ entries: [PeerEntry]) {
        self.entries = Dictionary(uniqueKeysWithValues: entries.map { ($0.key, $0) })
    }

    public func entry(for key: PeerKey) -> PeerEntry? { entries[key] }
}

extension PeerEntry {
    /// A peer of a test, who may speak for every owner; a number is one peer.
    public init(
        number: UInt8, _ role: Role, mayDestroy: Bool = false
    ) throws {
        guard let key = PeerKey([UInt8](repeating: number, count: 32)) else {
            throw BusFault.internalError
        }
        self.init(
            name: "peer \(number)", key: key, role: role, owners: .all, mayDestroy: mayDestroy)
    }
}
