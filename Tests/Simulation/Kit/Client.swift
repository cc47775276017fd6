import AuthorityMessages
import Loop
import MigrationMessages
import Secrets
import Serving
import SharesMessages
import TestKit
import VaultMessages
import Wire

/// What every client does: asks, makes changes, and learns what became of them.
@ServiceLoop
class Client {
    let peer: PeerKey
    let owner: Owner
    let machine: SimulatedMachine
    let choices: SeededRandom
    let authority: ServiceClient
    let vault: ServiceClient
    let shares: ServiceClient
    let migration: ServiceClient
    /// How often it has little patience; never once all was mended.
    private var hastePercent = 15
    /// Changes whose outcome has not been told, by what to do when it is.
    private var open: [OpenChange] = []

    /// A change of which it is not known whether it was made.
    private struct OpenChange {
        let key: IdempotencyKey
        let service: ServiceName
        let settle: @ServiceLoop (Bool) -> Void
    }

    /// How long a request may take, in milliseconds; a hasty client asks what became of a change
    /// whose request is still on its way.
    private static let patience: UInt64 = 4_000
    private static let haste: UInt64 = 300

    init(_ peer: PeerKey, of owner: Owner, on machine: SimulatedMachine, seed: UInt64) {
        self.peer = peer
        self.owner = owner
        self.machine = machine
        choices = SeededRandom(seed: seed)
        let sender = SimulatedNetwork.Sender(peer: peer)
        authority = machine.way(from: sender, to: .credentialAuthority)
        vault = machine.way(from: sender, to: .walletVault)
        shares = machine.way(from: sender, to: .backupShares)
        migration = machine.way(from: sender, to: .migration)
    }

    /// A token was said to be over.
    func drop(_ token: [UInt8]) {}

    // MARK: Changes

    /// Makes a change, repeats it now and then under the same key, and learns what became of it.
    func change<R: Request>(
        _ request: R, _ client: ServiceClient, token: [UInt8], attachments: [SharedSecret] = [],
        settle: @escaping @ServiceLoop (Bool?, R.Reply?) -> Void
    ) async {
        guard let key = IdempotencyKey(choices.bytes(IdempotencyKey.byteCount)) else { return }
        for _ in 0..<choices.number(in: 1...3) {
            do throws(Refusal) {
                let answer = try await ask(
                    request, client, token, key: key, attachments: attachments)
                return settle(true, answer.reply)
            } catch {
                // That it was refused now says nothing of an earlier try under the same key; the
                // outcome does.
                if error.outcome == .rejected, error.code != "session.ended",
                    error.code != "session.invalid"
                {
                    break
                }
            }
        }
        let change = OpenChange(key: key, service: service(behind: client)) { settle($0, nil) }
        if let made = await outcome(of: change) {
            change.settle(made)
        } else {
            open.append(change)
            settle(nil, nil)
        }
    }

    /// Whether a change was made, as its service says; nil where it does not.
    private func outcome(of change: OpenChange) async -> Bool? {
        let status: OutcomeStatus? =
            switch change.service {
            case .walletVault: await status(AskOutcome<Vault>(key: change.key), vault)
            case .backupShares: await status(AskOutcome<Shares>(key: change.key), shares)
            case .migration: await status(AskOutcome<Migration>(key: change.key), migration)
            default: await status(AskOutcome<Authority>(key: change.key), authority)
            }
        switch status {
        case .done?: return true
        case .rejected?: return false
        case .inFlight?, nil: return nil
        }
    }

    private func status<R: Request>(
        _ request: R, _ client: ServiceClient
    ) async -> OutcomeStatus? where R.Reply == OutcomeReply {
        try? await client.call(request, options: options()).reply.status
    }

    private func service(behind client: ServiceClient) -> ServiceName {
        if client === vault { return .walletVault }
        if client === shares { return .backupShares }
        return client === migration ? .migration : .credentialAuthority
    }

    func settleOpen() async {
        for change in open {
            guard let made = await outcome(of: change) else { continue }
            open.removeAll { $0.key == change.key }
            change.settle(made)
        }
    }

    // MARK: Asking

    /// Asks under a token, and seldom comes again with one that is over.
    func ask<R: Request>(
        _ request: R, _ client: ServiceClient, _ token: [UInt8], key: IdempotencyKey? = nil,
        attachments: [SharedSecret] = []
    ) async throws(Refusal) -> Answer<R> {
        do throws(Refusal) {
            return try await client.call(
                request, options: options(token, key: key), attachments: attachments)
        } catch {
            if ["session.ended", "session.invalid", "credential.locked"].contains(error.code),
                choices.chance(percent: 80)
            {
                drop(token)
            }
            throw error
        }
    }

    func options(_ token: [UInt8] = [], key: IdempotencyKey? = nil) -> CallOptions {
        CallOptions(
            owner: owner, token: token,
            timeoutMilliseconds: choices.chance(percent: hastePercent)
                ? Self.haste : Self.patience,
            idempotency: key)
    }

    func secret(_ text: String) -> SharedSecret { secret(Array(text.utf8)) }

    func secret(_ bytes: [UInt8]) -> SharedSecret { SharedSecret(SecretBytes(copying: bytes)) }

    // MARK: When all is over

    /// Learns what became of every change.
    func audit() async {
        hastePercent = 0
        for _ in 0..<20 where !open.isEmpty {
            await settleOpen()
            await machine.timers.sleep(milliseconds: 500)
        }
        if !open.isEmpty { machine.promises.fail("an outcome is not told after all was mended") }
    }

    /// Asks until there is an answer, which must come when nothing breaks.
    func insist<R: Request>(
        on request: R, _ client: ServiceClient, _ token: [UInt8] = []
    ) async -> R.Reply? {
        var refusals: [String] = []
        for _ in 0..<10 {
            do throws(Refusal) {
                return try await ask(request, client, token).reply
            } catch {
                refusals.append(error.code)
                await machine.timers.sleep(milliseconds: 300)
            }
        }
        machine.promises.fail("\(R.method) is refused after all was mended: \(refusals)")
        return nil
    }
}
