internal import Clocks
public import Loop
internal import Secrets
public import Wire

/// A service's or client's connection to another service, over which it makes calls.
///
/// A request leaves only when the handshake has succeeded, so one that ends as `unreachable` or
/// `unadmitted` was never sent. One that was sent ends with its reply, as `lost` when the
/// connection breaks, or as `expired` at its deadline; then it may have been carried out. After a
/// break nothing that libzmq still held is sent again.
@ServiceLoop
public final class ServiceLink {
    public private(set) var counts = LinkCounts()

    private struct Call {
        /// Nil once sent.
        var unsent: RequestFrames?
        let deadline: UInt64
        let answer: CheckedContinuation<Result<ReplyFrames, BusFault>, Never>
    }

    private let loop: BusLoop
    private let context: Context
    private let target: ClientConnection.Target
    private let settings: LinkSettings
    private var connection: ClientConnection?
    private var sources: [BusLoop.Source] = []
    private var calls: [UInt64: Call] = [:]
    /// The ids of calls that wait for the handshake, in their order.
    private var waiting: [UInt64] = []
    /// The earliest moment at which calls will be looked through; nil where none is set.
    private var sweepAt: UInt64?
    private var isClosed = false

    public init(
        loop: BusLoop, context: Context, endpoint: Endpoint, serverKey: PeerKey,
        identity: CurveKeyPair, limits: BusLimits = .init(), settings: LinkSettings = .init()
    ) {
        self.loop = loop
        self.context = context
        target = ClientConnection.Target(
            endpoint: endpoint, serverKey: serverKey, identity: identity, limits: limits)
        self.settings = settings
        connect()
    }

    /// Sends a request and waits for its reply.
    ///
    /// - Parameters:
    ///   - id: the id in the request's header; no other call of this link may have it now.
    ///   - timeoutMilliseconds: at most an hour.
    /// - Throws: `unreachable`, `unadmitted`, `busy` or `oversize` where nothing was sent;
    ///   `expired`, `lost` or `badReply` where it was.
    public func exchange(
        _ request: RequestFrames, id: UInt64, timeoutMilliseconds: UInt64
    ) async throws(BusFault) -> ReplyFrames {
        precondition(calls[id] == nil, "an id names one call")
        guard !isClosed else { throw .unreachable }
        guard calls.count < settings.callsInFlight else { throw .busy }
        guard ClientConnection.fits(request, target.limits) else { throw .oversize }
        if connection == nil { connect() }
        let now = loop.clock.now.nanoseconds
        guard connection != nil, !hasFailedTooLong(at: now) else { throw .unreachable }
        let timeout = min(timeoutMilliseconds, RequestHeader.timeoutMillisecondsLimit)
        let deadline = now + timeout * 1_000_000
        let answer = await withCheckedContinuation { answer in
            calls[id] = Call(unsent: request, deadline: deadline, answer: answer)
            waiting.append(id)
            if connection?.state.phase == .ready { sendWaiting() }
            scheduleSweep(at: deadline)
        }
        return try answer.get()
    }

    /// Ends the connection; calls under way end at once.
    public func close() {
        isClosed = true
        disconnect()
        end(unsent: .unreachable, sent: .lost)
    }

    private func connect() {
        // Where no socket can be made the next call tries again.
        guard let connection = try? ClientConnection(to: target, in: context) else { return }
        self.connection = connection
        sources = [
            loop.add(connection.socket) { [weak self] in self?.takeReplies() },
            loop.add(connection.monitor.socket) { [weak self] in self?.takeEvents() },
        ]
    }

    private func disconnect() {
        for source in sources { loop.remove(source) }
        sources = []
        connection = nil
    }

    private func takeReplies() {
        for _ in 0..<settings.repliesPerTurn {
            switch connection?.receiveReply() {
            case .reply(let id, let reply):
                if !finish(id, reply) { counts.lateReplies += 1 }
            case .unreadable: counts.unreadableReplies += 1
            case nil: return
            }
        }
    }

    private func takeEvents() {
        guard let connection else { return }
        let now = loop.clock.now.nanoseconds
        for change in connection.changes(at: now) {
            switch change {
            case .becameReady:
                counts.connections += 1
                sendWaiting()
            case .lost:
                reconnect()
                return
            case .refused:
                disconnect()
                end(unsent: .unadmitted, sent: .lost)
                return
            case .invalid:
                disconnect()
                end(unsent: .unreachable, sent: .lost)
                return
            }
        }
        if let since = connection.state.failingSince, !calls.isEmpty {
            scheduleSweep(at: since + settings.graceNanoseconds)
        }
    }

    /// Starts anew on a fresh socket, so that nothing of the old one is sent to the next server.
    private func reconnect() {
        // Replies that came before the break still count.
        while case .reply(let id, let reply)? = connection?.receiveReply() { finish(id, reply) }
        disconnect()
        end(unsent: nil, sent: .lost)
        if !isClosed { connect() }
    }

    private func sendWaiting() {
        for id in waiting {
            guard let request = calls[id]?.unsent else { continue }
            calls[id]?.unsent = nil
            if connection?.send(request) == true {
                counts.requests += 1
            } else {
                finish(id, .failure(.lost))
            }
        }
        waiting = []
    }

    @discardableResult
    private func finish(_ id: UInt64, _ answer: Result<ReplyFrames, BusFault>) -> Bool {
        guard let call = calls.removeValue(forKey: id) else { return false }
        call.answer.resume(returning: answer)
        return true
    }

    /// Ends calls by whether they were sent; nil leaves them waiting.
    private func end(unsent: BusFault?, sent: BusFault) {
        for (id, call) in calls {
            guard let fault = call.unsent == nil ? sent : unsent else { continue }
            finish(id, .failure(fault))
        }
        waiting.removeAll { calls[$0] == nil }
    }

    private func hasFailedTooLong(at now: UInt64) -> Bool {
        guard let since = connection?.state.failingSince else { return false }
        return now >= since + settings.graceNanoseconds
    }

    /// Sees to it that calls are looked through at a moment; one sleeper does for many calls.
    private func scheduleSweep(at moment: UInt64) {
        if let sweepAt, sweepAt <= moment { return }
        sweepAt = moment
        let timers = loop.timers
        ServiceLoop.start { [weak self] in
            await timers.sleep(until: moment)
            self?.sweep(for: moment)
        }
    }

    private func sweep(for moment: UInt64) {
        if sweepAt == moment { sweepAt = nil }
        let now = loop.clock.now.nanoseconds
        let failed = hasFailedTooLong(at: now)
        for (id, call) in calls {
            if call.unsent != nil {
                if failed || call.deadline <= now { finish(id, .failure(.unreachable)) }
            } else if call.deadline <= now {
                finish(id, .failure(.expired))
            }
        }
        waiting.removeAll { calls[$0] == nil }
        guard var next = calls.values.map(\.deadline).min() else { return }
        if let since = connection?.state.failingSince, !waiting.isEmpty {
            next = min(next, since + settings.graceNanoseconds)
        }
        scheduleSweep(at: next)
    }
}

/// How a link treats its calls.
public struct LinkSettings: Equatable, Sendable {
    /// Calls under way at a time; the next one is `busy`.
    public var callsInFlight: Int
    /// How long a service may refuse connections before calls end as `unreachable`; long enough
    /// for a supervisor to start it again.
    public var graceMilliseconds: UInt64
    /// Replies taken in one turn of the loop.
    public var repliesPerTurn: Int

    public init(
        callsInFlight: Int = 1_024, graceMilliseconds: UInt64 = 1_500, repliesPerTurn: Int = 256
    ) {
        self.callsInFlight = callsInFlight
        self.graceMilliseconds = graceMilliseconds
        self.repliesPerTurn = repliesPerTurn
    }

    var graceNanoseconds: UInt64 { graceMilliseconds * 1_000_000 }
}

/// What passed through a link since it was made.
public struct LinkCounts: Equatable, Sendable {
    /// Handshakes that succeeded.
    public internal(set) var connections: UInt64 = 0
    public internal(set) var requests: UInt64 = 0
    /// Replies to calls that had ended.
    public internal(set) var lateReplies: UInt64 = 0
    /// Replies that name no request.
    public internal(set) var unreadableReplies: UInt64 = 0
}
