import AuthorityMessages
import Clocks
import Crypto
import Loop
import Secrets
import Serving
import TestKit
import Tokens
import VaultCore
import Wire

/// A credential authority in memory that keeps to the contract: real tokens, a live registry,
/// leases and events.
@ServiceLoop
final class TestAuthority: FramePort {
    let clock: FakeBootClock
    private(set) var run: RunID
    var policy = SignPolicy.proof
    var leaseMilliseconds: UInt64 = 250
    /// When set, nothing is answered.
    var outage: BusFault?
    /// When set, requests are refused with it.
    var refusal: Refusal?
    /// Called when the authority has decided and the answer is still on its way.
    var onTheWay: (@ServiceLoop (_ method: String) -> Void)?
    /// How often each method was asked.
    private(set) var asked: [String: Int] = [:]

    private let random: SeededRandom
    private var seed: [UInt8]
    private var number: UInt64 = 0
    private var living: Set<SessionID> = []
    /// Who hears the events.
    var listener: (@ServiceLoop (EventNotice) -> Void)?

    init(clock: FakeBootClock, random: SeededRandom) throws {
        self.clock = clock
        self.random = random
        guard let run = RunID(random.bytes(RunID.byteCount)) else { throw BusFault.internalError }
        self.run = run
        seed = random.bytes(32)
    }

    // MARK: Sessions

    /// Opens a session and gives its token.
    func open(
        _ scope: Scope, for owner: Owner, holder: PeerKey, origin: Origin = .passcode,
        audience: Set<ServiceName> = [.walletVault], seconds: UInt64 = 300
    ) throws -> (token: [UInt8], session: SessionID) {
        guard let session = SessionID(random.bytes(SessionID.byteCount)) else {
            throw BusFault.internalError
        }
        let now = clock.now
        let claims = Claims(
            owner: owner, session: session, run: run,
            credential: "00000000-0000-4000-8000-000000000001", revision: 1, scope: scope,
            origin: origin, lifetime: .standard, issued: now.nanoseconds,
            deadline: now.nanoseconds + seconds * 1_000_000_000, boot: now.bootID,
            audience: audience, holder: holder)
        living.insert(session)
        return (try signer().sign(claims), session)
    }

    private func signer() throws -> TokenSigner {
        try TokenSigner(seed: SecretBytes(copying: seed), run: run)
    }

    /// Ends a session, with or without saying so.
    func end(_ session: SessionID, silently: Bool = false) {
        living.remove(session)
        if !silently { publish(.revoked, session: session) }
    }

    /// Ends all that an owner opened so far.
    func endAll(of owner: Owner) {
        living.removeAll()
        publish(.ownerRevoked, owner: owner, issuedUpTo: clock.now.nanoseconds)
    }

    /// Begins a new run, in which no session lives.
    func restart() throws {
        guard let run = RunID(random.bytes(RunID.byteCount)) else { throw BusFault.internalError }
        self.run = run
        seed = random.bytes(32)
        number = 0
        living = []
    }

    // MARK: Events

    func publish(
        _ kind: SessionEvent.Kind = .heartbeat, owner: Owner? = nil, session: SessionID? = nil,
        issuedUpTo: UInt64? = nil
    ) {
        number += 1
        let event = SessionEvent(
            run: run, number: number, kind: kind, owner: owner, session: session,
            issuedUpTo: issuedUpTo)
        listener?(.event(event.encoded()))
    }

    /// An event that never arrives.
    func loseEvent() { number += 1 }

    func publish(raw bytes: [UInt8]) { listener?(.event(bytes)) }

    // MARK: Requests

    func exchange(
        _ frames: RequestFrames, id: UInt64, timeoutMilliseconds: UInt64
    ) async throws(BusFault) -> ReplyFrames {
        guard let header = try? RequestHeader(decoding: frames.header) else { throw .malformed }
        asked[header.method, default: 0] += 1
        await Self.suspend()
        if let outage { throw outage }
        let reply: ReplyFrames
        do {
            if let refusal { throw refusal }
            let (message, attachments) = try answer(header, frames)
            reply = ReplyFrames(id: id, body: message.encoded(), attachments: attachments)
        } catch let refusal as Refusal {
            reply = ReplyFrames(id: id, refusal: refusal)
        } catch let fault as any Fault {
            reply = ReplyFrames(id: id, refusal: fault.refusal)
        } catch {
            throw .malformed
        }
        await Self.suspend()
        onTheWay?(header.method)
        return reply
    }

    /// Lets everything else of the loop run first, and stays on it.
    private static func suspend() async {
        await withCheckedContinuation { continuation in
            Task { @ServiceLoop in continuation.resume() }
        }
    }

    private func answer(
        _ header: RequestHeader, _ frames: RequestFrames
    ) throws -> (any Message, [SharedSecret]) {
        switch header.method {
        case AskTokenKeys.method:
            let key = try signer().publicKey
            return (
                AskTokenKeys.Reply(
                    run: run, keys: [AskTokenKeys.Key(id: key.id, publicKey: key.publicKey)]), []
            )
        case CheckSession.method:
            let request = try CheckSession(decoding: frames.body)
            _ = try session(frames.token, holder: request.holder)
            return (Empty(), [])
        case Derive.method:
            return try derive(try Derive(decoding: frames.body), frames.token)
        default: throw BusFault.unknownMethod
        }
    }

    private func derive(
        _ request: Derive, _ token: [UInt8]
    ) throws -> (any Message, [SharedSecret]) {
        let claims = try session(token, holder: request.holder).claims
        switch (request.purpose, claims.scope) {
        case (.open, .resource(request.namespace)): break
        case (.sign, .resource(request.namespace)) where policy == .session: break
        case (.sign, .sign(let namespace, let wallet)),
            (.reveal, .reveal(let namespace, let wallet)):
            guard namespace == request.namespace, wallet == request.wallet else {
                throw CredentialFault.notAuthorised
            }
            living.remove(claims.session)
        case (.settings, .settings) where claims.origin == .passcode && request.domains.isEmpty:
            break
        default: throw CredentialFault.notAuthorised
        }
        let keys = try request.domains.map { domain in
            SharedSecret(
                try HKDF.sha256(
                    key: Self.accessKey(of: claims.owner),
                    salt: Array((request.namespace?.text ?? "").utf8),
                    info: Array(domain.utf8), count: 32))
        }
        return (
            Derive.Reply(
                leaseMilliseconds: leaseMilliseconds,
                reusable: !claims.scope.isProof && request.purpose != .settings), keys
        )
    }

    private func session(_ token: [UInt8], holder: PeerKey) throws -> VerifiedSession {
        guard let received = ReceivedToken(bytes: token) else { throw SessionFault.invalid }
        var verifier = TokenVerifier(service: .credentialAuthority)
        verifier.install(keys: [try signer().publicKey], run: run)
        let session = try verifier.verify(
            received, presentedBy: holder, as: .walletVault, now: clock.now)
        guard living.contains(session.claims.session) else { throw SessionFault.ended }
        return session
    }

    /// Stable for an owner, whatever else restarts.
    nonisolated static func accessKey(of owner: Owner) -> SecretBytes {
        SHA256.digest(of: SecretBytes(copying: Array("access key of \(owner.text)".utf8)))
    }
}
