internal import Clocks
internal import Loop
internal import Secrets
internal import Serving
internal import SharesMessages
internal import VaultMessages
internal import Wire

/// The way to the wallet vault, which is asked in a client's name with the client's own token.
@ServiceLoop
final class VaultLink {
    /// How long the vault may take to say what became of an import, in milliseconds.
    private nonisolated static let outcomeMilliseconds: UInt64 = 1_000
    /// How long an import may take: as long as the client waits, within these bounds, in
    /// milliseconds.
    private nonisolated static let importMilliseconds: ClosedRange<UInt64> = 2_000...10_000
    /// Keys that are named as settled in one request.
    private nonisolated static let settledLimit = 64

    private let vault: ServiceClient
    private let clock: any BootClock
    /// Imports whose outcome is known, which the vault need not keep any longer.
    private var settled: [Owner: [IdempotencyKey]] = [:]

    init(vault: ServiceClient, clock: any BootClock) {
        self.vault = vault
        self.clock = clock
    }

    /// Shows a phrase under the client's proof.
    ///
    /// - Parameter milliseconds: how long the answer is of any use.
    func reveal<R: Request>(
        _ wallet: WalletID, in namespace: Namespace, for call: Call<R>, within milliseconds: UInt64
    ) async throws(Refusal) -> (WalletDescription, SharedSecret) {
        let answer: Answer<RevealWallet>
        do throws(Refusal) {
            answer = try await vault.call(
                RevealWallet(namespace: namespace, wallet: wallet),
                options: CallOptions(
                    owner: call.owner, token: call.token, timeoutMilliseconds: milliseconds))
        } catch {
            throw VaultAnswer.refusal(of: error)
        }
        guard let phrase = answer.attachments.first else {
            throw SharesFault.vaultSilent.refusal
        }
        return (answer.reply, phrase)
    }

    /// Takes a wallet in, once for each key.
    func bring<R: Request>(
        _ wallet: ImportWallet, phrase: SharedSecret, key: IdempotencyKey, for call: Call<R>
    ) async throws(Refusal) -> WalletDescription {
        let named = Array((settled[call.owner] ?? []).prefix(Self.settledLimit))
        let now = clock.now.nanoseconds
        let left = call.deadline > now ? (call.deadline - now) / 1_000_000 : 0
        let timeout = min(
            max(left, Self.importMilliseconds.lowerBound), Self.importMilliseconds.upperBound)
        do throws(Refusal) {
            let answer = try await vault.call(
                wallet,
                options: CallOptions(
                    owner: call.owner, token: call.token, timeoutMilliseconds: timeout,
                    idempotency: key, settled: named),
                attachments: [phrase])
            forget(named, of: call.owner)
            return answer.reply
        } catch {
            throw VaultAnswer.refusal(of: error)
        }
    }

    /// What became of an import; one that the vault never saw never will be.
    func outcome(
        of key: IdempotencyKey, owner: Owner
    ) async throws(Refusal) -> OutcomeReply {
        do throws(Refusal) {
            return try await vault.call(
                AskOutcome<Vault>(key: key),
                options: CallOptions(
                    owner: owner, timeoutMilliseconds: Self.outcomeMilliseconds)
            ).reply
        } catch {
            throw VaultAnswer.refusal(of: error)
        }
    }

    /// Notes that the outcome of an import is known and durable here.
    func settle(_ key: IdempotencyKey, of owner: Owner) {
        // The vault forgets by itself what is never named.
        guard settled[owner, default: []].count < Self.settledLimit else { return }
        settled[owner, default: []].append(key)
    }

    private func forget(_ keys: [IdempotencyKey], of owner: Owner) {
        settled[owner]?.removeAll { keys.contains($0) }
        if settled[owner]?.isEmpty == true { settled[owner] = nil }
    }
}

/// What a refusal on the way to the vault means to the client.
enum VaultAnswer {
    /// The vault's own refusals pass through: they are about the client's session, wallet or
    /// phrase.
    ///
    /// Those of the way there say whether the vault may have done what it was asked.
    static func refusal(of refusal: Refusal) -> Refusal {
        switch BusFault(rawValue: refusal.code) {
        case nil, .busy, .withdrawn, .interrupted: refusal
        case .expired, .lost, .badReply, .internalError, .inFlight:
            SharesFault.vaultSilent.refusal
        case .some: SharesFault.vaultUnreachable.refusal
        }
    }
}
