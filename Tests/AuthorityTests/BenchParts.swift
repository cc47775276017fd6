import AuthorityMessages
import Clocks
import Crypto
import LimiterCore
import Loop
import Secrets
import Serving
import Storage
import TestKit
import Wire

@testable import AuthorityCore

/// Who the tests speak as.
enum Peer: UInt8, CaseIterable {
    case app = 1
    case otherApp
    case `extension`
    case vault
    case shares
    case migration
    case `operator`
    case authority

    var key: PeerKey { PeerKey([UInt8](repeating: rawValue, count: 32)) ?? fail() }

    /// As its entry has it.
    var name: String { "\(self)" }

    var role: Role {
        switch self {
        case .app, .otherApp: .app
        case .extension: .extension
        case .vault: .service(.walletVault)
        case .shares: .service(.backupShares)
        case .migration: .service(.migration)
        case .operator: .operator
        case .authority: .service(.credentialAuthority)
        }
    }
}

/// Admits the peers of the tests, for every owner.
final class PeerTable: PeerDirectory, @unchecked Sendable {
    // Safe to send: tests change it from the loop alone.
    var mayDestroy = true

    func entry(for key: PeerKey) -> PeerEntry? {
        guard let peer = Peer.allCases.first(where: { $0.key == key }) else { return nil }
        return PeerEntry(
            name: peer.name, key: key, role: peer.role, owners: .all, mayDestroy: mayDestroy)
    }
}

/// A service behind its host; replies wait in a table.
@ServiceLoop
final class Node<S: Service>: ReplyPort {
    let service: S
    let group: CommitGroup
    let metrics: MetricsRegistry
    private(set) var replies: [UInt64: ReplyFrames] = [:]
    private var waiting: [UInt64: CheckedContinuation<ReplyFrames, Never>] = [:]
    private var host: ServiceHost<S>?
    private var lastID: UInt64 = 0
    private var sent = 0

    init(
        _ service: S, group: CommitGroup, metrics: MetricsRegistry, clock: any BootClock,
        peers: any PeerDirectory
    ) {
        self.service = service
        self.group = group
        self.metrics = metrics
        host = ServiceHost(
            service, group: group, peers: peers, clock: clock, port: self, metrics: metrics,
            version: "0")
    }

    func nextID() -> UInt64 {
        lastID += 1
        return lastID
    }

    func receive(_ frames: RequestFrames, id: UInt64, from peer: PeerKey) {
        let route = withUnsafeBytes(of: id) { Array($0) }
        host?.receive(
            route: route, peer: peer, header: frames.header, content: .success(frames))
    }

    func send(_ reply: ReplyFrames, to route: [UInt8]) {
        sent += 1
        let id = route.withUnsafeBytes { $0.loadUnaligned(as: UInt64.self) }
        if let continuation = waiting.removeValue(forKey: id) {
            continuation.resume(returning: reply)
        } else {
            replies[id] = reply
        }
    }

    /// The reply to what was received under this id.
    func reply(to id: UInt64) async -> ReplyFrames {
        if let reply = replies.removeValue(forKey: id) { return reply }
        return await withCheckedContinuation { waiting[id] = $0 }
    }

    /// Ends a turn.
    ///
    /// - Returns: whether there was something to commit or to send.
    @discardableResult
    func endTurn() throws -> Bool {
        let sentBefore = sent
        let hadBatch = group.store.hasOpenBatch
        try host?.endTurn()
        return hadBatch || sent > sentBefore
    }
}

/// The authority's way to the limiter, which can be cut in every place.
@ServiceLoop
final class LimiterWay: FramePort {
    /// What happens to an exchange.
    enum Mishap: CaseIterable {
        /// The limiter never sees the request.
        case lostRequest
        /// The limiter does what was asked, and the answer is lost.
        case lostReply
    }

    var node: Node<LimiterService>
    /// What happens to the next exchanges of a method.
    var mishaps: [(method: String, mishap: Mishap)] = []
    /// Whether nothing comes back any more, as for one who was killed.
    var isCut = false
    /// A method whose answers wait, so that a test can do something in between.
    var heldMethod: String?
    /// A method whose requests wait on their way, so that the limiter sees others first.
    var lateMethod: String?
    /// The methods that were asked, in order.
    private(set) var asked: [String] = []
    private var late: [CheckedContinuation<Void, Never>] = []
    private var held: [CheckedContinuation<Void, Never>] = []
    private var dropped: [CheckedContinuation<Void, Never>] = []

    init(to node: Node<LimiterService>) { self.node = node }

    func exchange(
        _ frames: RequestFrames, id: UInt64, timeoutMilliseconds: UInt64
    ) async throws(BusFault) -> ReplyFrames {
        guard let method = try? RequestHeader(decoding: frames.header).method else {
            throw .malformed
        }
        asked.append(method)
        let mishap = takeMishap(method)
        guard mishap != .lostRequest else { throw .unreachable }
        if lateMethod == method { await withCheckedContinuation { late.append($0) } }
        let number = node.nextID()
        node.receive(frames, id: number, from: Peer.authority.key)
        let reply = await node.reply(to: number)
        if heldMethod == method { await withCheckedContinuation { held.append($0) } }
        // Whoever asked is gone, and nobody reads the answer.
        if isCut { await withCheckedContinuation { dropped.append($0) } }
        guard mishap != .lostReply else { throw .lost }
        return reply
    }

    private func takeMishap(_ method: String) -> Mishap? {
        guard let index = mishaps.firstIndex(where: { $0.method == method }) else { return nil }
        return mishaps.remove(at: index).mishap
    }

    var lateCount: Int { late.count }
    var heldCount: Int { held.count }

    /// Lets late requests reach the limiter.
    func letArrive() {
        lateMethod = nil
        let waiting = late
        late = []
        for continuation in waiting { continuation.resume() }
    }

    func letGo() {
        heldMethod = nil
        let waiting = held
        held = []
        for continuation in waiting { continuation.resume() }
    }
}

/// A derivation that costs nothing, and that a test can hold up.
@ServiceLoop
final class CheapKDF: PasscodeKDF {
    private(set) var runs = 0
    var isHeld = false
    private var held: [CheckedContinuation<Void, Never>] = []

    func derive(
        password: SharedSecret, salt: [UInt8], iterations: Int
    ) async -> SharedSecret {
        runs += 1
        if isHeld { await withCheckedContinuation { held.append($0) } }
        return SharedSecret(
            HMAC.sha256(key: password.bytes, message: salt + Array(String(iterations).utf8)))
    }

    var heldCount: Int { held.count }

    /// Lets the derivation that began last come to its end.
    func letLastGo() { held.popLast()?.resume() }

    func letGo() {
        isHeld = false
        let waiting = held
        held = []
        for continuation in waiting { continuation.resume() }
    }
}

/// A date that stands still.
struct FixedWallClock: WallClock {
    let milliseconds: UInt64 = 1_700_000_000_000
}

@ServiceLoop
final class EventLog: EventPort {
    private(set) var events: [SessionEvent] = []

    func publish(_ event: SessionEvent) { events.append(event) }
}
