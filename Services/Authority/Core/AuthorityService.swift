internal import AuthorityMessages
public import Clocks
internal import LimiterMessages
public import Loop
public import Secrets
public import Serving
public import Storage
public import Tokens
public import Wire

/// What an authority is built from: its ports, and where it keeps its state.
public struct AuthorityParts {
    /// Over a store of ``AuthorityService/schema``.
    public var group: CommitGroup
    public var clock: any BootClock
    /// For the renewal of owner-managed sessions.
    public var awake: any AwakeClock
    /// For the dates of failed tries, which people are shown.
    public var wallClock: any WallClock
    public var timers: Timers
    public var random: any RandomSource
    /// To the attempt limiter.
    public var limiter: ServiceClient
    /// To the wallet vault.
    public var vault: ServiceClient
    public var kdf: any PasscodeKDF
    /// To hardware tokens.
    public var deviceKeys: any DeviceKeyReader
    public var events: any EventPort
    public var metrics: MetricsRegistry
    public var settings: AuthoritySettings

    public init(
        group: CommitGroup, clock: any BootClock, awake: any AwakeClock,
        wallClock: any WallClock, timers: Timers, random: any RandomSource,
        limiter: ServiceClient, vault: ServiceClient, kdf: any PasscodeKDF,
        deviceKeys: any DeviceKeyReader = NoDeviceKeys(), events: any EventPort,
        metrics: MetricsRegistry, settings: AuthoritySettings = AuthoritySettings()
    ) {
        self.group = group
        self.clock = clock
        self.awake = awake
        self.wallClock = wallClock
        self.timers = timers
        self.random = random
        self.limiter = limiter
        self.vault = vault
        self.kdf = kdf
        self.deviceKeys = deviceKeys
        self.events = events
        self.metrics = metrics
        self.settings = settings
    }
}

/// The credential authority.
///
/// Each method stands in a file of its own. Sessions, gates and checks under way are memory and end
/// with the process; credentials are the store's.
@ServiceLoop
public final class AuthorityService: Service {
    public nonisolated static let name = ServiceName.credentialAuthority

    public nonisolated static let methods: [Method<AuthorityService>] = [
        .on(Verify.self) { try await $0.verify($1) },
        .on(SetPasscode.self) { try await $0.setPasscode($1) },
        .on(ImportCredential.self) { try await $0.importCredential($1) },
        .on(BeginRemoval.self) { try await $0.beginRemoval($1) },
        .on(BeginFreshReset.self) { try await $0.beginFreshReset($1) },
        .on(CheckRemoval.self) { try $0.checkRemoval($1) },
        .on(ReportWiped.self) { try $0.reportWiped($1) },
        .on(FinishRemoval.self) { try await $0.finishRemoval($1) },
        .on(DisablePasscode.self) { try await $0.disablePasscode($1) },
        .on(SetProtection.self) { try await $0.setProtection($1) },
        .on(OpenSession.self) { try await $0.openSession($1) },
        .on(Unlock.self) { try await $0.unlock($1) },
        .on(OpenDeviceSession.self) { try await $0.openDeviceSession($1) },
        .on(AskDeviceKey.self) { try $0.deviceKey($1) },
        .on(EnrolDeviceKey.self) { try await $0.enrolDeviceKey($1) },
        .on(RemoveDeviceKey.self) { try await $0.removeDeviceKey($1) },
        .on(Renew.self) { try $0.renew($1) },
        .on(AwaitUnlocked.self) { try await $0.awaitUnlocked($1) },
        .on(ListSessions.self) { $0.sessions($1) },
        .on(EndSession.self) { try await $0.endSession($1) },
        .on(Derive.self) { try $0.derive($1) },
        .on(CheckSession.self) { try $0.checkSession($1) },
        .on(Lock.self) { try await $0.lock($1) },
        .on(Revoke.self) { try await $0.revoke($1) },
        .on(AskStatus.self) { try await $0.status($1) },
        .on(RepairOwnerAttempts.self) { try await $0.repairAttempts($1) },
        .on(AskSignPolicy.self) { try $0.signPolicy($1) },
        .on(SetSignPolicy.self) { try await $0.setSignPolicy($1) },
        .on(AskTokenKeys.self) { $0.tokenKeys($1) },
    ]

    public nonisolated static let schema = AuthorityStore.schema

    public nonisolated static let ownerTables = AuthorityStore.ownerTables

    /// Half of what subscribers count on, so that a late turn of the loop is no silence.
    private nonisolated static let heartbeatMilliseconds: UInt64 = 500

    let group: CommitGroup
    let store: AuthorityStore
    let clock: any BootClock
    let wallClock: any WallClock
    let timers: Timers
    let random: any RandomSource
    let limiter: LimiterLink
    let vault: VaultLink
    let kdf: any PasscodeKDF
    let deviceKeys: any DeviceKeyReader
    let tokenMilliseconds: UInt64
    let metrics: MetricsRegistry
    let calibration: KDFCalibration
    let attempts: AttemptQueue
    let openTries = OpenTries()
    let registry: SessionRegistry
    let waits = UnlockWaits()
    var locks = LockWatch()
    /// Owners whose credential is being changed.
    var changing: Set<Owner> = []
    /// Owners with one of whose tokens something is being done.
    var tokensInUse: Set<Owner> = []
    private var verifier: TokenVerifier

    /// - Throws: where no signing key can be made.
    public init(_ parts: AuthorityParts) throws {
        let settings = parts.settings
        group = parts.group
        store = AuthorityStore(parts.group.store)
        clock = parts.clock
        wallClock = parts.wallClock
        timers = parts.timers
        random = parts.random
        limiter = LimiterLink(
            client: parts.limiter, timers: parts.timers,
            timeoutMilliseconds: settings.limiterTimeoutMilliseconds)
        vault = VaultLink(
            client: parts.vault, timeoutMilliseconds: settings.vaultTimeoutMilliseconds)
        kdf = parts.kdf
        deviceKeys = parts.deviceKeys
        tokenMilliseconds = settings.tokenMilliseconds
        metrics = parts.metrics
        calibration = KDFCalibration(
            kdf: parts.kdf, clock: parts.clock,
            targetMilliseconds: settings.kdfTargetMilliseconds)
        attempts = AttemptQueue(
            AttemptSchedule.Bounds(
                threads: settings.kdfThreads, waiting: settings.kdfQueue,
                waitingPerOwner: settings.kdfQueuePerOwner))
        registry = try SessionRegistry(
            clock: parts.clock, awake: parts.awake, waits: waits, random: parts.random,
            events: parts.events, limit: settings.sessions)
        verifier = TokenVerifier(service: .credentialAuthority)
        verifier.install(keys: [registry.tokenKey], run: registry.run)
    }

    /// Begins to tell subscribers every half second that the authority is there, and to wipe
    /// sessions that are over; finishes resets that an earlier run had all but finished, and
    /// journals what enrolments of tokens it broke off.
    public func startHeartbeat() {
        registry.beat()
        retireBrokenEnrolments()
        ServiceLoop.start { [weak self] in await self?.finishRemovals() }
        ServiceLoop.start { [weak self, timers] in
            while true {
                await timers.sleep(milliseconds: Self.heartbeatMilliseconds)
                guard let self else { return }
                registry.sweep()
                registry.beat()
            }
        }
    }

    // MARK: What the host asks

    public func admit(
        _ token: ReceivedToken, from peer: PeerEntry, owner: Owner
    ) async throws -> VerifiedSession {
        var acting: ServiceName?
        if case .service(let name) = peer.role { acting = name }
        let session = try verifier.verify(
            token, presentedBy: peer.key, as: acting, now: clock.now)
        guard registry.live(session.claims.session) != nil else { throw SessionFault.ended }
        return session
    }

    /// Nothing in memory comes from the store.
    public func rebuild() throws {}

    public func owners() throws -> [Owner] { try store.owners() }

    public func ownerCount() throws -> Int { try store.ownerCount() }

    public func gauges() -> [Gauge] {
        [
            Gauge(name: "sessions", help: "Sessions that live.", value: Double(registry.count)),
            Gauge(
                name: "open_gates", help: "Owners who are unlocked.",
                value: Double(registry.openGateCount)),
            Gauge(
                name: "kdf_queue", help: "Passcode checks that wait for a thread.",
                value: Double(attempts.waitingCount)),
        ]
    }

    // MARK: What several methods need

    /// The session that a holder presents for himself, if it lives and its credential is unchanged.
    func ownSession<R: Request>(of call: Call<R>) throws -> SessionRegistry.Session {
        let claims = try call.requireSession().claims
        guard claims.holder == call.peer.key else { throw SessionFault.invalid }
        return try current(claims)
    }

    /// The session of a holder in whose name a service of its audience asks.
    func session<R: Request>(
        of holder: PeerKey, in call: Call<R>
    ) throws -> SessionRegistry.Session {
        let claims = try call.requireSession().claims
        guard claims.holder == holder, case .service(let service) = call.peer.role,
            claims.audience.contains(service)
        else { throw SessionFault.invalid }
        return try current(claims)
    }

    /// The registry's view of verified claims.
    private func current(_ claims: Claims) throws -> SessionRegistry.Session {
        guard let session = registry.live(claims.session) else { throw SessionFault.ended }
        guard let record = try store.credential(of: claims.owner)?.record,
            record.id.utf8.elementsEqual(claims.credential.utf8),
            record.revision == session.claims.revision
        else {
            registry.revoke(claims.session)
            throw SessionFault.ended
        }
        return session
    }

    /// Suspends until a moment on the boot clock.
    func wait(until moment: UInt64) async {
        while clock.now.nanoseconds < moment { await timers.sleep(until: moment) }
    }
}
