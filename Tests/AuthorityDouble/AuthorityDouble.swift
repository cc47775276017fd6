public import AuthorityMessages
internal import Clocks
internal import Crypto
public import Loop
public import Secrets
public import Serving
public import TestKit
public import Tokens
public import Wire

/// A credential authority in memory that keeps to the contract: real tokens, a live registry,
/// leases, proofs that are spent, and events.
@ServiceLoop
public final class AuthorityDouble {
    public let clock: FakeBootClock
    public private(set) var run: RunID
    public var policy = SignPolicy.proof
    public var leaseMilliseconds: UInt64 = 250
    /// When set, nothing is answered.
    public var outage: BusFault?
    /// When set, requests are refused with it.
    public var refusal: Refusal?
    /// Called when the authority has decided and the answer is still on its way.
    public var onTheWay: (@ServiceLoop (_ method: String) -> Void)?
    /// How often each method was asked.
    public private(set) var asked: [String: Int] = [:]
    /// How many proofs were spent.
    public private(set) var spent = 0

    private let random: SeededRandom
    private var seed: [UInt8]
    private var number: UInt64 = 0
    private var living: Set<SessionID> = []
    private var listeners: [@ServiceLoop (EventNotice) -> Void] = []

    public init(clock: FakeBootClock, random: SeededRandom) throws {
        self.clock = clock
        self.random = random
        run = try Self.identifier(random)
        seed = random.bytes(32)
    }

    /// The way of a service to it.
    public func port(for service: ServiceName) -> any FramePort {
        Port(authority: self, service: service)
    }

    /// Hears the events from now on.
    public func listen(_ listener: @escaping @ServiceLoop (EventNotice) -> Void) {
        listeners.append(listener)
    }

    // MARK: Sessions

    /// Opens a session and gives its token.
    public func open(
        _ scope: Scope, for owner: Owner, holder: PeerKey, origin: Origin = .passcode,
        audience: Set<ServiceName> = [.walletVault], seconds: UInt64 = 300
    ) throws -> (token: [UInt8], session: SessionID) {
        let session: SessionID = try Self.identifier(random)
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

    /// Whether a session lives: it was not ended, and is no proof that was spent.
    public func isLiving(_ session: SessionID) -> Bool { living.contains(session) }

    /// Ends a session, with or without saying so.
    public func end(_ session: SessionID, silently: Bool = false) {
        living.remove(session)
        if !silently { publish(.revoked, session: session) }
    }

    /// Ends all that an owner opened so far.
    public func endAll(of owner: Owner) {
        living.removeAll()
        publish(.ownerRevoked, owner: owner, issuedUpTo: clock.now.nanoseconds)
    }

    /// Begins a new run, in which no session lives.
    public func restart() throws {
        run = try Self.identifier(random)
        seed = random.bytes(32)
        number = 0
        living = []
    }

    private func signer() throws -> TokenSigner {
        try TokenSigner(seed: SecretBytes(copying: seed), run: run)
    }

    private static func identifier<T>(_ random: SeededRandom) throws -> Identifier<T> {
        guard let identifier = Identifier<T>(random.bytes(Identifier<T>.byteCount)) else {
            throw BusFault.internalError
        }
        return identifier
    }

    // MARK: Events

    public func publish(
        _ kind: SessionEvent.Kind = .heartbeat, owner: Owner? = nil, session: SessionID? = nil,
        issuedUpTo: UInt64? = nil
    ) {
        number += 1
        let event = SessionEvent(
            run: run, number: number, kind: kind, owner: owner, session: session,
            issuedUpTo: issuedUpTo)
        publish(raw: event.encoded())
    }

    /// An event that never arrives.
    public func loseEvent() { number += 1 }

    public func publish(raw bytes: [UInt8]) { notify(.event(bytes)) }

    /// Has every listener notice something of the way that events come on.
    public func notify(_ notice: EventNotice) {
        for listener in listeners { listener(notice) }
    }

    // MARK: Requests

    /// One service's way to the authority.
    private final class Port: FramePort {
        let authority: AuthorityDouble
        let service: ServiceName

        init(authority: AuthorityDouble, service: ServiceName) {
            self.authority = authority
            self.service = service
        }

        func exchange(
            _ frames: RequestFrames, id: UInt64, timeoutMilliseconds: UInt64
        ) async throws(BusFault) -> ReplyFrames {
            try await authority.exchange(frames, id: id, from: service)
        }
    }

    private func exchange(
        _ frames: RequestFrames, id: UInt64, from service: ServiceName
    ) async throws(BusFault) -> ReplyFrames {
        guard let header = try? RequestHeader(decoding: frames.header) else { throw .malformed }
        asked[header.method, default: 0] += 1
        await Self.suspend()
        if let outage { throw outage }
        let reply: ReplyFrames
        do {
            if let refusal { throw refusal }
            let (message, attachments) = try answer(header, frames, from: service)
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
        _ header: RequestHeader, _ frames: RequestFrames, from service: ServiceName
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
            _ = try session(frames.token, holder: request.holder, at: service)
            return (Empty(), [])
        case Derive.method:
            let request = try Derive(decoding: frames.body)
            let session = try session(frames.token, holder: request.holder, at: service)
            return try derive(request, session.claims)
        default: throw BusFault.unknownMethod
        }
    }

    private func derive(
        _ request: Derive, _ claims: Claims
    ) throws -> (any Message, [SharedSecret]) {
        switch (request.purpose, claims.scope) {
        case (.open, .resource(request.namespace)): break
        case (.sign, .resource(request.namespace)) where policy == .session: break
        case (.sign, .sign(let namespace, let wallet)),
            (.reveal, .reveal(let namespace, let wallet)):
            guard namespace == request.namespace, wallet == request.wallet else {
                throw CredentialFault.notAuthorised
            }
            living.remove(claims.session)
            spent += 1
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

    private func session(
        _ token: [UInt8], holder: PeerKey, at service: ServiceName
    ) throws -> VerifiedSession {
        guard let received = ReceivedToken(bytes: token) else { throw SessionFault.invalid }
        var verifier = TokenVerifier(service: .credentialAuthority)
        verifier.install(keys: [try signer().publicKey], run: run)
        let session = try verifier.verify(
            received, presentedBy: holder, as: service, now: clock.now)
        guard living.contains(session.claims.session) else { throw SessionFault.ended }
        return session
    }

    /// Stable for an owner, whatever else restarts.
    public nonisolated static func accessKey(of owner: Owner) -> SecretBytes {
        SHA256.digest(of: SecretBytes(copying: Array("access key of \(owner.text)".utf8)))
    }
}
