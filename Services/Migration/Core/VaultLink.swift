internal import Clocks
internal import Loop
internal import MigrationMessages
internal import Secrets
internal import Serving
internal import VaultMessages
internal import Wire

/// In whose name, and where, the vault is asked for a wallet.
struct VaultErrand: Sendable {
    let owner: Owner
    /// The holder's token, which names vault and migration.
    let token: [UInt8]
    let namespace: Namespace
    let network: WalletNetwork
}

/// Why the vault did not do what a run needs.
enum VaultTrouble: Error, Equatable {
    /// It is about the one wallet.
    case wallet(WalletProblem, code: String?)
    /// No further wallet would fare better; the code of the error.
    case run(code: String)
    /// Nobody wants to know any longer.
    case unwanted

    /// The vault has no such wallet.
    static let noSuchWallet = VaultTrouble.wallet(
        .vaultRefused, code: VaultFault.noSuchWallet.rawValue)
}

/// The way to the wallet vault, which is asked in the name of the holder of a session.
///
/// What may pass by itself (a vault that is started anew, a full queue, a lease that ran out) is
/// asked again for some time.
@ServiceLoop
final class VaultLink {
    /// Keys that are named as settled in one request.
    private nonisolated static let settledLimit = 64

    private let vault: ServiceClient
    private let clock: any BootClock
    private let timers: Timers
    private let random: any RandomSource
    private let limits: MigrationLimits
    /// Imports whose outcome is known, which the vault need not keep any longer.
    private var settled: [Owner: [IdempotencyKey]] = [:]

    init(
        vault: ServiceClient, clock: any BootClock, timers: Timers, random: any RandomSource,
        limits: MigrationLimits
    ) {
        self.vault = vault
        self.clock = clock
        self.timers = timers
        self.random = random
        self.limits = limits
    }

    // MARK: What a run asks for

    /// Takes a wallet in, labelled with its legacy id, and gives its name in the vault.
    ///
    /// A wallet that is there already, because an earlier run was ended before it could note it or
    /// because a person brought it in, is opened and compared.
    ///
    /// - Parameter isWanted: whether to go on asking.
    func bring(
        _ proven: ProvenPhrase, _ errand: VaultErrand, while isWanted: () -> Bool
    ) async throws(VaultTrouble) -> WalletID {
        let request = ImportWallet(
            namespace: errand.namespace, label: proven.legacyID, walletKind: .dash,
            network: errand.network, expected: proven.sdkID)
        var patience = Patience(limits, clock)
        var key = newKey()
        while true {
            switch await attempt(request, errand, key, proven.phrase) {
            case .success(let wallet):
                settle(key, of: errand.owner)
                return try compared(wallet, proven.sdkID, errand)
            case .failure(let refusal):
                // A key under which nothing happened is used up; one of which nobody knows what
                // happened must come again.
                if refusal.outcome == .rejected {
                    settle(key, of: errand.owner)
                    key = newKey()
                }
                if refusal.code == VaultFault.walletExists.rawValue {
                    guard let wallet = try await find(proven.sdkID, errand, while: isWanted)
                    else {
                        // Somebody removed it in between.
                        throw .wallet(.vaultRefused, code: refusal.code)
                    }
                    return try await check(wallet, is: proven.sdkID, errand, while: isWanted)
                }
                try await wait(after: refusal, &patience, isWanted)
            }
        }
    }

    private func attempt(
        _ request: ImportWallet, _ errand: VaultErrand, _ key: IdempotencyKey,
        _ phrase: SharedSecret
    ) async -> Result<WalletDescription, Refusal> {
        do throws(Refusal) {
            return .success(try await ask(request, errand, key: key, attachments: [phrase]))
        } catch {
            return .failure(error)
        }
    }

    /// Lets the vault open a wallet, and compares its identity.
    @discardableResult
    func check(
        _ wallet: WalletID, is identity: [UInt8], _ errand: VaultErrand,
        while isWanted: () -> Bool
    ) async throws(VaultTrouble) -> WalletID {
        let request = CheckWallet(namespace: errand.namespace, wallet: wallet)
        return try compared(
            await patiently(request, errand, while: isWanted), identity, errand)
    }

    /// The wallet that has an identity, which is not opened; nil where there is none.
    func find(
        _ identity: [UInt8], _ errand: VaultErrand, while isWanted: () -> Bool
    ) async throws(VaultTrouble) -> WalletID? {
        let request = FindWallet(
            namespace: errand.namespace, walletKind: .dash, network: errand.network,
            identity: identity)
        do throws(VaultTrouble) {
            return try compared(
                await patiently(request, errand, while: isWanted), identity, errand)
        } catch {
            guard error == .noSuchWallet else { throw error }
            return nil
        }
    }

    private func compared(
        _ wallet: WalletDescription, _ identity: [UInt8], _ errand: VaultErrand
    ) throws(VaultTrouble) -> WalletID {
        guard wallet.kind == .dash, wallet.network == errand.network, wallet.identity == identity
        else { throw .wallet(.identityDiffers, code: nil) }
        return wallet.wallet
    }

    // MARK: Asking

    private func patiently<R: Request>(
        _ request: R, _ errand: VaultErrand, while isWanted: () -> Bool
    ) async throws(VaultTrouble) -> R.Reply {
        var patience = Patience(limits, clock)
        while true {
            do throws(Refusal) {
                return try await ask(request, errand, key: nil, attachments: [])
            } catch {
                try await wait(after: error, &patience, isWanted)
            }
        }
    }

    private func ask<R: Request>(
        _ request: R, _ errand: VaultErrand, key: IdempotencyKey?, attachments: [SharedSecret]
    ) async throws(Refusal) -> R.Reply {
        let named = Array((settled[errand.owner] ?? []).prefix(Self.settledLimit))
        let options = CallOptions(
            owner: errand.owner, token: errand.token,
            timeoutMilliseconds: limits.answerMilliseconds, idempotency: key, settled: named)
        let answer = try await vault.call(request, options: options, attachments: attachments)
        settled[errand.owner]?.removeAll { named.contains($0) }
        return answer.reply
    }

    /// Throws where a refusal is for good, or patience is over; else lets some time pass.
    private func wait(
        after refusal: Refusal, _ patience: inout Patience, _ isWanted: () -> Bool
    ) async throws(VaultTrouble) {
        switch Kind(refusal) {
        case .wallet: throw .wallet(.vaultRefused, code: refusal.code)
        case .final: throw .run(code: refusal.code)
        case .silence, .passing: break
        }
        guard isWanted() else { throw .unwanted }
        guard patience.isLeft(at: clock) else {
            let isSilence = Kind(refusal) == .silence
            throw .run(
                code: isSilence ? MigrationFault.vaultUnreachable.rawValue : refusal.code)
        }
        await timers.sleep(milliseconds: limits.pauseMilliseconds)
    }

    private func newKey() -> IdempotencyKey {
        guard let key = IdempotencyKey(random.bytes(IdempotencyKey.byteCount)) else {
            preconditionFailure("as many bytes as a key has")
        }
        return key
    }

    private func settle(_ key: IdempotencyKey, of owner: Owner) {
        settled[owner, default: []].append(key)
    }
}

/// What a refusal of the vault, or of the way there, means to a run.
private enum Kind {
    /// The wallet itself is refused.
    case wallet
    /// Nobody answers.
    case silence
    /// It may pass by itself.
    case passing
    case final

    init(_ refusal: Refusal) {
        if let fault = VaultFault(rawValue: refusal.code) {
            self = fault == .full ? .final : .wallet
            return
        }
        if refusal.code == StorageFault.damaged.rawValue {
            // Its row in the vault cannot be read.
            self = .wallet
            return
        }
        switch BusFault(rawValue: refusal.code) {
        case .unreachable, .expired, .lost: self = .silence
        case .busy, .overdue, .inFlight, .interrupted, .withdrawn: self = .passing
        case .some: self = .final
        case nil: self = refusal.mayPass ? .passing : .final
        }
    }
}

extension Refusal {
    /// Whether waiting helps, or nobody knows what happened and asking again tells.
    fileprivate var mayPass: Bool { retryAfterMilliseconds != nil || outcome == .unknown }
}

/// How long to go on asking.
@ServiceLoop
private struct Patience {
    private let end: UInt64

    init(_ limits: MigrationLimits, _ clock: any BootClock) {
        end = clock.now.nanoseconds + limits.patienceMilliseconds * 1_000_000
    }

    func isLeft(at clock: any BootClock) -> Bool { clock.now.nanoseconds < end }
}
