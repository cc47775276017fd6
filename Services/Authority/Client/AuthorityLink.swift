internal import AuthorityMessages
public import Clocks
public import Loop
internal import Secrets
public import Serving
public import Tokens
public import Wire

/// A service's way to the credential authority, without whose leave nothing is opened or changed.
///
/// Tokens are checked here, with the authority's keys; that their sessions live, only the authority
/// knows. What changes or opens anything asks it for a lease. A list of public data may rely on the
/// authority's events instead, as long as none was missed.
@ServiceLoop
public final class AuthorityLink {
    /// How long the authority may take to say whether a session lives, in milliseconds.
    nonisolated static let answerMilliseconds: UInt64 = 1_000
    /// A lease is not used again for an operation that it may not outlast, in nanoseconds.
    nonisolated static let reuseMargin: UInt64 = 50_000_000
    /// How often keys are asked for because of a token that they do not verify, in nanoseconds.
    nonisolated static let keyPause: UInt64 = 200_000_000
    /// Leases that end within this time are let go together, in nanoseconds.
    nonisolated static let sweepPause: UInt64 = 10_000_000
    /// Sessions that are remembered as living.
    nonisolated static let rememberedLimit = 4_096
    /// Bytes of a derived key.
    nonisolated static let keyCount = 32
    /// How long an event may be, in bytes.
    private nonisolated static let eventLimit = 4_096
    /// How often it is asked anew when news of a session came while it was asked.
    private nonisolated static let attempts = 3

    let authority: ServiceClient
    private let clock: any BootClock
    private let timers: Timers
    private let domains: [String]
    private var verifier: TokenVerifier
    private var keysAsked: UInt64?
    /// When a token named a key that the authority did not know either.
    private var keysAskedInVain: UInt64?
    private var keyWaiters: [CheckedContinuation<Refusal?, Never>]?
    private var news = AuthorityNews()
    private var living: [[UInt8]: Lease.Subject] = [:]
    private let leases = LeaseTable()
    private var watches: [ObjectIdentifier: SessionWatch] = [:]
    private var isSweeping = false

    /// - Parameters:
    ///   - service: who asks, and in whose audience tokens must be.
    ///   - domains: of the keys that come with each lease, but for one of settings.
    ///   - authority: the way to the authority, whose events go to ``hear(_:)``.
    public init(
        service: ServiceName, domains: [String], authority: ServiceClient, clock: any BootClock,
        timers: Timers
    ) {
        self.domains = domains
        verifier = TokenVerifier(service: service)
        self.authority = authority
        self.clock = clock
        self.timers = timers
    }

    /// Whether the authority's events are heard, and none was missed lately.
    public var hearsAuthority: Bool { news.isCurrent(at: clock.now.nanoseconds) }

    /// How many leases are kept to serve again.
    public var leaseCount: Int { leases.count }
    /// How many leases are known, those of one operation included.
    var knownLeaseCount: Int { leases.knownCount }

    // MARK: Tokens

    /// Checks a token's signature, holder, audience, owner and deadline, and that no news of its
    /// end came.
    ///
    /// - Throws: ``SessionFault``, or that the authority's keys could not be had.
    public func admit(
        _ token: ReceivedToken, from peer: PeerEntry, owner: Owner
    ) async throws -> VerifiedSession {
        let asked = try await refreshKeysIfNeeded(owner)
        var checked = check(token, from: peer)
        if !asked, checked == nil, !verifier.hasKey(for: token) {
            // Perhaps the authority began anew and its first event is still on the way.
            if let keysAskedInVain { await timers.sleep(until: keysAskedInVain + Self.keyPause) }
            try await askForKeys(owner)
            checked = check(token, from: peer)
            keysAskedInVain = checked == nil ? clock.now.nanoseconds : nil
        }
        guard let session = try checked?.get(), session.claims.owner == owner else {
            throw SessionFault.invalid
        }
        return session
    }

    /// What the token opens, or that its session is over; nil where it is none.
    private func check(
        _ token: ReceivedToken, from peer: PeerEntry
    ) -> Result<VerifiedSession, SessionFault>? {
        var acting: ServiceName?
        if case .service(let name) = peer.role { acting = name }
        let presenter = peer.key
        let now = clock.now
        do throws(SessionFault) {
            return .success(
                try verifier.verify(token, presentedBy: presenter, as: acting, now: now))
        } catch {
            return error == .ended ? .failure(error) : nil
        }
    }

    private var mayAskForKeys: Bool {
        guard let keysAsked else { return true }
        return clock.now.nanoseconds &- keysAsked >= Self.keyPause
    }

    /// Fetches the keys where there are none of the run that the events are of.
    private func refreshKeysIfNeeded(_ owner: Owner) async throws -> Bool {
        // While they are asked for, a token is not held against those of the run that has ended.
        let isOther =
            news.run != nil && news.run != verifier.run && (mayAskForKeys || keyWaiters != nil)
        guard verifier.run == nil || isOther else { return false }
        try await askForKeys(owner)
        return true
    }

    /// Fetches the keys; whoever wants them meanwhile waits for the same answer.
    private func askForKeys(_ owner: Owner) async throws {
        guard keyWaiters == nil else {
            let refusal = await withCheckedContinuation { keyWaiters?.append($0) }
            if let refusal { throw refusal }
            return
        }
        keyWaiters = []
        var refusal: Refusal?
        keysAsked = clock.now.nanoseconds
        do throws(Refusal) {
            let reply = try await authority.call(AskTokenKeys(), options: options(owner)).reply
            let keys = reply.keys.map { key in
                TokenKey(id: key.id, publicKey: key.publicKey)
            }
            if reply.run != verifier.run { forgetEverything(endingRun: true) }
            verifier.install(keys: keys, run: reply.run)
        } catch {
            refusal = AuthorityAnswer.fault(of: error)
        }
        let waiting = keyWaiters ?? []
        keyWaiters = nil
        for waiter in waiting { waiter.resume(returning: refusal) }
        if let refusal { throw refusal }
    }

    // MARK: Sessions

    /// Makes sure that the session of a request lives: by the authority's events where it was asked
    /// before and none was missed since, else by asking.
    public func confirmLiving<R: Request>(_ call: Call<R>) async throws {
        let session = try call.requireSession()
        forgetIfSilent()
        if isTrusted, living[session.tokenDigest] != nil { return }
        let subject = Lease.Subject(session.claims)
        for _ in 0..<Self.attempts {
            let watch = startWatch(subject)
            defer { endWatch(watch) }
            do throws(Refusal) {
                _ = try await authority.call(
                    CheckSession(holder: session.claims.holder),
                    options: options(call.owner, call.token))
            } catch {
                throw AuthorityAnswer.fault(of: error)
            }
            guard !watch.isDisturbed else { continue }
            forgetIfSilent()
            if isTrusted { remember(session) }
            return
        }
        throw SessionFault.ended
    }

    private func remember(_ session: VerifiedSession) {
        if living.count >= Self.rememberedLimit { living.removeAll() }
        living[session.tokenDigest] = Lease.Subject(session.claims)
    }

    /// Whether the events are those of the run whose keys are here, and none was missed.
    private var isTrusted: Bool { hearsAuthority && news.run == verifier.run }

    // MARK: Leases

    /// Asks for leave, and keys where the operation needs any.
    ///
    /// A lease of a resource session serves again until it ends; one of a proof or of a settings
    /// session serves the one operation that it was asked for.
    public func lease<R: Request>(
        _ permission: Permission, for call: Call<R>
    ) async throws -> Lease {
        let session = try call.require(permission)
        forgetIfSilent()
        let use = LeaseTable.Use(
            token: session.tokenDigest, presenter: call.peer.key, namespace: permission.namespace,
            purpose: permission.purpose)
        let needed = clock.now.nanoseconds + Self.reuseMargin
        if let lease = leases.lease(for: use, until: needed) { return lease }

        let subject = Lease.Subject(session.claims)
        for _ in 0..<Self.attempts {
            let watch = startWatch(subject)
            defer { endWatch(watch) }
            let (lease, isReusable) = try await derive(permission, for: call, session.claims)
            guard !watch.isDisturbed else {
                guard !subject.isProof else { throw SessionFault.ended }
                continue
            }
            guard isReusable, !subject.isProof, isTrusted else {
                leases.note(lease)
                return lease
            }
            leases.keep(lease, for: use)
            sweepLater()
            return lease
        }
        throw SessionFault.ended
    }

    /// The leave under which another service, asked in the holder's name from now on, spends the
    /// proof of a request.
    ///
    /// That service has its own from the authority later than this moment, so that this one is over
    /// no later. It is revoked as others are.
    public func leaveThroughAnother<R: Request>(
        _ permission: Permission, for call: Call<R>
    ) throws -> Lease {
        let claims = try call.require(permission).claims
        let ends = min(
            clock.now.nanoseconds + Lease.longestMilliseconds * 1_000_000,
            claims.deadline ?? .max)
        let lease = Lease(keys: [], ends: ends, subject: Lease.Subject(claims))
        leases.note(lease)
        return lease
    }

    private func derive<R: Request>(
        _ permission: Permission, for call: Call<R>, _ claims: Claims
    ) async throws(Refusal) -> (Lease, isReusable: Bool) {
        let domains = permission.purpose == .settings ? [] : domains
        let request = Derive(
            namespace: permission.namespace, domains: domains, purpose: permission.purpose,
            wallet: permission.wallet, holder: claims.holder)
        let sent = clock.now.nanoseconds
        let answer: Answer<Derive>
        do throws(Refusal) {
            // An answer that comes when the longest lease is over would be of no use.
            answer = try await authority.call(
                request,
                options: options(call.owner, call.token, within: Lease.longestMilliseconds))
        } catch {
            throw AuthorityAnswer.fault(of: error, isSpending: claims.scope.isProof)
        }
        guard answer.attachments.count == domains.count,
            answer.attachments.allSatisfy({ $0.bytes.count == Self.keyCount })
        else { throw LeaseFault.unanswered.refusal }
        let given = min(answer.reply.leaseMilliseconds, Lease.longestMilliseconds)
        let ends = min(sent + given * 1_000_000, claims.deadline ?? .max)
        return (
            Lease(keys: answer.attachments, ends: ends, subject: Lease.Subject(claims)),
            answer.reply.reusable
        )
    }

    /// Sees to it that keys are wiped when their leases are over, though nobody asks for them
    /// again.
    private func sweepLater() {
        guard !isSweeping else { return }
        isSweeping = true
        ServiceLoop.start { [weak self] in
            while let self, let next = self.leases.sweep(at: self.clock.now.nanoseconds) {
                let soonest = self.clock.now.nanoseconds + Self.sweepPause
                await self.timers.sleep(until: max(next, soonest))
            }
            self?.isSweeping = false
        }
    }

    func options(
        _ owner: Owner, _ token: [UInt8] = [], within milliseconds: UInt64 = answerMilliseconds
    ) -> CallOptions {
        CallOptions(owner: owner, token: token, timeoutMilliseconds: milliseconds)
    }

    // MARK: Events

    /// Takes in what is heard of the authority's events, in the order of its coming.
    public func hear(_ notice: EventNotice) {
        switch notice {
        case .connected: break
        case .disconnected: lose()
        case .event(let bytes):
            guard let event = try? SessionEvent(decoding: bytes, limit: Self.eventLimit),
                event.isComplete
            else { return lose() }
            hear(event)
        }
    }

    private func lose() {
        news.lose()
        forgetEverything(endingRun: false)
    }

    private func hear(_ event: SessionEvent) {
        switch news.hear(run: event.run, number: event.number, at: clock.now.nanoseconds) {
        case .unbroken: break
        case .broken: forgetEverything(endingRun: false)
        case .newRun: forgetEverything(endingRun: true)
        }
        switch event.kind {
        case .heartbeat: break
        case .revoked:
            if let session = event.session {
                verifier.forget(session: session)
                revoke { $0.session == session && !$0.isProof }
            }
        case .ownerRevoked:
            if let owner = event.owner, let moment = event.issuedUpTo {
                verifier.forgetAll(
                    owner: owner,
                    issuedUpTo: BootMoment(bootID: clock.now.bootID, nanoseconds: moment),
                    only: .standard)
                revoke { $0.owner == owner && $0.issued <= moment }
            }
        }
    }

    private func revoke(where isMeant: (Lease.Subject) -> Bool) {
        living = living.filter { !isMeant($0.value) }
        leases.revoke(where: isMeant)
        for watch in watches.values where isMeant(watch.subject) { watch.disturb() }
    }

    private func forgetIfSilent() {
        if !hearsAuthority { forgetEverything(endingRun: false) }
    }

    /// Trusts no session until it was asked for anew.
    ///
    /// - Parameter endingRun: whether the authority began anew, so that even a lease under which an
    ///   operation runs is over.
    private func forgetEverything(endingRun: Bool) {
        living.removeAll()
        leases.forgetReusable()
        if endingRun {
            leases.revoke { _ in true }
            for watch in watches.values { watch.disturb() }
        }
    }

    private func startWatch(_ subject: Lease.Subject) -> SessionWatch {
        let watch = SessionWatch(subject)
        watches[ObjectIdentifier(watch)] = watch
        return watch
    }

    private func endWatch(_ watch: SessionWatch) { watches[ObjectIdentifier(watch)] = nil }
}

extension SessionEvent {
    /// Whether it names what its kind is about.
    fileprivate var isComplete: Bool {
        switch kind {
        case .heartbeat: true
        case .revoked: session != nil
        case .ownerRevoked: owner != nil && issuedUpTo != nil
        }
    }
}
