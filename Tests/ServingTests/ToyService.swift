import Clocks
import Loop
import Secrets
import Serving
import Storage
import TestKit
import Tokens
import Wire

/// Adds a number to a sum, and keeps the sum.
struct Add: Request, Equatable {
    static var method: String { "vault.add" }
    static var kind: MethodKind { .change }
    static var callers: Callers { Callers(roles: [.app]) }

    /// Added to the sum; a negative one is refused.
    var number: Int

    init(_ number: Int) { self.number = number }

    init(from object: JSONObject) throws(JSONError) {
        try object.refuseUnknownKeys(["number"])
        number = try object.integer("number")
    }

    func write(to writer: inout JSONWriter) { writer.integer("number", number) }

    struct Reply: Message, Equatable {
        var sum: Int

        init(sum: Int) { self.sum = sum }

        init(from object: JSONObject) throws(JSONError) {
            try object.refuseUnknownKeys(["sum"])
            sum = try object.integer("sum")
        }

        func write(to writer: inout JSONWriter) { writer.integer("sum", sum) }
    }
}

/// Waits until the test lets it go, then adds.
struct AddSlowly: BodilessRequest, Equatable {
    static var method: String { "vault.add_slowly" }
    static var kind: MethodKind { .change }
    static var callers: Callers { Callers(roles: [.app]) }

    init() {}

    typealias Reply = Add.Reply
}

/// Adds one, as long as a lease holds.
struct AddUnderLease: BodilessRequest, Equatable {
    static var method: String { "vault.add_under_lease" }
    static var kind: MethodKind { .change }
    static var callers: Callers { Callers(roles: [.app]) }

    init() {}

    typealias Reply = Add.Reply
}

/// Adds one without an outcome to be asked for, then waits until the test lets it go, if it shall.
struct Count: Request, Equatable {
    static var method: String { "vault.count" }
    static var kind: MethodKind { .repeatable }
    static var callers: Callers { Callers(roles: [.app]) }

    var slowly: Bool

    init(slowly: Bool = false) { self.slowly = slowly }

    init(from object: JSONObject) throws(JSONError) {
        try object.refuseUnknownKeys(["slowly"])
        slowly = try object.bool("slowly")
    }

    func write(to writer: inout JSONWriter) { writer.bool("slowly", slowly) }

    typealias Reply = Add.Reply
}

/// Tells the sum, as long as a lease holds.
struct Look: BodilessRequest, Equatable {
    static var method: String { "vault.look" }
    static var kind: MethodKind { .fresh }
    static var callers: Callers { Callers(roles: [.app]) }

    init() {}

    typealias Reply = Add.Reply
}

/// Tells the sum, and refuses where it is the one that is not wanted.
struct Peek: Request, Equatable {
    static var method: String { "vault.peek" }
    static var kind: MethodKind { .read }
    static var callers: Callers { Callers(roles: [.app]) }

    var unwanted: Int?

    init(unwanted: Int? = nil) { self.unwanted = unwanted }

    init(from object: JSONObject) throws(JSONError) {
        try object.refuseUnknownKeys(["unwanted"])
        unwanted = try object.optionalInteger("unwanted")
    }

    func write(to writer: inout JSONWriter) {
        if let unwanted { writer.integer("unwanted", unwanted) }
    }

    typealias Reply = Add.Reply
}

enum Toy: ServiceTag {
    static var service: ServiceName { .walletVault }
}

/// The smallest service that has a store, a change and a slow change.
@ServiceLoop
final class ToyService: Service {
    nonisolated static let name = ServiceName.walletVault
    nonisolated static let schema = Schema(steps: [
        SchemaStep("sum", "CREATE TABLE sums (owner TEXT PRIMARY KEY, sum INTEGER NOT NULL)"),
        OutcomeJournal.schemaStep,
    ])
    nonisolated static let ownerTables: [OwnerTable] = []
    nonisolated static let methods: [Method<ToyService>] = [
        .on(Add.self) { service, call in try service.add(call, call.request.number) },
        .on(AddUnderLease.self) { service, call in
            try call.onlyWhile { if !service.leaseHolds { throw SessionFault.ended } }
            return try service.add(call, 1)
        },
        .on(Look.self) { service, call in
            try call.onlyWhile { if !service.leaseHolds { throw SessionFault.ended } }
            return Answer(Add.Reply(sum: try service.sum(of: call.owner)))
        },
        .on(Peek.self) { service, call in
            let sum = try service.sum(of: call.owner)
            guard sum != call.request.unwanted else { throw BusFault.keyReused }
            return Answer(Add.Reply(sum: sum))
        },
        .on(Count.self) { service, call in
            try service.group.write { try service.add(1, for: call.owner) }
            let sum = try service.sum(of: call.owner)
            if call.request.slowly { await service.gate() }
            return Answer(Add.Reply(sum: sum))
        },
        .on(AddSlowly.self) { service, call in
            try service.group.beginChange(call) {}
            await service.gate()
            return try service.add(call, 1)
        },
    ]

    let group: CommitGroup
    private(set) var runs = 0
    /// What the leases of requests depend on.
    var leaseHolds = true
    private var waiting: [CheckedContinuation<Void, Never>] = []

    init(group: CommitGroup) { self.group = group }

    func rebuild() throws {}

    /// Those who have a sum.
    func owners() throws -> [Owner] {
        try group.store.rows("SELECT owner FROM sums") { row throws(StorageError) in
            try row.text(0)
        }.compactMap { Owner($0) }
    }

    func ownerCount() throws -> Int { 0 }

    func add<R: Request>(_ call: Call<R>, _ number: Int) throws -> Answer<R>
    where R.Reply == Add.Reply {
        runs += 1
        return try group.change(call) {
            try add(number, for: call.owner)
            // Refused after the write, so that the test sees it undone.
            guard number >= 0 else { throw BusFault.malformed }
            return Add.Reply(sum: try sum(of: call.owner))
        }
    }

    private func add(_ number: Int, for owner: Owner) throws {
        try group.store.run(
            """
            INSERT INTO sums (owner, sum) VALUES (?1, ?2)
            ON CONFLICT (owner) DO UPDATE SET sum = sum + ?2
            """, .text(owner.text), .integer(Int64(number)))
    }

    func sum(of owner: Owner) throws -> Int {
        let sum = try group.store.firstRow(
            "SELECT sum FROM sums WHERE owner = ?1", .text(owner.text)
        ) { row throws(StorageError) in try row.integer(0) }
        return Int(sum ?? 0)
    }

    func gate() async { await withCheckedContinuation { waiting.append($0) } }

    func letGo() {
        for one in waiting { one.resume() }
        waiting = []
    }
}
