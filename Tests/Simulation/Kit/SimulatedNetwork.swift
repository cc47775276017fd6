import Clocks
import Loop
import Serving
import TestKit
import Wire

/// The bus of a simulated machine: every message waits here until the machine picks it, in any
/// order, twice or never.
@ServiceLoop
final class SimulatedNetwork {
    /// A request on its way, and who waits for its answer.
    @ServiceLoop
    final class Exchange {
        let number: UInt64
        let sender: Sender
        let service: ServiceName
        let frames: RequestFrames
        let header: RequestHeader
        /// When its sender gives up, in nanoseconds on the boot clock.
        let deadline: UInt64
        /// The life of the service that took it last, and when.
        var takenBy: Int?
        var takenAt: BootMoment?
        fileprivate var waiter: CheckedContinuation<Result<ReplyFrames, BusFault>, Never>?

        fileprivate init(
            number: UInt64, sender: Sender, service: ServiceName, frames: RequestFrames,
            header: RequestHeader, deadline: UInt64,
            waiter: CheckedContinuation<Result<ReplyFrames, BusFault>, Never>
        ) {
            self.number = number
            self.sender = sender
            self.service = service
            self.frames = frames
            self.header = header
            self.deadline = deadline
            self.waiter = waiter
        }
    }

    /// Who sends requests: a client, or one life of a service.
    @ServiceLoop
    final class Sender {
        let peer: PeerKey
        /// Nobody reads what comes for it any more.
        var isDead = false

        init(peer: PeerKey) { self.peer = peer }
    }

    enum Parcel {
        case request(Exchange)
        case reply(Exchange, ReplyFrames)
        case news(EventNotice, to: ServiceName)
    }

    private(set) var parcels: [Parcel] = []
    /// Messages that are held up, each until a moment.
    private var held: [(until: UInt64, parcel: Parcel)] = []
    private var exchanges: [UInt64: Exchange] = [:]
    private var lastNumber: UInt64 = 0
    private let now: () -> UInt64

    init(now: @escaping () -> UInt64) { self.now = now }

    func exchange(
        _ frames: RequestFrames, from sender: Sender, to service: ServiceName,
        timeoutMilliseconds: UInt64
    ) async throws(BusFault) -> ReplyFrames {
        guard !sender.isDead else { throw .unreachable }
        guard let header = try? RequestHeader(decoding: frames.header) else { throw .malformed }
        let result: Result<ReplyFrames, BusFault> = await withCheckedContinuation { waiter in
            lastNumber += 1
            let exchange = Exchange(
                number: lastNumber, sender: sender, service: service, frames: frames,
                header: header, deadline: now() + timeoutMilliseconds * 1_000_000, waiter: waiter)
            exchanges[lastNumber] = exchange
            parcels.append(.request(exchange))
        }
        return try result.get()
    }

    func post(_ parcel: Parcel) { parcels.append(parcel) }

    func take(at index: Int) -> Parcel { parcels.remove(at: index) }

    func exchange(_ number: UInt64) -> Exchange? { exchanges[number] }

    /// Ends the wait for an answer; a second answer changes nothing.
    func finish(_ exchange: Exchange, _ result: Result<ReplyFrames, BusFault>) {
        exchange.waiter?.resume(returning: result)
        exchange.waiter = nil
        exchanges[exchange.number] = nil
    }

    /// Ends the waits of those who have waited long enough.
    func expire() {
        let moment = now()
        for exchange in sorted where exchange.deadline <= moment {
            finish(exchange, .failure(.expired))
        }
    }

    /// Ends every wait for which something holds.
    func breakOff(where isMeant: (Exchange) -> Bool) {
        for exchange in sorted where isMeant(exchange) { finish(exchange, .failure(.lost)) }
    }

    /// Loses whatever is on its way.
    func clear() {
        parcels = []
        held = []
    }

    /// Whether a copy of such a request is on its way.
    func carries(_ method: String) -> Bool {
        (parcels + held.map(\.parcel)).contains { parcel in
            guard case .request(let exchange) = parcel else { return false }
            return exchange.header.method == method
        }
    }

    /// Keeps a message back.
    func hold(_ parcel: Parcel, until moment: UInt64) { held.append((moment, parcel)) }

    /// Lets those go on that were held up long enough.
    func release() {
        let moment = now()
        parcels += held.filter { $0.until <= moment }.map(\.parcel)
        held.removeAll { $0.until <= moment }
    }

    /// The exchanges whose answer is on its way.
    var answered: Set<UInt64> {
        Set(
            (parcels + held.map(\.parcel)).compactMap { parcel in
                guard case .reply(let exchange, _) = parcel else { return nil }
                return exchange.number
            })
    }

    /// When the next one gives up, or a message goes on.
    var nextDeadline: UInt64? {
        (exchanges.values.map(\.deadline) + held.map(\.until)).min()
    }

    private var sorted: [Exchange] { exchanges.values.sorted { $0.number < $1.number } }
}

/// One party's way to one service.
@ServiceLoop
final class SimulatedWay: FramePort {
    private let network: SimulatedNetwork
    private let sender: SimulatedNetwork.Sender
    private let service: ServiceName

    init(
        _ network: SimulatedNetwork, from sender: SimulatedNetwork.Sender, to service: ServiceName
    ) {
        self.network = network
        self.sender = sender
        self.service = service
    }

    func exchange(
        _ frames: RequestFrames, id: UInt64, timeoutMilliseconds: UInt64
    ) async throws(BusFault) -> ReplyFrames {
        try await network.exchange(
            frames, from: sender, to: service, timeoutMilliseconds: timeoutMilliseconds)
    }
}
