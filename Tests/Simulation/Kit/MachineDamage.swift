import AuthorityCore
import Clocks
import DiskDouble
import LimiterCore
import Loop
import Serving
import Storage
import TestKit
import Wire

/// What a machine's disks are changed to by something that is none of the services.
extension SimulatedMachine {
    /// Damages an owner's count of tries at the limiter, or its number at the authority.
    ///
    /// - Returns: whether there was one to damage.
    func damageTries(of owner: Owner) -> Bool {
        let isDone =
            switch choices.number(in: 1...5) {
            case 1: damage(.attemptLimiter, LimiterService.schema, owner, record: "{")
            case 2:
                damage(
                    .attemptLimiter, LimiterService.schema, owner,
                    record: #"{"count":-1,"boot":"","deadline":0}"#)
            case 3:
                damage(
                    .attemptLimiter, LimiterService.schema, owner,
                    record: #"{"count":2,"boot":"\#(clock.now.bootID.text)","deadline":1e12}"#)
            case 4:
                change(.attemptLimiter, LimiterService.schema) { store throws in
                    try store.run("DELETE FROM ledgers WHERE owner = ?1", .text(owner.text))
                }
            default:
                change(.credentialAuthority, AuthorityService.schema) { store throws in
                    try store.run(
                        "UPDATE credentials SET charge = ?2 WHERE owner = ?1", .text(owner.text),
                        .integer(.max))
                }
            }
        if isDone { injected[.damagedTries] += 1 }
        return isDone
    }

    private func damage(
        _ service: ServiceName, _ schema: Schema, _ owner: Owner, record: String
    ) -> Bool {
        change(service, schema) { store throws in
            try store.run(
                "UPDATE ledgers SET record = ?2 WHERE owner = ?1", .text(owner.text),
                .blob(Array(record.utf8)))
        }
    }

    /// Changes a row in the store of a service that is killed for it.
    private func change(
        _ service: ServiceName, _ schema: Schema, _ statement: (Database) throws -> Int
    ) -> Bool {
        kill(service, .killInStep)
        guard let disk = disks[service] else { return false }
        let fault = disk.fault
        disk.fault = nil
        defer { disk.fault = fault }
        guard let store = try? Database(path: "store.sqlite", schema: schema, vfs: disk.name)
        else { return false }
        defer { store.close() }
        guard let count = try? store.write({ try statement(store) }) else { return false }
        return (try? store.commitBatch()) != nil && count == 1
    }
}
