internal import AuthorityClient
internal import AuthorityMessages
internal import Clocks
internal import Loop
internal import MigrationMessages
internal import Serving
internal import Wire

/// How an owner goes who is being removed.
extension MigrationService {
    /// How often it is looked whether a run has ended.
    private nonisolated static let pauseMilliseconds: UInt64 = 20

    /// Destroys ledger, markers and flags of the owner, by leave of the authority.
    func wipe(_ call: Call<WipeOwner<Migration>>) async throws -> Answer<WipeOwner<Migration>> {
        try await link.wipe(call, in: group, tables: MigrationService.ownerTables) {
            try await endRun(of: call.owner, until: call.deadline)
        }
    }

    /// Ends the owner's run and waits until nothing of it is under way: at its end it notes how its
    /// source stands.
    private func endRun(of owner: Owner, until deadline: UInt64) async throws {
        guard let run = runs[owner] else { return }
        run.stop()
        while run.isRunning {
            guard clock.now.nanoseconds < deadline else { throw BusFault.busy }
            await timers.sleep(milliseconds: Self.pauseMilliseconds)
        }
        runs[owner] = nil
    }
}
