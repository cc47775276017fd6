public import Clocks
internal import Secrets
public import Wire

/// A command's connection to a service: one call at a time, on the calling thread, without a loop.
///
/// It ends calls as ``ServiceLink`` does. A service that nobody runs is `unreachable` after
/// ``graceMilliseconds`` at the latest, one that was never ready for a handshake at the deadline;
/// in both cases nothing was sent. One that takes the request and does not answer is `expired`
/// at the deadline.
public final class BlockingLink {
    /// How long connections may be refused before a call ends: a supervisor restarts a service
    /// within a second.
    public static let graceMilliseconds: UInt64 = 1_500

    private let context: Context
    private let target: ClientConnection.Target
    private let clock: any BootClock
    private var connection: ClientConnection?

    /// - Parameter context: one for all links of a process.
    public init(
        context: Context, endpoint: Endpoint, serverKey: PeerKey, identity: CurveKeyPair,
        clock: any BootClock, limits: BusLimits = .init()
    ) {
        self.context = context
        self.clock = clock
        target = ClientConnection.Target(
            endpoint: endpoint, serverKey: serverKey, identity: identity, limits: limits)
    }

    /// Sends a request and waits for its reply.
    ///
    /// - Parameter timeoutMilliseconds: at most an hour.
    /// - Throws: `unreachable`, `unadmitted`, `oversize` or `malformed` (a header that has no id)
    ///   where nothing was sent; `expired`, `lost` or `badReply` where it was.
    public func exchange(
        _ request: RequestFrames, timeoutMilliseconds: UInt64
    ) throws(BusFault) -> ReplyFrames {
        try exchange(all: [request], timeoutMilliseconds: timeoutMilliseconds)[0].get()
    }

    /// Sends several requests, each with an id of its own, without waiting in between.
    ///
    /// - Returns: what each got, in their order; `expired` or `lost` where nothing came.
    /// - Throws: where nothing was sent.
    public func exchange(
        all requests: [RequestFrames], timeoutMilliseconds: UInt64
    ) throws(BusFault) -> [Result<ReplyFrames, BusFault>] {
        var places: [UInt64: Int] = [:]
        for (place, request) in requests.enumerated() {
            guard let id = RequestHeader.id(ofUnreadable: request.header), places[id] == nil
            else { throw .malformed }
            guard ClientConnection.fits(request, target.limits) else { throw .oversize }
            places[id] = place
        }
        let timeout = min(timeoutMilliseconds, RequestHeader.timeoutMillisecondsLimit)
        let deadline = clock.now.nanoseconds + timeout * 1_000_000
        let connection = try readyConnection(by: deadline)
        var answers = [Result<ReplyFrames, BusFault>](
            repeating: .failure(.expired), count: requests.count)
        for request in requests where !connection.send(request) {
            return answers.map { _ in .failure(end(.lost)) }
        }
        while !places.isEmpty {
            let hasBroken = !connection.changes(at: clock.now.nanoseconds).isEmpty
            // Replies that came before a break still count.
            while let reply = connection.receiveReply() {
                guard case .reply(let id, let answer) = reply,
                    let place = places.removeValue(forKey: id)
                else { continue }
                answers[place] = answer
            }
            if places.isEmpty { break }
            if hasBroken {
                for place in places.values { answers[place] = .failure(end(.lost)) }
                break
            }
            guard wait(for: connection, until: deadline) else { break }
        }
        return answers
    }

    private func readyConnection(by deadline: UInt64) throws(BusFault) -> ClientConnection {
        var connection = try currentConnection()
        while true {
            let changes = connection.changes(at: clock.now.nanoseconds)
            switch connection.state.phase {
            case .ready: return connection
            case .refused: throw end(.unadmitted)
            case .invalid: throw end(.unreachable)
            case .connecting: break
            }
            if changes.contains(.lost) {
                // The service was restarted since the last call; nothing of that one is repeated.
                self.connection = nil
                connection = try currentConnection()
            }
            let failing = connection.state.failingSince
            let end = min(
                deadline, failing.map { $0 + Self.graceMilliseconds * 1_000_000 } ?? .max)
            guard wait(for: connection, until: end) else { throw self.end(.unreachable) }
        }
    }

    private func currentConnection() throws(BusFault) -> ClientConnection {
        if let connection { return connection }
        do throws(BusError) {
            let made = try ClientConnection(to: target, in: context)
            connection = made
            return made
        } catch {
            throw .unreachable
        }
    }

    /// Drops the connection, so that the next call makes a new one.
    private func end(_ fault: BusFault) -> BusFault {
        connection = nil
        return fault
    }

    /// Waits for something to read; false when the time is over.
    private func wait(for connection: ClientConnection, until end: UInt64) -> Bool {
        let now = clock.now.nanoseconds
        guard end > now else { return false }
        var items = [
            PollItem.reading(connection.socket), PollItem.reading(connection.monitor.socket),
        ]
        PollItem.wait(for: &items, milliseconds: Int((end - now) / 1_000_000) + 1)
        return true
    }
}
