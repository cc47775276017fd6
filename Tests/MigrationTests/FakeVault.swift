import AuthorityDouble
import AuthorityMessages
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
        let label: String
    }

    private struct Outcome {
        let digest: [UInt8]
        let reply: Result<[UInt8], Refusal>
    }

    private let authority: ServiceClient
    private let clock: FakeBootClock
    private let random: SeededRandom
    /// Who opened the sessions in whose name the vault is asked.
    private let holder: PeerKey
    private(set) var wallets: [Wallet] = []
    private var journal: [IdempotencyKey: Outcome] = [:]
    /// Keys that were named as settled.
    private(set) var settled: Set<IdempotencyKey> = []
    /// How often each method was asked.
    private(set) var asked: [String: Int] = [:]
    /// Called before a request is carried out; what it throws is the answer, and nothing was done.
    var before: (@ServiceLoop (_ method: String) throws -> Void)?
    /// Called when a request was carried out; what it throws comes in place of the answer.
    var after: (@ServiceLoop (_ method: String) throws(BusFault) -> Void)?

    init(authority: AuthorityDouble, holder: PeerKey, random: SeededRandom) {
        self.authority = ServiceClient(port: authority.port(for: .walletVault))
        clock = authority.clock
        self.holder = holder
        self.random = random
    }

    /// What a wallet that was brought in by somebody else looks like.
    func put(
        _ identity: [UInt8], on network: WalletNetwork, in namespace: Namespace, of owner: Owner,
        label: String = ""
    ) throws -> WalletID {
        guard let wallet = WalletID(random.uuid()) else { throw BusFault.internalError }
        wallets.append(
            Wallet(
                owner: owner, namespace: namespace, network: network, identity: identity,
                wallet: wallet, label: label))
        return wallet
    }

    func removeAll() { wallets = [] }

    /// Removes the wallet of an identity, as a person does.
    func remove(_ identity: [UInt8]) { wallets.removeAll { $0.identity == identity } }

    func exchange(
        _ frames: RequestFrames, id: UInt64, timeoutMilliseconds: UInt64
    ) async throws(BusFault) -> ReplyFrames {
        guard let header = try? RequestHeader(decoding: frames.header) else { throw .malformed }
        await turn()
        asked[header.method, default: 0] += 1
        let reply: ReplyFrames
        do {
            settled.formUnion(header.settled)
            for key in header.settled { journal[key] = nil }
            reply = ReplyFrames(id: id, body: try await answer(header, frames), attachments: [])
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

    /// What the token opens, which a migration presents for its holder.
    private func claims(_ token: [UInt8], _ owner: Owner) async throws -> Claims {
        let keys = try await authority.call(AskTokenKeys(), options: CallOptions(owner: owner))
            .reply
        var verifier = TokenVerifier(service: .walletVault)
        verifier.install(
            keys: keys.keys.map { TokenKey(id: $0.id, publicKey: $0.publicKey) }, run: keys.run)
        guard let received = ReceivedToken(bytes: token),
            let migration = PeerKey([UInt8](repeating: 0xEE, count: 32))
        else { throw SessionFault.invalid }
        let session = try verifier.verify(
            received, presentedBy: migration, as: .migration, now: clock.now)
        guard session.claims.owner == owner else { throw SessionFault.invalid }
        _ = try await authority.call(
            CheckSession(holder: holder), options: CallOptions(owner: owner, token: token))
        return session.claims
    }

    private func answer(
        _ header: RequestHeader, _ frames: RequestFrames
    ) async throws -> [UInt8] {
        let claims = try await claims(frames.token, header.owner)
        try before?(header.method)
        switch header.method {
        case ImportWallet.method:
            guard let key = header.idempotency else { throw BusFault.malformed }
            if let known = journal[key] {
                guard known.digest == frames.body else { throw BusFault.keyReused }
                return try known.reply.get()
            }
            guard journal.count < 64 else { throw BusFault.busy }
            let reply = Result { try bring(frames, claims).encoded() }.mapError { error in
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

    private func bring(_ frames: RequestFrames, _ claims: Claims) throws -> WalletDescription {
        let request = try ImportWallet(decoding: frames.body)
        try require(request.namespace, claims)
        let owner = claims.owner
        guard let network = request.network, request.walletKind == .dash,
            let phrase = frames.attachments.first, frames.attachments.count == 1
        else { throw BusFault.malformed }
        let identity = try LegacyPhrase(phrase.bytes).ids(network.dash).sdk
        guard identity == request.expected else { throw VaultFault.unexpectedIdentity }
        let isThere = wallets.contains {
            $0.owner == owner && $0.namespace == request.namespace && $0.identity == identity
        }
        guard !isThere else { throw VaultFault.walletExists }
        let wallet = try put(
            identity, on: network, in: request.namespace, of: owner, label: request.label)
        return try found(owner) { $0.wallet == wallet }
    }

    private func found(
        _ owner: Owner, _ isMeant: (Wallet) -> Bool
    ) throws -> WalletDescription {
        guard let wallet = wallets.first(where: { $0.owner == owner && isMeant($0) }) else {
            throw VaultFault.noSuchWallet
        }
        return WalletDescription(
            wallet: wallet.wallet, kind: .dash, network: wallet.network, label: wallet.label,
            identity: wallet.identity, verified: true, words: 12)
    }
}

extension WalletNetwork {
    var dash: DashNetwork { self == .mainnet ? .mainnet : .testnet }
}

/// Something that a test changes while a service works.
@ServiceLoop
final class Flag<Value> {
    var value: Value

    init(_ value: Value) { self.value = value }
}

/// Lets everything else of the loop run first, and stays on it.
@ServiceLoop
private func turn() async {
    await withCheckedContinuation { continuation in
        ServiceLoop.start { continuation.resume() }
    }
}
