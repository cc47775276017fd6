import HDKeys
import Loop
import Mnemonics
import Secrets
import Serving
import TestKit
import Tokens
import VaultMessages
import Wire

/// A vault in memory that keeps to the contract, and fails where a test wants it to.
@ServiceLoop
final class FakeVault: FramePort {
    struct Wallet: Equatable {
        let owner: Owner
        let namespace: Namespace
        let network: WalletNetwork
        let identity: [UInt8]
        let wallet: WalletID
    }

    private struct Outcome {
        let digest: [UInt8]
        let reply: Result<[UInt8], Refusal>
    }

    let authority: FakeAuthority
    let random: SeededRandom
    private(set) var wallets: [Wallet] = []
    private var journal: [IdempotencyKey: Outcome] = [:]
    /// Keys that were named as settled.
    private(set) var settled: Set<IdempotencyKey> = []
    /// How often each method was asked.
    private(set) var asked: [String: Int] = [:]
    /// Called before a request is looked at; what it throws is the answer, and nothing was done.
    var before: (@ServiceLoop (_ method: String) throws -> Void)?
    /// Called when a request was carried out; what it throws comes in place of the answer.
    var after: (@ServiceLoop (_ method: String) throws(BusFault) -> Void)?

    init(authority: FakeAuthority, random: SeededRandom) {
        self.authority = authority
        self.random = random
    }

    /// What a wallet that was brought in by somebody else looks like.
    func put(
        _ identity: [UInt8], on network: WalletNetwork, in namespace: Namespace, of owner: Owner
    ) throws -> WalletID {
        guard let wallet = WalletID(random.uuid()) else { throw BusFault.internalError }
        wallets.append(
            Wallet(
                owner: owner, namespace: namespace, network: network, identity: identity,
                wallet: wallet))
        return wallet
    }

    func removeAll() { wallets = [] }

    func exchange(
        _ frames: RequestFrames, id: UInt64, timeoutMilliseconds: UInt64
    ) async throws(BusFault) -> ReplyFrames {
        guard let header = try? RequestHeader(decoding: frames.header) else { throw .malformed }
        await turn()
        asked[header.method, default: 0] += 1
        let reply: ReplyFrames
        do {
            try before?(header.method)
            settled.formUnion(header.settled)
            for key in header.settled { journal[key] = nil }
            reply = ReplyFrames(id: id, body: try answer(header, frames), attachments: [])
        } catch let fault as BusFault where fault.outcome == .unknown || fault == .unreachable {
            throw fault
        } catch let fault as any Fault {
            reply = ReplyFrames(id: id, refusal: fault.refusal)
        } catch let refusal as Refusal {
            reply = ReplyFrames(id: id, refusal: refusal)
        } catch {
            throw .malformed
        }
        await turn()
        try after?(header.method)
        return reply
    }

    private func answer(_ header: RequestHeader, _ frames: RequestFrames) throws -> [UInt8] {
        let claims = try authority.claims(frames.token, service: .walletVault)
        guard claims.owner == header.owner else { throw SessionFault.invalid }
        switch header.method {
        case ImportWallet.method:
            guard let key = header.idempotency else { throw BusFault.malformed }
            if let known = journal[key] {
                guard known.digest == frames.body else { throw BusFault.keyReused }
                return try known.reply.get()
            }
            guard journal.count < 64 else { throw BusFault.busy }
            let reply = Result { try bring(frames, claims.owner).encoded() }.mapError { error in
                (error as? any Fault)?.refusal ?? BusFault.internalError.refusal
            }
            journal[key] = Outcome(digest: frames.body, reply: reply)
            return try reply.get()
        case FindWallet.method:
            let request = try FindWallet(decoding: frames.body)
            try require(request.namespace, claims)
            return try found(claims.owner) {
                $0.namespace == request.namespace && $0.identity == request.identity
                    && $0.network == request.network
            }.encoded()
        case CheckWallet.method:
            let request = try CheckWallet(decoding: frames.body)
            try require(request.namespace, claims)
            return try found(claims.owner) {
                $0.namespace == request.namespace && $0.wallet == request.wallet
            }.encoded()
        default: throw BusFault.unknownMethod
        }
    }

    private func require(_ namespace: Namespace, _ claims: Claims) throws {
        guard claims.scope == .resource(namespace) else {
            throw Refusal(code: "lease.not_authorised", message: "", outcome: .rejected)
        }
    }

    private func bring(_ frames: RequestFrames, _ owner: Owner) throws -> WalletDescription {
        let request = try ImportWallet(decoding: frames.body)
        try require(
            request.namespace, authority.claims(frames.token, service: .walletVault))
        guard let network = request.network, request.walletKind == .dash,
            let phrase = frames.attachments.first, frames.attachments.count == 1
        else { throw BusFault.malformed }
        let identity = try LegacyPhrase(phrase.bytes).sdkID(network)
        guard identity == request.expected else { throw VaultFault.unexpectedIdentity }
        let isThere = wallets.contains {
            $0.owner == owner && $0.namespace == request.namespace && $0.identity == identity
        }
        guard !isThere else { throw VaultFault.walletExists }
        let wallet = try put(identity, on: network, in: request.namespace, of: owner)
        return try found(owner) { $0.wallet == wallet }
    }

    private func found(
        _ owner: Owner, _ isMeant: (Wallet) -> Bool
    ) throws -> WalletDescription {
        guard let wallet = wallets.first(where: { $0.owner == owner && isMeant($0) }) else {
            throw VaultFault.noSuchWallet
        }
        return WalletDescription(
            wallet: wallet.wallet, kind: .dash, network: wallet.network, label: "",
            identity: wallet.identity, verified: true, words: 12)
    }
}

/// Something that a test changes while a service works.
@ServiceLoop
final class Flag<Value> {
    var value: Value

    init(_ value: Value) { self.value = value }
}
