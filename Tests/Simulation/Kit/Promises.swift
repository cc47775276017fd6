import AuthorityMessages
import Clocks
import LimiterMessages
import Loop
import Secrets
import SharesMessages
import TestKit
import Tokens
import VaultMessages
import Wire

/// What must hold at every moment of a run, looked at when a reply leaves a service: after its
/// commit, so that whatever it says is acknowledged.
@ServiceLoop
final class Promises {
    private(set) var broken: [String] = []
    /// At which step of the run the machine is.
    var step: () -> Int = { 0 }
    /// Whether a service that runs has something of an owner.
    var has: (Owner, ServiceName) -> Bool? = { _, _ in nil }
    private let clock: FakeBootClock
    private var grants: [Owner: [Grant]] = [:]
    /// When something came last that drops all of an owner's grants, those on their way too.
    private var dropped: [Owner: BootMoment] = [:]
    private var attempts: [AttemptID: (charge: UInt64, code: [UInt8])] = [:]
    /// Codes that were ever to be an owner's passcode.
    private var codes: [Owner: Set<[UInt8]>] = [:]
    /// When a lock was taken, and when it was acknowledged.
    private var locks: [Owner: (taken: BootMoment, told: BootMoment)] = [:]
    private var revoked: [SessionID: BootMoment] = [:]
    /// The last change of each credential that was told, by the credential's id.
    private var changed: [String: Change] = [:]
    /// When the last removal of an owner was told to have begun.
    private var removed: [Owner: BootMoment] = [:]
    /// Gates that were told to be closed, and which nobody has tried to open since.
    private var closed: [Owner: BootMoment] = [:]
    private var lastUnlock: [Owner: BootMoment] = [:]
    /// When somebody last began or ended to try to open the gate with a passcode or a token.
    private var lastTry: [Owner: UInt64] = [:]
    /// Such tries that nobody has had an answer to.
    private var openTries: [Owner: Set<UInt64>] = [:]
    /// How much of an owner-managed session's time there was when it was renewed last, at most.
    private var renewed: [SessionID: UInt64] = [:]
    /// What was known when a request arrived, by the number of its exchange.
    private var arrivals: [UInt64: Arrival] = [:]
    private var authorityEnded: [RunID: BootMoment] = [:]
    private var liveRun: RunID?

    private struct Change {
        let moment: BootMoment
        let revision: UInt64
        /// The session that it left alive.
        let kept: SessionID?
    }

    private struct Arrival {
        var awake: UInt64 = 0
        var grants = 0
    }

    /// One evaluation of a device secret that was given out and not confirmed.
    private struct Grant {
        let charge: UInt64
        let moment: BootMoment
    }

    /// No lease is longer, in nanoseconds.
    private static let lease: UInt64 = 250_000_000
    /// What a list of public data may rest on: news that are not older, in nanoseconds.
    private static let silence: UInt64 = 2_000_000_000
    private static let wait: UInt64 = 60_000_000_000
    /// How long an owner-managed session lives that is not renewed, in nanoseconds.
    private static let renewal: UInt64 = 15_000_000_000
    /// Whoever opens a gate without a passcode may take so long, in nanoseconds.
    private static let opening: UInt64 = 10_000_000_000
    private static let triesBeforeWait = 6

    init(clock: FakeBootClock) { self.clock = clock }

    func fail(_ sentence: String) {
        if broken.count < 20 { broken.append("step \(step()): \(sentence)") }
    }

    // MARK: Replies that leave

    func watch(_ exchange: SimulatedNetwork.Exchange, _ reply: ReplyFrames) {
        if openTries[exchange.header.owner]?.remove(exchange.number) != nil {
            lastTry[exchange.header.owner] = clock.now.nanoseconds
        }
        guard let header = try? ReplyHeader(decoding: reply.header), header.status == .ok else {
            return
        }
        let owner = exchange.header.owner
        switch exchange.header.method {
        case Begin.method: watchBegin(owner, exchange, reply)
        case AskStanding.method: watchStanding(owner, exchange, reply)
        // As many tries as it takes for a wait, which begins with it.
        case RepairAttempts.method:
            let grant = Grant(charge: 0, moment: exchange.takenAt ?? clock.now)
            grants[owner] = Array(repeating: grant, count: Self.triesBeforeWait)
        case Lock.method: note(lock: exchange, owner)
        case Revoke.method: note(revoke: exchange)
        case SetPasscode.method where !header.repeated:
            note(change: (try? reply.answer(to: SetPasscode.self))?.reply.revision, exchange)
        case DisablePasscode.method where !header.repeated:
            note(change: (try? reply.answer(to: DisablePasscode.self))?.reply.revision, exchange)
        case SetProtection.method where !header.repeated:
            note(
                change: (try? reply.answer(to: SetProtection.self))?.reply.revision, exchange,
                keeping: true)
        case EnrolDeviceKey.method where !header.repeated:
            note(
                change: (try? reply.answer(to: EnrolDeviceKey.self))?.reply.revision, exchange,
                keeping: true)
        case RemoveDeviceKey.method where !header.repeated:
            note(
                change: (try? reply.answer(to: RemoveDeviceKey.self))?.reply.revision, exchange,
                keeping: true)
        case BeginRemoval.method:
            watchOrigin(exchange)
            removed[owner] = clock.now
        case BeginFreshReset.method: watchFreshReset(owner, reply)
        case Verify.method: watch(opened: (try? reply.answer(to: Verify.self))?.attachments.first)
        case OpenSession.method:
            watch(opened: (try? reply.answer(to: OpenSession.self))?.attachments.first)
        case OpenDeviceSession.method:
            watch(opened: (try? reply.answer(to: OpenDeviceSession.self))?.attachments.first)
        case Derive.method: watchDerive(exchange)
        default: break
        }
        if isUnderLease(exchange) { watchWork(exchange, isRepeat: header.repeated) }
    }

    /// After six evaluations that nobody confirmed, the next comes a minute later at the soonest,
    /// whatever was killed or booted meanwhile.
    private func watchBegin(
        _ owner: Owner, _ exchange: SimulatedNetwork.Exchange, _ reply: ReplyFrames
    ) {
        guard let answer = try? reply.answer(to: Begin.self),
            case .charged(let attempt, let charge) = answer.reply
        else { return }
        let code = exchange.frames.attachments.first?.bytes.withBytes { Array($0) } ?? []
        attempts[attempt] = (charge, code)
        let now = clock.now
        let before = grants[owner, default: []]
        if before.count >= Self.triesBeforeWait, let last = before.last {
            let since = last.moment.bootID == now.bootID ? last.moment.nanoseconds : 0
            if now.nanoseconds < since + Self.wait {
                fail(
                    "evaluation \(before.count + 1) of \(owner.text) came "
                        + "\((now.nanoseconds - since) / 1_000_000) ms after the one before")
            }
        }
        // It was charged when the limiter took the request, or later.
        let moment = exchange.takenAt ?? now
        if let dropped = dropped[owner], !isBefore(dropped, moment),
            dropped.bootID == moment.bootID
        {
            return
        }
        grants[owner, default: []].append(Grant(charge: charge, moment: moment))
    }

    /// A count is lowered by a confirmation or a proof alone.
    private func watchStanding(
        _ owner: Owner, _ exchange: SimulatedNetwork.Exchange, _ reply: ReplyFrames
    ) {
        guard let standing = try? reply.answer(to: AskStanding.self).reply,
            let before = arrivals[exchange.number]
        else { return }
        let charged = min(before.grants, grants[owner]?.count ?? 0)
        if standing.failed < charged {
            fail("\(standing.failed) tries are told of \(charged) that nobody confirmed")
        }
    }

    /// A confirmation that arrives may have its effect though its answer never leaves.
    func watchArrival(_ exchange: SimulatedNetwork.Exchange) {
        let owner = exchange.header.owner
        switch exchange.header.method {
        // Whoever proves that he has the access key has nothing left to guess, and of an owner who
        // is forgotten there is nothing to guess.
        case Prove.method, Forget.method:
            grants[owner] = []
            dropped[owner] = clock.now
        case AskStanding.method, Derive.method:
            arrivals[exchange.number] = Arrival(
                awake: clock.awakeNanoseconds, grants: grants[owner]?.count ?? 0)
        case Verify.method, OpenDeviceSession.method:
            closed[owner] = nil
            openTries[owner, default: []].insert(exchange.number)
            lastTry[owner] = clock.now.nanoseconds
        case Unlock.method:
            closed[owner] = nil
            lastUnlock[owner] = clock.now
        case Renew.method:
            if let claims = claims(of: exchange) {
                renewed[claims.session] = clock.awakeNanoseconds
            }
        default: break
        }
        guard exchange.header.method == Confirm.method,
            let request = try? Confirm(decoding: exchange.frames.body),
            let (charge, code) = attempts[request.attempt]
        else { return }
        if codes[owner]?.contains(code) != true {
            fail("an attempt with a code that was never a passcode was confirmed")
        }
        grants[owner]?.removeAll { $0.charge <= charge }
    }

    /// A code is about to become an owner's passcode.
    func expect(_ code: String, of owner: Owner) {
        codes[owner, default: []].insert(Array(code.utf8))
    }

    private func note(revoke exchange: SimulatedNetwork.Exchange) {
        guard let claims = claims(of: exchange) else { return }
        revoked[claims.session] = revoked[claims.session] ?? clock.now
    }

    private func note(lock exchange: SimulatedNetwork.Exchange, _ owner: Owner) {
        let now = clock.now
        let taken = exchange.takenAt ?? now
        locks[owner] = (taken, now)
        if let unlock = lastUnlock[owner], unlock.bootID == taken.bootID,
            taken.nanoseconds < unlock.nanoseconds + Self.opening
        {
            return
        }
        // One that was under way then may have come after the lock, and opened the gate again.
        if openTries[owner, default: []].isEmpty,
            lastTry[owner].map({ $0 < taken.nanoseconds }) ?? true
        {
            closed[owner] = now
        }
    }

    /// A change of a credential was told: what it was done with had its passcode.
    private func note(
        change revision: UInt64?, _ exchange: SimulatedNetwork.Exchange, keeping: Bool = false
    ) {
        guard let revision, let claims = claims(of: exchange) else { return }
        watchOrigin(exchange)
        // One that changed nothing tells the number of a change before.
        guard claims.revision < revision, (changed[claims.credential]?.revision ?? 0) < revision
        else { return }
        changed[claims.credential] = Change(
            moment: clock.now, revision: revision, kept: keeping ? claims.session : nil)
    }

    /// Nobody authorises it, so nobody may have anything of the owner that it would destroy.
    private func watchFreshReset(_ owner: Owner, _ reply: ReplyFrames) {
        guard
            case .begun(_, let outstanding)? =
                (try? reply.answer(to: BeginFreshReset.self))?.reply
        else { return }
        removed[owner] = clock.now
        // One that only has to be finished may have made a record since.
        guard !outstanding.isEmpty else { return }
        for service in [ServiceName.credentialAuthority, .attemptLimiter, .walletVault]
        where has(owner, service) == true {
            fail("a fresh reset begins, and \(service.text) has something of its owner")
        }
    }

    /// The limiter's store was lost, and nobody knows any more what was evaluated.
    func forgetTries() { grants = [:] }

    private func watchOrigin(_ exchange: SimulatedNetwork.Exchange) {
        guard let claims = claims(of: exchange), claims.origin != .passcode else { return }
        fail("\(exchange.header.method) with a session of origin \(claims.origin.text)")
    }

    /// No session leaves under a credential that was changed, and the change acknowledged, before.
    private func watch(opened token: SharedSecret?) {
        guard let token, let claims = Self.claims(in: token.bytes.withBytes { Array($0) }) else {
            return
        }
        liveRun = claims.run
        if claims.lifetime == .ownerManaged { renewed[claims.session] = clock.awakeNanoseconds }
        if let change = changed[claims.credential], claims.revision < change.revision {
            fail("a credential that was changed opened a session")
        }
    }

    /// Keys are given for sessions that live, while their owner is unlocked.
    private func watchDerive(_ exchange: SimulatedNetwork.Exchange) {
        guard let claims = claims(of: exchange), let arrival = arrivals[exchange.number] else {
            return
        }
        let now = clock.now
        let taken = exchange.takenAt ?? now
        if let moment = closed[claims.owner], isBefore(moment, taken) {
            fail("a key was given while its owner was locked")
        }
        if claims.lifetime == .ownerManaged, let renewal = renewed[claims.session],
            arrival.awake >= renewal + Self.renewal
        {
            fail("a key was given for a session that had lapsed")
        }
        if let deadline = claims.deadline, taken.nanoseconds >= deadline {
            fail("a key was given for a session that ran out")
        }
        watchEnd("a key was given", claims, slack: 0, now)
    }

    private func isBefore(_ moment: BootMoment, _ other: BootMoment) -> Bool {
        moment.bootID == other.bootID && moment.nanoseconds < other.nanoseconds
    }

    /// A process ended.
    func ended(_ service: ServiceName) {
        guard service == .credentialAuthority else { return }
        openTries = [:]
        lastTry = [:]
        guard let run = liveRun else { return }
        authorityEnded[run] = clock.now
        liveRun = nil
    }

    // MARK: Work under the authority's leave

    /// Whether an answer is given only while the leave for it lasts, or on news of the session.
    ///
    /// A run of the migration, and a restoration that the vault was asked for, go on by themselves.
    private func isUnderLease(_ exchange: SimulatedNetwork.Exchange) -> Bool {
        switch exchange.service {
        case .attemptLimiter, .credentialAuthority: false
        case .walletVault: true
        case .backupShares: exchange.header.method != RestoreWallet.method
        case .migration: false
        }
    }

    /// Nothing is done for a session that is over.
    private func watchWork(_ exchange: SimulatedNetwork.Exchange, isRepeat: Bool) {
        guard let claims = claims(of: exchange) else { return }
        let now = clock.now
        let method = exchange.header.method
        // A list opens nothing and may rest on news.
        let isList = method == ListWallets.method || method == FindWallet.method
        if claims.owner != exchange.header.owner {
            fail("\(method) for \(exchange.header.owner.text) with a token of another owner")
        }
        guard claims.boot == now.bootID else {
            return fail("\(method) under a session of an earlier boot")
        }
        // What is repeated from the journal is done no second time, and tells nothing but what
        // anybody who knows the key may ask for without a session.
        guard !isRepeat else { return }
        if let deadline = claims.deadline, now.nanoseconds >= deadline {
            fail("\(method) under a session that ran out")
        }
        // What opens or changes anything has the authority's leave, which ends before a lock is
        // acknowledged; only a list may rest on news.
        let slack = isList ? Self.silence : 0
        watchEnd(method, claims, slack: slack, now)
        if let end = authorityEnded[claims.run],
            isAfter(end, claims, by: isList ? Self.silence : Self.lease, now)
        {
            fail("\(method) under a session of an earlier run of the authority")
        }
    }

    /// Nothing is done for a session that a lock, a revocation or a change ended.
    private func watchEnd(
        _ what: String, _ claims: Claims, slack: UInt64, _ now: BootMoment
    ) {
        if claims.lifetime == .standard, let lock = locks[claims.owner],
            claims.issued <= lock.taken.nanoseconds, isAfter(lock.told, claims, by: slack, now)
        {
            fail("\(what) under a session that a lock had ended")
        }
        if let moment = revoked[claims.session], isAfter(moment, claims, by: slack, now) {
            fail("\(what) under a session that was revoked")
        }
        if let change = changed[claims.credential], claims.revision < change.revision,
            change.kept != claims.session, isAfter(change.moment, claims, by: slack, now)
        {
            fail("\(what) under a session of an earlier passcode")
        }
        if let moment = removed[claims.owner], isAfter(moment, claims, by: slack, now) {
            fail("\(what) under a session of an owner who was being removed")
        }
    }

    private func isAfter(
        _ moment: BootMoment, _ claims: Claims, by slack: UInt64, _ now: BootMoment
    ) -> Bool {
        moment.bootID == now.bootID && claims.issued <= moment.nanoseconds
            && now.nanoseconds > moment.nanoseconds + slack
    }

    // MARK: Tokens

    private func claims(of exchange: SimulatedNetwork.Exchange) -> Claims? {
        Self.claims(in: exchange.frames.token)
    }

    /// The claims of a token, unchecked.
    static func claims(in token: [UInt8]) -> Claims? {
        let parts = token.split(separator: 0x2E)
        guard parts.count >= 3, let body = Base64.url.decode(Array(parts[2])), body.count > 64
        else { return nil }
        return try? Claims(decoding: Array(body.dropLast(64)), limit: 8_192)
    }
}
