import AuthorityMessages
import Loop
import MigrationMessages
import Serving
import SharesMessages
import TestKit
import Tokens
import VaultMessages
import Wire

/// The reset and the removal of an owner, whose steps are repeated until they are done.
extension CredentialDevice {
    /// Where all services run that have to forget the owner.
    func destroy() async {
        guard machine.services == SimulatedMachine.allServices else { return await enrol() }
        if choices.chance(percent: 15) { return await resetFresh() }
        // Where nothing is, nothing can be left.
        if keeper.wallet == nil, choices.chance(percent: 60) { await work() }
        if choices.chance(percent: 70) { await keepShares() }
        let resource =
            choices.chance(percent: 50) ? await verify(.resource(keeper.namespace)) : nil
        guard keeper.removal == nil, let token = await settingsToken(), keeper.removal == nil
        else { return }
        let kind: RemovalKind = choices.chance(percent: 50) ? .reset : .remove
        let key = keeper.beliefs.newKey()
        let change = keeper.beliefs.begin { state in
            guard state.passcode != nil else { return nil }
            return CredentialState(key: key, isBlank: kind == .remove)
        }
        keeper.removal = CredentialOwner.RemovalUnderWay(
            kind: kind, change: change, token: token, peer: peer)
        keeper.wallet = nil
        if let resource {
            // A wallet that is made just then must not outlast the wiping.
            ServiceLoop.start { [weak self] in await self?.makeWallet(resource) }
            for _ in 0..<choices.number(in: 0...30) { await Task.yield() }
        }
        await goOnRemoving(token)
    }

    /// Asks for whatever step is next; what breaks off here is gone on with later.
    ///
    /// - Parameter token: none for one that may be under way.
    func goOnRemoving(_ token: [UInt8] = []) async {
        guard let removal = keeper.removal, removal.peer == peer else { return }
        machine.beginMutation()
        defer { machine.endMutation() }
        do throws(Refusal) {
            guard let begun = try await begin(removal, token) else { return await meetRefusal() }
            keeper.removal?.id = begun.removal
            for service in begun.outstanding { try await wipe(begun.removal, service) }
            try await finish(removal, begun.removal)
        } catch {
            keeper.removal?.refusal = error.code
            if let id = keeper.removal?.id {
                // One that had all but ended is finished by the authority itself.
                guard error.code == "credential.not_authorised" else { return }
                try? await finish(removal, id)
            } else if !removal.isFresh {
                await settleUnbegun()
            }
        }
    }

    /// - Returns: nil where a fresh one is refused because somebody knows the owner.
    private func begin(
        _ removal: CredentialOwner.RemovalUnderWay, _ token: [UInt8]
    ) async throws(Refusal) -> BeginRemoval.Reply? {
        guard removal.isFresh else {
            return try await ask(
                BeginRemoval(removalKind: removal.kind), authority, token
            ).reply
        }
        switch try await ask(BeginFreshReset(), authority, []).reply {
        case .begun(let id, let outstanding): return .init(removal: id, outstanding: outstanding)
        case .known: return nil
        }
    }

    /// A fresh reset was refused: one that had begun is over then, and made the record that is
    /// known.
    private func meetRefusal() async {
        guard let removal = keeper.removal else { return }
        if let id = removal.id {
            try? await finish(removal, id)
            return
        }
        if !keeper.wasUsed { fail("an owner of whom there is nothing is said to be known") }
        await awaitLateCopies()
        guard await isNoneUnderWay() else {
            keeper.removal?.refusal = "known"
            return
        }
        machine.deeds[.refusedFreshReset] += 1
        end(removal, made: false)
    }

    private func isNoneUnderWay() async -> Bool {
        do throws(Refusal) {
            return try await authority.call(AskStatus(), options: options()).reply.removal == nil
        } catch {
            // The limiter knows him, and a removal would have been told before that.
            return error.code == "credential.missing"
        }
    }

    private func wipe(_ removal: RemovalID, _ service: ServiceName) async throws(Refusal) {
        switch service {
        case .walletVault: _ = try await ask(WipeOwner<Vault>(removal: removal), vault, [])
        case .backupShares: _ = try await ask(WipeOwner<Shares>(removal: removal), shares, [])
        default: _ = try await ask(WipeOwner<Migration>(removal: removal), migration, [])
        }
    }

    private func finish(
        _ removal: CredentialOwner.RemovalUnderWay, _ id: RemovalID
    ) async throws(Refusal) {
        _ = try await ask(FinishRemoval(removal: id), authority, [])
        guard keeper.removal?.change == removal.change else { return }
        machine.deeds[removal.deed] += 1
        if removal.isFresh { await awaitLateCopies() }
        let wasLost = keeper.isLost
        end(removal, made: true)
        if removal.kind == .remove {
            machine.tokens.giveUp()
            try? keeper.renewCircle()
        }
        // Where there is another device it may have come later, and have begun anew.
        guard isAlone, !keeper.wasUsedInRemoval else { return }
        var services = removal.kind.services
        // Holders that outlasted a loss stay.
        if removal.isFresh {
            services += wasLost ? [.attemptLimiter] : [.attemptLimiter, .backupShares]
        }
        for service in services where machine.has(owner, service) == true {
            fail("\(service.text) has something of an owner whose \(removal.kind.text) was told")
        }
        guard removal.kind == .remove else { return }
        for service in [ServiceName.credentialAuthority, .attemptLimiter]
        where machine.has(owner, service) == true {
            fail("\(service.text) has something of an owner who was told to be removed")
        }
    }

    private func end(_ removal: CredentialOwner.RemovalUnderWay, made: Bool) {
        keeper.removal = nil
        if made, removal.kind == .reset { keeper.use() }
        if made {
            keeper.isLost = false
            keeper.mayHaveWallets = false
        }
        if !keeper.beliefs.end(removal.change, made: made) {
            fail("a \(removal.kind.text) was told and cannot have been made")
        }
        if made { try? keeper.renewForeign() }
    }

    /// Once its session is over no late copy of the request begins a removal any more.
    private func settleUnbegun() async {
        guard let removal = keeper.removal, removal.id == nil else { return }
        do throws(Refusal) {
            _ = try await ask(Revoke(), authority, removal.token)
        } catch {
            guard ["session.ended", "session.invalid"].contains(error.code) else {
                keeper.removal?.refusal = error.code
                return
            }
        }
        guard let status = try? await ask(AskStatus(), authority, []).reply,
            keeper.removal?.change == removal.change, keeper.removal?.id == nil
        else { return }
        if status.removal == nil { end(removal, made: false) }
    }
}

extension CredentialOwner.RemovalUnderWay {
    fileprivate var deed: Deed {
        if isFresh { return .freshReset }
        return kind == .reset ? .reset : .ownerRemoval
    }
}
