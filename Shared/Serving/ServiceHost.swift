public import Clocks
internal import Crypto
public import Loop
internal import Storage
internal import Tokens
public import Wire

/// Where a host sends its replies: the bus, or what stands for it in a simulation.
@ServiceLoop
public protocol ReplyPort: AnyObject {
    func send(_ reply: ReplyFrames, to route: [UInt8])
}

/// Who a key belongs to, as the peers folder has it now.
public protocol PeerDirectory: Sendable {
    func entry(for key: PeerKey) -> PeerEntry?
}

/// Runs a service: admits requests, keeps their outcomes, commits once a turn, then answers.
@ServiceLoop
public final class ServiceHost<S: Service> {
    private typealias Reply = (Ending) -> Void

    private let service: S
    private let group: CommitGroup
    private let peers: any PeerDirectory
    private let clock: any BootClock
    private let limits: Limits
    private let port: any ReplyPort
    private let version: String
    private let started: UInt64
    private let methods: [String: Method<S>]
    private let builtIns: [String: BuiltIn]
    private var outbox: [Outgoing] = []
    private var inFlight: [PeerKey: Int] = [:]
    private var inFlightTotal = 0
    /// The changes at work, with the digest of each.
    private var underWay: [ChangeTicket.Name: [UInt8]] = [:]
    private var lastFault: StorageFault?
    public let metrics: MetricsRegistry
    /// Told the code of every error after which it is not known what happened.
    public var onTrouble: (@ServiceLoop (String) -> Void)?

    public init(
        _ service: S, group: CommitGroup, peers: any PeerDirectory, clock: any BootClock,
        port: any ReplyPort, metrics: MetricsRegistry, version: String, limits: Limits = Limits()
    ) {
        self.service = service
        self.group = group
        self.peers = peers
        self.clock = clock
        self.port = port
        self.metrics = metrics
        self.version = version
        self.limits = limits
        started = clock.now.nanoseconds
        methods = Dictionary(uniqueKeysWithValues: S.methods.map { ($0.name, $0) })
        builtIns = Dictionary(
            uniqueKeysWithValues: BuiltIn.allCases.map { ("\(S.name.prefix).\($0.rawValue)", $0) })
    }

    // MARK: A request comes in

    /// Takes a request from the bus; its answer leaves at the end of a turn.
    ///
    /// - Parameter header: as far as it came, so that a refusal can name the request.
    public func receive(
        route: [UInt8], peer: PeerKey, header: [UInt8], content: Result<RequestFrames, BusFault>
    ) {
        let arrival = clock.now.nanoseconds
        do throws(BusFault) {
            let frames = try content.get()
            let header = try readHeader(frames.header)
            take(frames, header, from: peer, route: route, arrival: arrival)
        } catch {
            let id = RequestHeader.id(ofUnreadable: header) ?? 0
            metrics.count(method: "-", result: error.rawValue, nanoseconds: 0)
            outbox.append(
                Outgoing(
                    route: route, id: id, frames: ReplyFrames(id: id, refusal: error.refusal),
                    claimsWrite: false, ticket: nil, conditions: nil, mark: nil, isLook: false))
        }
    }

    private func readHeader(_ bytes: [UInt8]) throws(BusFault) -> RequestHeader {
        do {
            return try RequestHeader(decoding: bytes)
        } catch {
            throw error == .invalid("v") ? .unsupportedVersion : .malformed
        }
    }

    private func take(
        _ frames: RequestFrames, _ header: RequestHeader, from key: PeerKey, route: [UInt8],
        arrival: UInt64
    ) {
        let builtIn = builtIns[header.method]
        let method = builtIn == nil ? methods[header.method] : nil
        let name = builtIn == nil && method == nil ? "-" : header.method
        let reply: Reply = { [self] ending in
            let result: String
            let out: ReplyFrames
            switch ending.answer {
            case .success(let frames):
                result = "ok"
                out = frames
            case .failure(let refusal):
                result = refusal.code
                out = ReplyFrames(id: header.id, refusal: refusal)
                if refusal.outcome == .unknown { onTrouble?(refusal.code) }
            }
            metrics.count(
                method: name, result: result, nanoseconds: clock.now.nanoseconds &- arrival)
            outbox.append(
                Outgoing(
                    route: route, id: header.id, frames: out, claimsWrite: ending.claimsWrite,
                    ticket: ending.ticket, conditions: ending.conditions, mark: ending.mark,
                    isLook: ending.isLook))
        }
        do throws(BusFault) {
            let peer = try admit(header, key)
            if let builtIn { return try answer(builtIn, header, frames, peer, reply) }
            guard let method else { throw .unknownMethod }
            guard method.callers.admits(peer.role) else { throw .forbidden }
            try start(method, frames, header, peer, arrival: arrival, reply)
        } catch {
            reply(Ending(answer: .failure(error.refusal)))
        }
    }

    /// Whether this peer may speak for this owner at all, and has room for one request more.
    private func admit(_ header: RequestHeader, _ key: PeerKey) throws(BusFault) -> PeerEntry {
        guard let peer = peers.entry(for: key), peer.owners.admits(header.owner) else {
            throw .forbidden
        }
        guard inFlightTotal < limits.inFlight, inFlight[key, default: 0] < limits.inFlightPerPeer
        else { throw .busy }
        return peer
    }

    private func start(
        _ method: Method<S>, _ frames: RequestFrames, _ header: RequestHeader, _ peer: PeerEntry,
        arrival: UInt64, _ reply: @escaping Reply
    ) throws(BusFault) {
        let work = try method.prepare(frames)
        var ticket: ChangeTicket?
        if method.kind == .change {
            guard let key = header.idempotency else { throw .malformed }
            ticket = ChangeTicket(
                name: .init(peer: peer.key, owner: header.owner, key: key),
                digest: OutcomeJournal.digest(method: header.method, body: frames.body))
        }
        let timeout = min(header.timeoutMilliseconds, limits.timeoutMilliseconds)
        let admission = Method<S>.Admission(
            header: header, frames: frames, peer: peer,
            deadline: arrival + timeout * 1_000_000, ticket: ticket)
        startCounted(peer.key) { await self.run(work, method, admission, reply) }
    }

    /// Starts work that counts as a request under way of the peer.
    private func startCounted(
        _ peer: PeerKey, _ work: @escaping @ServiceLoop @Sendable () async -> Void
    ) {
        inFlight[peer, default: 0] += 1
        inFlightTotal += 1
        ServiceLoop.start {
            await work()
            self.inFlight[peer, default: 1] -= 1
            if self.inFlight[peer] == 0 { self.inFlight[peer] = nil }
            self.inFlightTotal -= 1
        }
    }

    private func run(
        _ work: Method<S>.Work, _ method: Method<S>, _ admission: Method<S>.Admission,
        _ reply: Reply
    ) async {
        var admission = admission
        var ticket: ChangeTicket?
        do {
            admission.session = try await session(of: admission)
            guard method.tokenUse != .required || admission.session != nil else {
                throw SessionFault.invalid
            }
            try settle(admission)
            if let wanted = admission.ticket {
                if let known = try await repeated(wanted, id: admission.header.id) {
                    return reply(Ending(answer: known, claimsWrite: true))
                }
                underWay[wanted.name] = wanted.digest
                ticket = wanted
            }
            guard clock.now.nanoseconds < admission.deadline else { throw BusFault.overdue }
            let mark = WriteMark()
            let encoded = try await CommitGroup.$mark.withValue(mark) { [admission] in
                try await work(service, admission)
            }
            let frames = ReplyFrames(
                id: admission.header.id, body: encoded.body, attachments: encoded.attachments)
            reply(
                Ending(
                    answer: .success(frames),
                    claimsWrite: method.erases || method.kind == .change, ticket: ticket,
                    conditions: admission.conditions, mark: mark,
                    isLook: method.kind == .read))
        } catch {
            let refusal = Refusal(of: error)
            if let ticket { record(refusal, for: ticket) }
            reply(
                Ending(
                    answer: .failure(refusal), claimsWrite: ticket != nil, ticket: ticket,
                    isLook: method.kind == .read))
        }
    }

    /// The session that the request's token proves; nil where it has none.
    private func session(of admission: Method<S>.Admission) async throws -> VerifiedSession? {
        guard !admission.frames.token.isEmpty else { return nil }
        guard let token = ReceivedToken(bytes: admission.frames.token) else {
            throw SessionFault.invalid
        }
        let owner = admission.header.owner
        let session = try await service.admit(token, from: admission.peer, owner: owner)
        guard session.claims.owner == owner else { throw SessionFault.invalid }
        return session
    }

    // MARK: Outcomes

    /// Forgets, a minute from now, the outcomes that the peer says it knows.
    private func settle(_ admission: Method<S>.Admission) throws {
        let keys = admission.header.settled
        guard !keys.isEmpty else { return }
        try group.write {
            try group.journal.settle(
                keys, peer: admission.peer.key, owner: admission.header.owner)
        }
    }

    /// The answer to a change that was seen before; nil for a new one.
    ///
    /// One that was begun and that nobody works on is finished or undone first, where that can be.
    private func repeated(
        _ ticket: ChangeTicket, id: UInt64
    ) async throws -> Result<ReplyFrames, Refusal>? {
        if try isLeftUnfinished(ticket.name) {
            do { try await service.settle(ticket.name.owner) } catch { throw BusFault.inFlight }
        }
        return try known(ticket, id: id)
    }

    private func isLeftUnfinished(_ name: ChangeTicket.Name) throws -> Bool {
        guard underWay[name] == nil else { return false }
        return try group.journal.entry(for: name)?.status == .inFlight
    }

    private func known(
        _ ticket: ChangeTicket, id: UInt64
    ) throws -> Result<ReplyFrames, Refusal>? {
        if let digest = underWay[ticket.name] {
            throw digest == ticket.digest ? BusFault.inFlight : BusFault.keyReused
        }
        guard let entry = try group.journal.entry(for: ticket.name) else {
            if try group.journal.isFull(for: ticket.name.peer) { throw BusFault.busy }
            return nil
        }
        guard let digest = entry.digest else { throw BusFault.withdrawn }
        guard digest == ticket.digest else { throw BusFault.keyReused }
        switch entry.status {
        case .inFlight: throw BusFault.inFlight
        case .done:
            return .success(
                ReplyFrames(id: id, body: entry.body, attachments: [], repeated: true))
        case .rejected:
            return .failure(try Refusal(decoding: entry.body))
        }
    }

    /// Writes down that a change did not happen.
    ///
    /// What may have happened stays as it stands.
    private func record(_ refusal: Refusal, for ticket: ChangeTicket) {
        guard refusal.outcome == .rejected else { return }
        if refusal.retryAfterMilliseconds != nil {
            guard (try? group.journal.entry(for: ticket.name)?.status) == .inFlight else { return }
        }
        try? group.write { try group.refuse(ticket, with: refusal) }
    }

    private func outcome(of key: IdempotencyKey, peer: PeerEntry, owner: Owner) throws
        -> OutcomeReply
    {
        let name = ChangeTicket.Name(peer: peer.key, owner: owner, key: key)
        if underWay[name] != nil { return OutcomeReply(status: .inFlight, code: nil) }
        if let entry = try group.journal.entry(for: name) {
            return OutcomeReply(status: entry.status, code: entry.code)
        }
        if try group.journal.isFull(for: peer.key) { throw BusFault.busy }
        let refusal = BusFault.withdrawn.refusal
        try group.write {
            try group.journal.record(.rejected(with: refusal, digest: nil), for: name)
        }
        return OutcomeReply(status: .rejected, code: refusal.code)
    }

    // MARK: What every service answers

    private func answer(
        _ builtIn: BuiltIn, _ header: RequestHeader, _ frames: RequestFrames, _ peer: PeerEntry,
        _ reply: @escaping Reply
    ) throws(BusFault) {
        let answer: any Message
        switch builtIn {
        case .health:
            _ = try read(Health<AnyService>.self, frames, peer)
            answer = health()
        case .metrics:
            _ = try read(Metrics<AnyService>.self, frames, peer)
            answer = MetricsReply(text: metrics.text(gauges: service.gauges()))
        case .owners:
            _ = try read(ListOwners<AnyService>.self, frames, peer)
            do { answer = try owners(visibleTo: peer) } catch {
                return reply(Ending(answer: .failure(Refusal(of: error))))
            }
        case .outcome:
            let key = try read(AskOutcome<AnyService>.self, frames, peer).key
            return startCounted(peer.key) {
                await self.answerOutcome(of: key, header, peer, reply)
            }
        }
        let frames = ReplyFrames(id: header.id, body: answer.encoded(), attachments: [])
        reply(Ending(answer: .success(frames), isLook: builtIn == .owners))
    }

    /// Decodes a request that every service answers, from a peer who may send it.
    private func read<R: Request>(
        _ type: R.Type, _ frames: RequestFrames, _ peer: PeerEntry
    ) throws(BusFault) -> R {
        guard R.callers.admits(peer.role) else { throw .forbidden }
        guard frames.token.isEmpty, frames.attachments.isEmpty else { throw .malformed }
        do { return try R(decoding: frames.body) } catch { throw .malformed }
    }

    private func owners(visibleTo peer: PeerEntry) throws -> OwnersReply {
        OwnersReply(
            owners: try service.owners().filter { peer.owners.admits($0) }.map(\.text))
    }

    private func answerOutcome(
        of key: IdempotencyKey, _ header: RequestHeader, _ peer: PeerEntry, _ reply: Reply
    ) async {
        do {
            try await service.settle(header.owner)
            let answer = try outcome(of: key, peer: peer, owner: header.owner)
            let frames = ReplyFrames(id: header.id, body: answer.encoded(), attachments: [])
            reply(Ending(answer: .success(frames), claimsWrite: true))
        } catch {
            reply(Ending(answer: .failure(Refusal(of: error)), claimsWrite: true))
        }
    }

    private func health() -> HealthReply {
        let known = try? service.ownerCount()
        var problem = service.problem()
        if known == nil { problem = StorageFault.damaged.meaning }
        if group.store.erasureOwed { problem = StorageFault.residue.meaning }
        return HealthReply(
            service: S.name.rawValue, version: version, healthy: problem == nil, problem: problem,
            upMilliseconds: (clock.now.nanoseconds &- started) / 1_000_000,
            owners: known ?? 0, schema: group.store.schemaVersion)
    }

    // MARK: A turn ends

    /// Commits what the turn wrote, then sends the replies that waited for it.
    ///
    /// A condition of a reply is looked at when the commit begins, where the reply claims a change:
    /// if it does not hold, nothing of the turn is written, and whoever wrote in it, whatever the
    /// kind of its method, is told so, and so is whoever looked at the store in it, who may have
    /// seen what is undone. It is looked at when the reply leaves, where it claims none.
    /// When the commit fails, every reply of the turn says `storage.failed`
    /// with outcome `unknown`, and the store is opened anew and the memory rebuilt before more
    /// work.
    ///
    /// - Throws: when the store cannot be opened again; the service must end.
    public func endTurn() throws {
        let leaving = outbox
        outbox = []
        let isWithdrawn = leaving.contains { $0.claimsWrite && $0.conditions?.refusal() != nil }
        if isWithdrawn { group.withdraw() }
        let fault = group.end()
        // An erasure that is owed lasts for many turns; it is told once.
        if let fault, fault != .residue || lastFault != .residue { onTrouble?(fault.rawValue) }
        lastFault = fault
        for reply in leaving {
            if let ticket = reply.ticket { underWay[ticket.name] = nil }
            port.send(frames(of: reply, fault, isWithdrawn), to: reply.route)
        }
        if fault == .failed { try group.store.reopen() }
        if fault == .failed || isWithdrawn { try service.rebuild() }
    }

    /// What is sent in the end.
    private func frames(
        of reply: Outgoing, _ fault: StorageFault?, _ isWithdrawn: Bool
    ) -> ReplyFrames {
        if fault == .failed || (fault == .residue && reply.claimsWrite) {
            return ReplyFrames(id: reply.id, refusal: (fault ?? .failed).refusal)
        }
        if let refusal = reply.claimsWrite && !isWithdrawn ? nil : reply.conditions?.refusal() {
            return ReplyFrames(id: reply.id, refusal: refusal)
        }
        let isUndone = isWithdrawn && (reply.claimsWrite || reply.isLook)
        guard isUndone || reply.mark?.isLost == true else { return reply.frames }
        // What an earlier turn wrote may stand.
        let refusal =
            reply.mark?.mayBeDurable == true
            ? StorageFault.failed.refusal : BusFault.busy.refusal
        return ReplyFrames(id: reply.id, refusal: refusal)
    }

    /// Whether no request is under way and no reply waits.
    public var isIdle: Bool {
        outbox.isEmpty && inFlightTotal == 0 && !group.store.hasOpenBatch
    }
}

// These stand outside the host: a type inside a generic one is generic too, and is looked up at run
// time wherever it is used.

/// A reply that waits for the end of the turn.
private struct Outgoing {
    let route: [UInt8]
    let id: UInt64
    let frames: ReplyFrames
    /// Whether the reply claims that something was written.
    let claimsWrite: Bool
    let ticket: ChangeTicket?
    /// What must still be true when it leaves.
    let conditions: ReplyConditions?
    /// What becomes of the request's writes, where the reply is no refusal.
    let mark: WriteMark?
    /// Whether the request only looked at the store.
    let isLook: Bool
}

/// How a request ended, before the turn's commit.
private struct Ending {
    var answer: Result<ReplyFrames, Refusal>
    var claimsWrite = false
    var ticket: ChangeTicket?
    var conditions: ReplyConditions?
    var mark: WriteMark?
    var isLook = false
}

/// What every service answers.
private enum BuiltIn: String, CaseIterable {
    case health
    case metrics
    case owners
    case outcome
}

/// Stands for whichever service this is, to read a body that is the same for all.
private enum AnyService: ServiceTag {
    static var service: ServiceName { .credentialAuthority }
}

extension Refusal {
    /// What a caller is told of an error; anything unforeseen is `bus.internal`, with no detail.
    init(of error: any Error) {
        switch error {
        case let refusal as Refusal: self = refusal
        case let fault as any Fault: self = fault.refusal
        case StorageError.damaged, StorageError.wrongType: self = StorageFault.damaged.refusal
        case StorageError.full: self = StorageFault.full.refusal
        case is StorageError: self = StorageFault.failed.refusal
        default: self = BusFault.internalError.refusal
        }
    }
}
