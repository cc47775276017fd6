import Loop
import Serving
import Storage
import TestKit
import Testing
import Wire

/// A change that was begun and cut off is told as what became of it in the end, and as nothing
/// before.
@Suite(.timeLimit(.minutes(1)))
struct UnfinishedRules {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test func itStaysInFlightAcrossARestartUntilItsEndIsKnown() async throws {
        try await LoopHarness.run { [folder] in
            let first = try CourierHost(in: folder)
            #expect(try await first.call(Post(1), key: key(1)) == nil)
            first.courier.group.store.close()
            let second = try CourierHost(in: folder)
            let told = try await second.call(AskOutcome<Toy>(key: key(1)))
            #expect(told == .success(.init(status: .inFlight, code: nil)))
            let again = try await second.call(Post(1), key: key(1))
            #expect(again == .failure(BusFault.inFlight.refusal))
            #expect(second.courier.runs == 0)
            first.courier.letGo()
        }
    }

    @Test(arguments: [true, false]) func itsEndIsTheOutcome(_ arrives: Bool) async throws {
        try await LoopHarness.run { [folder] in
            let first = try CourierHost(in: folder)
            _ = try await first.call(Post(1), key: key(1))
            first.courier.group.store.close()
            let second = try CourierHost(in: folder)
            second.courier.arrived = arrives
            let told = try await second.call(AskOutcome<Toy>(key: key(1)))
            let repeated = try await second.call(Post(1), key: key(1))
            if arrives {
                #expect(told == .success(.init(status: .done, code: nil)))
                #expect(repeated == .success(.init(number: 1)))
            } else {
                #expect(told == .success(.init(status: .rejected, code: "storage.full")))
                #expect(repeated == .failure(StorageFault.full.refusal))
            }
            #expect(second.courier.runs == 0)
            #expect(try second.courier.unfinishedChanges() == [])
            first.courier.letGo()
        }
    }

    @Test func aRepeatFindsTheEndByItself() async throws {
        try await LoopHarness.run { [folder] in
            let first = try CourierHost(in: folder)
            _ = try await first.call(Post(1), key: key(1))
            first.courier.group.store.close()
            let second = try CourierHost(in: folder)
            second.courier.arrived = true
            #expect(try await second.call(Post(1), key: key(1)) == .success(.init(number: 1)))
            let other = try await second.call(Post(2), key: key(1))
            #expect(other == .failure(BusFault.keyReused.refusal))
            first.courier.letGo()
        }
    }

    @Test func whatPassesByItselfMayBeAskedForAgain() async throws {
        try await LoopHarness.run { [folder] in
            let host = try CourierHost(in: folder)
            #expect(try await host.call(Post(1), key: key(1)) == nil)
            host.courier.refusal = BusFault.busy.refusal
            host.courier.letGo()
            await LoopHarness.settle()
            try host.endTurn()
            host.courier.refusal = nil
            #expect(try await host.call(Post(1), key: key(1)) == nil)
            #expect(host.courier.runs == 2)
            host.courier.letGo()
            await LoopHarness.settle()
            try host.endTurn()
            let told = try await host.call(AskOutcome<Toy>(key: key(1)))
            #expect(told == .success(.init(status: .done, code: nil)))
        }
    }

    @Test func aTicketIsReadAsItWasStored() async throws {
        try await LoopHarness.run { [folder] in
            let host = try CourierHost(in: folder)
            _ = try await host.call(Post(1), key: key(1))
            let ticket = try #require(try host.courier.unfinishedChanges().first)
            #expect(ChangeTicket(stored: ticket.stored, owner: ToyHost.owner) == ticket)
            #expect(ChangeTicket(stored: ticket.stored.dropLast(), owner: ToyHost.owner) == nil)
            #expect(ChangeTicket(stored: ticket.stored + [0], owner: ToyHost.owner) == nil)
            #expect(ChangeTicket(stored: [], owner: ToyHost.owner) == nil)
            host.courier.letGo()
        }
    }
}

/// Sends something away; that it went is durable before it is known whether it arrived.
private struct Post: Request, Equatable {
    static var method: String { "vault.post" }
    static var kind: MethodKind { .change }
    static var callers: Callers { Callers(roles: [.app]) }

    var number: Int

    init(_ number: Int) { self.number = number }

    init(from object: JSONObject) throws(JSONError) { number = try object.integer("number") }

    func write(to writer: inout JSONWriter) { writer.integer("number", number) }

    struct Reply: Message, Equatable {
        var number: Int

        init(number: Int) { self.number = number }

        init(from object: JSONObject) throws(JSONError) { number = try object.integer("number") }

        func write(to writer: inout JSONWriter) { writer.integer("number", number) }
    }
}

@ServiceLoop
private final class Courier: Service {
    nonisolated static let name = ServiceName.walletVault
    nonisolated static let schema = Schema(steps: [
        OutcomeJournal.schemaStep,
        SchemaStep(
            "posts", "CREATE TABLE posts (ticket BLOB PRIMARY KEY, number INTEGER NOT NULL)"),
    ])
    nonisolated static let ownerTables: [OwnerTable] = []
    nonisolated static let methods: [Method<Courier>] = [
        .on(Post.self) { service, call in try await service.post(call) }
    ]

    let group: CommitGroup
    private(set) var runs = 0
    /// What is known of what was sent before; nil while nothing is.
    var arrived: Bool?
    /// Why what is sent now does not arrive.
    var refusal: Refusal?
    private var waiting: [CheckedContinuation<Void, Never>] = []

    init(group: CommitGroup) { self.group = group }

    func rebuild() throws {}
    func owners() throws -> [Owner] { [] }

    func ownerCount() throws -> Int { 0 }

    private func post(_ call: Call<Post>) async throws -> Answer<Post> {
        runs += 1
        let ticket = valid(call.ticket)
        try group.beginChange(call) {
            try group.store.run(
                "INSERT INTO posts (ticket, number) VALUES (?1, ?2)", .blob(ticket.stored),
                .integer(Int64(call.request.number)))
        }
        try await group.committed()
        await withCheckedContinuation { waiting.append($0) }
        if let refusal {
            try group.write { try forget(ticket) }
            throw refusal
        }
        return try group.change(call) {
            try forget(ticket)
            return Post.Reply(number: call.request.number)
        }
    }

    private func forget(_ ticket: ChangeTicket) throws {
        try group.store.run("DELETE FROM posts WHERE ticket = ?1", .blob(ticket.stored))
    }

    func letGo() {
        for one in waiting { one.resume() }
        waiting = []
    }

    private func posts() throws -> [(ChangeTicket, Int)] {
        try group.store.rows("SELECT ticket, number FROM posts") { row throws(StorageError) in
            let ticket = ChangeTicket(stored: try row.blob(0), owner: ToyHost.owner)
            return (valid(ticket), Int(try row.integer(1)))
        }
    }

    func unfinishedChanges() throws -> [ChangeTicket] { try posts().map(\.0) }

    func settle(_ owner: Owner) async throws {
        guard let arrived else { return }
        for (ticket, number) in try posts() {
            try group.write {
                try forget(ticket)
                try group.conclude(
                    ticket,
                    with: arrived
                        ? .success(Post.Reply(number: number))
                        : .failure(StorageFault.full.refusal))
            }
        }
    }
}

/// A courier behind a real host.
@ServiceLoop
private final class CourierHost: ReplyPort, PeerDirectory {
    let courier: Courier
    private var host: ServiceHost<Courier>?
    private var sent: [ReplyFrames] = []
    private var lastID: UInt64 = 0

    init(in folder: TemporaryFolder) throws {
        let clock = FakeBootClock()
        let store = try Database(path: folder.path + "/store.sqlite", schema: Courier.schema)
        let group = CommitGroup(store: store, clock: clock)
        courier = Courier(group: group)
        try group.write {
            try group.journal.recover(unfinished: courier.unfinishedChanges())
        }
        try store.commitBatch()
        host = ServiceHost(
            courier, group: group, peers: self, clock: clock, port: self,
            metrics: MetricsRegistry(), version: "0")
    }

    nonisolated func entry(for key: PeerKey) -> PeerEntry? {
        PeerEntry(name: "test", key: key, role: .app, owners: .all, mayDestroy: true)
    }

    func send(_ reply: ReplyFrames, to route: [UInt8]) { sent.append(reply) }

    func endTurn() throws { try host?.endTurn() }

    /// A request in two turns; nil while no reply came.
    func call<R: Request>(
        _ request: R, key: IdempotencyKey? = nil
    ) async throws -> Result<R.Reply, Refusal>? {
        lastID += 1
        let before = sent.count
        let options = CallOptions(
            owner: ToyHost.owner, timeoutMilliseconds: 1_000, idempotency: key)
        let frames = RequestFrames(request, id: lastID, options: options, attachments: [])
        host?.receive(
            route: [0, 0, 0, 0, 1], peer: ToyHost.key, header: frames.header,
            content: .success(frames))
        for _ in 0..<2 {
            await LoopHarness.settle()
            try endTurn()
        }
        guard sent.count > before, let last = sent.last else { return nil }
        do throws(Refusal) { return .success(try last.answer(to: R.self).reply) } catch {
            return .failure(error)
        }
    }
}
