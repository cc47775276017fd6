internal import AuthorityMessages
public import Serving
internal import SharesMessages
internal import VaultMessages
public import Wire

/// How a restoration ends whose answer from the vault never came: because the vault was silent, or
/// one of the two was stopped in between.
extension SharesService {
    public func unfinishedChanges() throws -> [ChangeTicket] {
        try store.unfinishedImports().map(\.ticket)
    }

    /// Asks the vault what became of the owner's imports that nobody waits for.
    ///
    /// Where it does not say, they stay in flight.
    public func settle(_ owner: Owner) async throws {
        for unfinished in try store.unfinishedImports(of: owner) {
            guard atWork.insert(unfinished.address).inserted else { continue }
            defer { atWork.remove(unfinished.address) }
            do {
                _ = try await settleImport(of: unfinished.address)
            } catch SharesFault.vaultUnreachable {
                continue
            }
        }
    }

    /// Finishes or undoes the import of a restoration; the caller works on it alone.
    ///
    /// Throws ``SharesFault/vaultUnreachable`` where the vault does not say what became of it.
    ///
    /// - Returns: the wallet, if it came in; nil where there was no import, or it did not.
    func settleImport(of address: RestorationAddress) async throws -> SharedWallet? {
        guard let unfinished = try store.unfinishedImport(of: address) else { return nil }
        let outcome: OutcomeReply
        do throws(Refusal) {
            outcome = try await vault.outcome(of: unfinished.key, owner: address.owner)
        } catch {
            throw SharesFault.vaultUnreachable
        }
        switch outcome.status {
        case .inFlight: throw SharesFault.vaultUnreachable
        case .done:
            let reply = RestoreWallet.Reply.installedEarlier(unfinished.wallet)
            try await durably {
                try store.remove(address)
                try group.conclude(unfinished.ticket, with: .success(reply))
            }
        case .rejected:
            let why = Self.refusal(ofImport: outcome.code)
            try await durably {
                try store.removeImport(of: address)
                try group.conclude(
                    unfinished.ticket, with: Result<RestoreWallet.Reply, _>.failure(why))
            }
        }
        vault.settle(unfinished.key, of: address.owner)
        return outcome.status == .done ? unfinished.wallet : nil
    }

    /// Why an import did not happen, by the code that the vault keeps.
    private static func refusal(ofImport code: String?) -> Refusal {
        let faults: [any Fault] = VaultFault.allCases + LeaseFault.allCases
        let known = faults.map(\.refusal).first { $0.code == code }
        return known ?? BusFault.interrupted.refusal
    }
}
