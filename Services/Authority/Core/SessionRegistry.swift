internal import AuthorityMessages
internal import Clocks
internal import Crypto
internal import Loop
internal import Secrets
internal import Tokens
internal import Wire

/// The sessions of this run of the authority, their leases and the owners' gates.
///
/// In memory only: a restart ends every session, and the key that signs tokens is made anew. What
/// is decided here is decided in one step that nothing interleaves.
@ServiceLoop
final class SessionRegistry {
    /// One session; its token is a signed view of the claims.
    struct Session: Sendable {
        fileprivate(set) var claims: Claims
        /// The access key; nil in a session that can derive nothing.
        let accessKey: SharedSecret?
        /// When the last lease that it was given ends, in nanoseconds on the boot clock.
        fileprivate(set) var leaseEnd: UInt64 = 0
        /// What the holder's entry was called.
        let holderName: String
        /// Until when an owner-managed session lives, on the awake clock; nil for any other.
        fileprivate(set) var renewedUntil: UInt64?
    }

    /// What a service may rely on until it ends.
    struct Lease: Equatable {
        var milliseconds: UInt64
        /// Whether it serves further operations.
        var reusable: Bool
    }

    /// What a session is to be.
    struct Draft {
        var owner: Owner
        var scope: Scope
        var audience: [ServiceName]
        var holder: PeerKey
        var credential: String
        var revision: UInt64
        var accessKey: SharedSecret?
        var origin: Origin = .passcode
        var lifetime: Lifetime = .standard
        var holderName: String
    }

    /// How long an owner-managed session lives without being renewed, in nanoseconds.
    static let renewalNanoseconds: UInt64 = 15_000_000_000
    /// How long a lease holds, in nanoseconds.
    static let leaseNanoseconds: UInt64 = 250_000_000
    /// How many locked screens of an owner are remembered.
    private static let screensMax = 64

    let run: RunID
    private let clock: any BootClock
    private let awake: any AwakeClock
    private let waits: UnlockWaits
    private let random: any RandomSource
    private let signer: TokenSigner
    private let events: any EventPort
    private let limit: Int
    private let started: UInt64

    private var sessions: [SessionID: Session] = [:]
    private var ofOwner: [Owner: Set<SessionID>] = [:]
    private var leaseEnds: [Owner: UInt64] = [:]
    private var openGates: Set<Owner> = []
    /// The locked screens of owners whose gate nothing but locks of screens closed.
    private var lockedScreens: [Owner: Set<String>] = [:]
    /// Sessions that may still come out of checks under way.
    private var reserved = 0
    private var lastEvent: UInt64 = 0

    init(
        clock: any BootClock, awake: any AwakeClock, waits: UnlockWaits,
        random: any RandomSource, events: any EventPort, limit: Int
    ) throws(CryptoError) {
        self.clock = clock
        self.awake = awake
        self.waits = waits
        self.random = random
        self.events = events
        self.limit = limit
        started = clock.now.nanoseconds
        run = Self.identifier(random) { RunID($0) }
        signer = try TokenSigner(seed: random.secret(Ed25519.seedBytes), run: run)
    }

    /// What verifies the tokens of this run.
    var tokenKey: TokenKey { signer.publicKey }

    var count: Int { sessions.count }

    var allSessions: [Session] { Array(sessions.values) }

    /// An owner's sessions that live, the newest first.
    func sessions(of owner: Owner) -> [Session] {
        sweep(owner)
        return (ofOwner[owner] ?? []).compactMap { sessions[$0] }.sorted {
            ($0.claims.issued, $0.claims.session.text) > ($1.claims.issued, $1.claims.session.text)
        }
    }

    func count(of owner: Owner) -> Int {
        sweep(owner)
        return ofOwner[owner]?.count ?? 0
    }

    // MARK: Opening

    /// Keeps room for a session before anything is charged for it.
    ///
    /// Sessions that are over make room first.
    func reserve() throws(BusFault) {
        if sessions.count + reserved >= limit { sweep() }
        guard sessions.count + reserved < limit else { throw .busy }
        reserved += 1
    }

    /// Gives the room back, used or not.
    func release() { reserved -= 1 }

    /// Makes a session in the reserved room, and its token.
    func open(_ draft: Draft) throws -> (session: Session, token: [UInt8]) {
        let now = clock.now
        // A token names somebody who takes it; where no service does, that is the authority.
        let audience: [ServiceName] =
            draft.audience.isEmpty ? [.credentialAuthority] : draft.audience
        let isOwnerManaged = draft.lifetime == .ownerManaged
        let claims = Claims(
            owner: draft.owner, session: Self.identifier(random) { SessionID($0) }, run: run,
            credential: draft.credential, revision: draft.revision, scope: draft.scope,
            origin: draft.origin, lifetime: draft.lifetime, issued: now.nanoseconds,
            deadline: isOwnerManaged
                ? nil : now.nanoseconds + SessionRules.lifetime(of: draft.scope),
            boot: now.bootID, audience: Set(audience), holder: draft.holder)
        let token = try signer.sign(claims)
        var session = Session(
            claims: claims, accessKey: draft.accessKey, holderName: draft.holderName)
        if isOwnerManaged {
            session.renewedUntil = awake.awakeNanoseconds + Self.renewalNanoseconds
        }
        sessions[claims.session] = session
        ofOwner[draft.owner, default: []].insert(claims.session)
        return (session, token)
    }

    private static func identifier<T>(
        _ random: any RandomSource, _ make: ([UInt8]) -> T?
    ) -> T {
        guard let identifier = make(random.bytes(16)) else {
            preconditionFailure("an identifier has 16 bytes")
        }
        return identifier
    }

    // MARK: Using

    /// The session, if it lives at this moment.
    func live(_ id: SessionID) -> Session? {
        guard let session = sessions[id] else { return nil }
        guard !isOver(session) else {
            expire(session)
            return nil
        }
        return session
    }

    /// How long the session still lives.
    func remainingMilliseconds(of session: Session) -> UInt64 {
        if let end = session.renewedUntil {
            let now = awake.awakeNanoseconds
            return end > now ? (end - now) / 1_000_000 : 0
        }
        guard let deadline = session.claims.deadline else { return 0 }
        let now = clock.now.nanoseconds
        return deadline > now ? (deadline - now) / 1_000_000 : 0
    }

    /// Keeps an owner-managed session that lives.
    ///
    /// - Returns: for how long; nil for a session that cannot be renewed.
    func renew(_ id: SessionID) -> UInt64? {
        guard let session = live(id), session.renewedUntil != nil else { return nil }
        sessions[id]?.renewedUntil = awake.awakeNanoseconds + Self.renewalNanoseconds
        return Self.renewalNanoseconds / 1_000_000
    }

    /// Gives a lease under a session that lives, and spends it where it is a proof.
    func lease(_ id: SessionID) -> Lease? {
        guard var session = live(id) else { return nil }
        let now = clock.now.nanoseconds
        let end = min(now + Self.leaseNanoseconds, session.claims.deadline ?? .max)
        // The clock may have passed the deadline since it was looked at.
        guard end > now, end - now >= 1_000_000 else { return nil }
        let owner = session.claims.owner
        leaseEnds[owner] = max(leaseEnds[owner] ?? 0, end)
        session.leaseEnd = max(session.leaseEnd, end)
        sessions[id] = session
        if session.claims.scope.isProof { remove(id, of: owner) }
        var isResource = false
        if case .resource = session.claims.scope { isResource = true }
        return Lease(milliseconds: (end - now) / 1_000_000, reusable: isResource)
    }

    /// Lets a session that lives go on under another revision of its credential.
    ///
    /// Its token stays: what it says of the revision is what it was opened under.
    func advance(_ id: SessionID, to revision: UInt64) {
        guard live(id) != nil else { return }
        sessions[id]?.claims.revision = revision
    }

    // MARK: Ending

    /// Ends a session at once.
    ///
    /// - Returns: when the last lease that it was given ends.
    @discardableResult
    func revoke(_ id: SessionID) -> UInt64 {
        guard let session = sessions[id] else { return 0 }
        remove(id, of: session.claims.owner)
        publish(.revoked, owner: session.claims.owner, session: id)
        return session.leaseEnd
    }

    /// Ends all of an owner's sessions at once.
    ///
    /// - Returns: how many lived.
    func revokeAll(of owner: Owner) -> Int {
        sweep(owner)
        let ended = ofOwner[owner] ?? []
        for id in ended { remove(id, of: owner) }
        publish(.ownerRevoked, owner: owner, session: nil)
        return ended.count
    }

    /// Ends the owner's sessions that a lock ends; owner-managed ones wait for the gate.
    ///
    /// - Returns: how many ended.
    func revokeStandard(of owner: Owner) -> Int {
        sweep(owner)
        let ended = (ofOwner[owner] ?? []).filter { sessions[$0]?.renewedUntil == nil }
        for id in ended { remove(id, of: owner) }
        publish(.ownerRevoked, owner: owner, session: nil)
        return ended.count
    }

    /// Ends all of an owner's sessions but one at once.
    func revokeAll(of owner: Owner, except kept: SessionID) {
        sweep(owner)
        for id in ofOwner[owner] ?? [] where id != kept { revoke(id) }
    }

    /// When the last lease ends that any of the owner's sessions was given.
    ///
    /// An earlier run may have given one until this one began.
    func leasesClosed(of owner: Owner) -> UInt64 {
        max(leaseEnds[owner] ?? 0, started + Self.leaseNanoseconds)
    }

    /// Wipes sessions that are over, and forgets leases that are.
    func sweep() {
        for session in sessions.values where isOver(session) { expire(session) }
        let now = clock.now.nanoseconds
        leaseEnds = leaseEnds.filter { $0.value > now }
    }

    private func sweep(_ owner: Owner) {
        for id in ofOwner[owner] ?? [] { _ = live(id) }
    }

    private func isOver(_ session: Session) -> Bool {
        if let end = session.renewedUntil { return awake.awakeNanoseconds >= end }
        guard let deadline = session.claims.deadline else { return false }
        return clock.now.nanoseconds >= deadline
    }

    /// Nobody but the authority can tell that an owner-managed session lapsed, so it is news.
    private func expire(_ session: Session) {
        let claims = session.claims
        remove(claims.session, of: claims.owner)
        if session.renewedUntil != nil {
            publish(.revoked, owner: claims.owner, session: claims.session)
        }
    }

    private func remove(_ id: SessionID, of owner: Owner) {
        sessions[id] = nil
        waits.wake(id)
        ofOwner[owner]?.remove(id)
        if ofOwner[owner]?.isEmpty == true { ofOwner[owner] = nil }
    }

    // MARK: Gates

    func isGateOpen(of owner: Owner) -> Bool { openGates.contains(owner) }

    /// A right passcode opens the gate; it revives nothing that was revoked.
    func openGate(of owner: Owner) {
        openGates.insert(owner)
        lockedScreens[owner] = nil
        for id in ofOwner[owner] ?? [] { waits.wake(id) }
    }

    func closeGate(of owner: Owner) {
        openGates.remove(owner)
        lockedScreens[owner] = nil
    }

    /// Closes the gate so that it opens again when the screen is unlocked; one that something else
    /// closed stays closed.
    func closeGate(of owner: Owner, withScreen screen: String) {
        guard openGates.remove(owner) != nil || lockedScreens[owner] != nil else { return }
        // More screens than a person has: a passcode opens then.
        guard lockedScreens[owner, default: []].count < Self.screensMax else {
            lockedScreens[owner] = nil
            return
        }
        lockedScreens[owner, default: []].insert(screen)
    }

    /// Opens the gate if the last of the locked screens that closed it is unlocked.
    func openGate(of owner: Owner, withScreen screen: String) {
        guard lockedScreens[owner]?.remove(screen) != nil, lockedScreens[owner]?.isEmpty == true
        else { return }
        openGate(of: owner)
    }

    /// Leaves the gates that locks of screens closed to a passcode.
    func forgetScreens() { lockedScreens = [:] }

    var openGateCount: Int { openGates.count }

    // MARK: Events

    /// Says that the authority is there.
    func beat() { publish(.heartbeat, owner: nil, session: nil) }

    private func publish(_ kind: SessionEvent.Kind, owner: Owner?, session: SessionID?) {
        lastEvent += 1
        events.publish(
            SessionEvent(
                run: run, number: lastEvent, kind: kind, owner: owner, session: session,
                issuedUpTo: kind == .ownerRevoked ? clock.now.nanoseconds : nil))
    }
}
