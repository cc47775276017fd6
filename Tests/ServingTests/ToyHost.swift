import Clocks
import Loop
import Secrets
import Serving
import Storage
import Synchronization
import TestKit
import Wire

/// A toy service behind a real host, with a bus that is an array.
@ServiceLoop
final class ToyHost: ReplyPort {
    let clock: FakeBootClock
    let service: ToyService
    private(set) var sent: [ReplyFrames] = []
    private let folder: TemporaryFolder
    private var host: ServiceHost<ToyService>?
    private var lastID: UInt64 = 0
    private let directory = Directory()

    nonisolated static let owner = valid(Owner("local"))
    nonisolated static let key = valid(PeerKey([UInt8](repeating: 7, count: 32)))

    init(in folder: TemporaryFolder, clock: FakeBootClock = FakeBootClock()) throws {
        self.folder = folder
        self.clock = clock
        let store = try Database(path: folder.path + "/store.sqlite", schema: ToyService.schema)
        let group = CommitGroup(store: store, clock: clock)
        service = ToyService(group: group)
        try group.write {
            try group.journal.recover(unfinished: service.unfinishedChanges())
        }
        try store.commitBatch()
        host = ServiceHost(
            service, group: group, peers: directory, clock: clock, port: self,
            metrics: MetricsRegistry(), version: "0")
    }

    func send(_ reply: ReplyFrames, to route: [UInt8]) { sent.append(reply) }

    /// Gives a request to the host without ending the turn.
    func give<R: Request>(
        _ request: R, key: IdempotencyKey? = nil, owner: Owner = ToyHost.owner,
        settled: [IdempotencyKey] = []
    ) {
        lastID += 1
        let options = CallOptions(
            owner: owner, timeoutMilliseconds: 1_000, idempotency: key, settled: settled)
        let frames = RequestFrames(request, id: lastID, options: options, attachments: [])
        host?.receive(
            route: [0, 0, 0, 0, 1], peer: Self.key, header: frames.header,
            content: .success(frames))
    }

    func endTurn() throws { try host?.endTurn() }

    /// A request in a turn of its own; nil while no reply came.
    func call<R: Request>(
        _ request: R, key: IdempotencyKey? = nil, owner: Owner = ToyHost.owner,
        settled: [IdempotencyKey] = []
    ) async throws -> Result<R.Reply, Refusal>? {
        let before = sent.count
        give(request, key: key, owner: owner, settled: settled)
        await LoopHarness.settle()
        try endTurn()
        guard sent.count > before, let last = sent.last else { return nil }
        return answer(last, to: R.self)
    }

    func answer<R: Request>(_ frames: ReplyFrames, to type: R.Type) -> Result<R.Reply, Refusal> {
        do throws(Refusal) { return .success(try frames.answer(to: R.self).reply) } catch {
            return .failure(error)
        }
    }

    /// Lets the peer in, or not.
    func admit(_ isAdmitted: Bool) { directory.isAdmitted.withLock { $0 = isAdmitted } }

    private final class Directory: PeerDirectory {
        let isAdmitted = Mutex(true)

        func entry(for key: PeerKey) -> PeerEntry? {
            guard isAdmitted.withLock({ $0 }) else { return nil }
            return PeerEntry(
                name: "test", key: key, role: .app, owners: .some([ToyHost.owner]),
                mayDestroy: true)
        }
    }
}

func key(_ number: UInt8) -> IdempotencyKey {
    valid(IdempotencyKey([UInt8](repeating: number, count: 16)))
}

/// The value of a literal that is known to be in the form.
func valid<T>(_ value: T?) -> T {
    guard let value else { preconditionFailure("the literal is in the form") }
    return value
}
