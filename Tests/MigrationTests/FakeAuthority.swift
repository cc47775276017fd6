import AuthorityMessages
import Clocks
import Loop
import Secrets
import Serving
import TestKit
import Tokens
import Wire

/// A credential authority in memory: real tokens, a live registry, leases and events.
@ServiceLoop
final class FakeAuthority: FramePort {
    private let clock: FakeBootClock
    private let random: SeededRandom
    private let run: RunID
    private let seed: [UInt8]
    private var number: UInt64 = 0
    private var living: Set<SessionID> = []
    /// When set, nothing is answered.
    var outage: BusFault?
    /// Who hears the events.
    var listener: (@ServiceLoop (EventNotice) -> Void)?

    init(clock: FakeBootClock, random: SeededRandom) throws {
        self.clock = clock
        self.random = random
        guard let run = RunID(random.bytes(RunID.byteCount)) else { throw BusFault.internalError }
        self.run = run
        seed = random.bytes(32)
    }

    /// Opens a session and gives its token.
    func open(
        _ scope: Scope, for owner: Owner, holder: PeerKey, origin: Origin,
        audience: Set<ServiceName>
    ) throws -> (token: [UInt8], session: SessionID) {
        guard let session = SessionID(random.bytes(SessionID.byteCount)) else {
            throw BusFault.internalError
        }
        let now = clock.now
        living.insert(session)
        let token = try signer().sign(
            Claims(
                owner: owner, session: session, run: run,
                credential: "00000000-0000-4000-8000-000000000001", revision: 1, scope: scope,
                origin: origin, lifetime: .standard, issued: now.nanoseconds,
                deadline: now.nanoseconds + 300_000_000_000, boot: now.bootID,
                audience: audience, holder: holder))
        return (token, session)
    }

    /// The claims of a token that a service presents for its holder, if its session lives.
    func claims(_ token: [UInt8], holder: PeerKey? = nil, service: ServiceName) throws -> Claims {
        guard let received = ReceivedToken(bytes: token) else { throw SessionFault.invalid }
        var verifier = TokenVerifier(service: service)
        verifier.install(keys: [try signer().publicKey], run: run)
        let presenter = PeerKey([UInt8](repeating: 0xEE, count: 32))
        guard let peer = holder ?? presenter else { throw SessionFault.invalid }
        let session = try verifier.verify(
            received, presentedBy: peer, as: .migration, now: clock.now)
        guard living.contains(session.claims.session) else { throw SessionFault.ended }
        return session.claims
    }

    private func signer() throws -> TokenSigner {
        try TokenSigner(seed: SecretBytes(copying: seed), run: run)
    }

    func end(_ session: SessionID) {
        living.remove(session)
        publish(.revoked, session: session)
    }

    func publish(_ kind: SessionEvent.Kind = .heartbeat, session: SessionID? = nil) {
        number += 1
        let event = SessionEvent(
            run: run, number: number, kind: kind, owner: nil, session: session, issuedUpTo: nil)
        listener?(.event(event.encoded()))
    }

    func exchange(
        _ frames: RequestFrames, id: UInt64, timeoutMilliseconds: UInt64
    ) async throws(BusFault) -> ReplyFrames {
        guard let header = try? RequestHeader(decoding: frames.header) else { throw .malformed }
        await turn()
        if let outage { throw outage }
        do {
            let message = try answer(header, frames)
            return ReplyFrames(id: id, body: message.encoded(), attachments: [])
        } catch let fault as any Fault {
            return ReplyFrames(id: id, refusal: fault.refusal)
        } catch {
            throw .malformed
        }
    }

    private func answer(_ header: RequestHeader, _ frames: RequestFrames) throws -> any Message {
        switch header.method {
        case AskTokenKeys.method:
            let key = try signer().publicKey
            return AskTokenKeys.Reply(
                run: run, keys: [AskTokenKeys.Key(id: key.id, publicKey: key.publicKey)])
        case Derive.method:
            let request = try Derive(decoding: frames.body)
            let claims = try claims(
                frames.token, holder: request.holder, service: .credentialAuthority)
            guard request.domains.isEmpty else { throw BusFault.malformed }
            switch (request.purpose, claims.scope) {
            case (.open, .resource(request.namespace)): break
            case (.settings, .settings) where claims.origin == .passcode: break
            default: throw CredentialFault.notAuthorised
            }
            return Derive.Reply(
                leaseMilliseconds: 250, reusable: request.purpose != .settings)
        default: throw BusFault.unknownMethod
        }
    }
}

/// Lets everything else of the loop run first, and stays on it.
@ServiceLoop
func turn() async {
    await withCheckedContinuation { continuation in
        ServiceLoop.start { continuation.resume() }
    }
}
