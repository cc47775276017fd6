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
    private let clock: FakeBootClock
    private var grants: [Owner: [Grant]] = [:]
    private var attempts: [AttemptID: (charge: UInt64, code: [UInt8])] = [:]
    /// Codes that were ever to be an owner's passcode.
    private var codes: [Owner: Set<[UInt8]>] = [:]
    /// When a lock was taken, and when it was acknowledged.
    private var locks: [Owner: (taken: BootMoment, told: BootMoment)] = [:]
    private var revoked: [SessionID: BootMoment] = [:]
    private var changed: [Owner: (moment: BootMoment, revision: UInt64)] = [:]
    private var authorityEnded: [RunID: BootMoment] = [:]
    private var liveRun: RunID?

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
    private static let triesBeforeWait = 6

    init(clock: FakeBootClock) { self.clock = clock }

    func fail(_ sentence: String) {
        if broken.count < 20 { broken.append("step \(step()): \(sentence)") }
    }

    // MARK: Replies that leave

    func watch(_ exchange: SimulatedNetwork.Exchange, _ reply: ReplyFrames) {
        guard let header = try? ReplyHeader(decoding: reply.header), header.status == .ok else {
            return
        }
        let owner = exchange.header.owner
        switch exchange.header.method {
        case Begin.method: watchBegin(owner, exchange, reply)
        case Lock.method: locks[owner] = (exchange.takenAt ?? clock.now, clock.now)
        case Revoke.method: note(revoke: exchange)
        case SetPasscode.method: note(change: reply, owner)
        case Verify.method: watch(verify: reply, owner)
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
        grants[owner, default: []].append(Grant(charge: charge, moment: moment))
    }

    /// A confirmation that arrives may have its effect though its answer never leaves.
    func watchArrival(_ exchange: SimulatedNetwork.Exchange) {
        // Whoever proves that he has the access key has nothing left to guess.
        if exchange.header.method == Prove.method { grants[exchange.header.owner] = [] }
        guard exchange.header.method == Confirm.method,
            let request = try? Confirm(decoding: exchange.frames.body),
            let (charge, code) = attempts[request.attempt]
        else { return }
        let owner = exchange.header.owner
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

    private func note(change reply: ReplyFrames, _ owner: Owner) {
        guard let header = try? ReplyHeader(decoding: reply.header), !header.repeated,
            let answer = try? reply.answer(to: SetPasscode.self)
        else { return }
        changed[owner] = (clock.now, answer.reply.revision)
    }

    /// No session leaves under a passcode that was changed, and the change acknowledged, before.
    private func watch(verify reply: ReplyFrames, _ owner: Owner) {
        guard let answer = try? reply.answer(to: Verify.self),
            let token = answer.attachments.first,
            let claims = Self.claims(in: token.bytes.withBytes { Array($0) })
        else { return }
        liveRun = claims.run
        if let change = changed[owner], claims.revision < change.revision {
            fail("a passcode that was changed opened a session")
        }
    }

    /// A process ended.
    func ended(_ service: ServiceName) {
        guard service == .credentialAuthority, let run = liveRun else { return }
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
        // A list, and what is repeated from the journal, opens nothing and may rest on news.
        let isList =
            isRepeat || method == ListWallets.method || method == FindWallet.method
        if claims.owner != exchange.header.owner {
            fail("\(method) for \(exchange.header.owner.text) with a token of another owner")
        }
        guard claims.boot == now.bootID else {
            return fail("\(method) under a session of an earlier boot")
        }
        if let deadline = claims.deadline, now.nanoseconds >= deadline {
            fail("\(method) under a session that ran out")
        }
        // What opens or changes anything has the authority's leave, which ends before a lock is
        // acknowledged; only a list may rest on news.
        let slack = isList ? Self.silence : 0
        if let lock = locks[claims.owner], claims.issued <= lock.taken.nanoseconds,
            isAfter(lock.told, claims, by: slack, now)
        {
            fail("\(method) under a session that a lock had ended")
        }
        if let moment = revoked[claims.session], isAfter(moment, claims, by: slack, now) {
            fail("\(method) under a session that was revoked")
        }
        if let change = changed[claims.owner], claims.revision < change.revision,
            isAfter(change.moment, claims, by: slack, now)
        {
            fail("\(method) under a session of an earlier passcode")
        }
        if let end = authorityEnded[claims.run],
            isAfter(end, claims, by: isList ? Self.silence : Self.lease, now)
        {
            fail("\(method) under a session of an earlier run of the authority")
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
