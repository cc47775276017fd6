public import Loop
public import Storage
public import Tokens
public import Wire

/// What a service is to the host that runs it.
///
/// A service lives on the ``ServiceLoop``. Between two suspensions it loads, decides and stores,
/// and nothing else of the process runs.
@ServiceLoop
public protocol Service: AnyObject, SendableMetatype {
    nonisolated static var name: ServiceName { get }
    /// What it answers, beside what every service answers.
    nonisolated static var methods: [Method<Self>] { get }
    /// The shape of its store, with ``OutcomeJournal/schemaStep`` among the steps.
    nonisolated static var schema: Schema { get }
    /// Its tables that have rows of owners, each before the tables that it refers to.
    nonisolated static var ownerTables: [OwnerTable] { get }

    /// Proves the token that came with a request: signature, holder, audience, owner, and that the
    /// session lives. It comes before anything else is looked up.
    func admit(
        _ token: ReceivedToken, from peer: PeerEntry, owner: Owner
    ) async throws -> VerifiedSession
    /// Builds its memory anew from the store: at the start, and after a commit that failed.
    func rebuild() throws
    /// The changes that were begun in the store and neither finished nor undone.
    func unfinishedChanges() throws -> [ChangeTicket]
    /// Finishes or undoes an owner's unfinished changes that nobody works on, so that their outcome
    /// can be told.
    func settle(_ owner: Owner) async throws
    /// The owners it has anything of, sorted.
    func owners() throws -> [Owner]
    /// How many those are, which every look at the service's health asks.
    func ownerCount() throws -> Int
    /// Why it cannot do its work now, in a sentence; nil when it can.
    func problem() -> String?
    /// Gauges of its own, for the metrics.
    func gauges() -> [Gauge]
}

extension Service {
    public func admit(
        _ token: ReceivedToken, from peer: PeerEntry, owner: Owner
    ) async throws -> VerifiedSession {
        throw SessionFault.invalid
    }
    public func unfinishedChanges() throws -> [ChangeTicket] { [] }
    public func settle(_ owner: Owner) async throws {}
    public func problem() -> String? { nil }
    public func gauges() -> [Gauge] { [] }
}

/// A number that goes up and down.
public struct Gauge: Sendable, Equatable {
    public var name: String
    public var help: String
    public var value: Double

    public init(name: String, help: String, value: Double) {
        self.name = name
        self.help = help
        self.value = value
    }
}

/// What a service hears of another service's events.
public enum EventNotice: Sendable, Equatable {
    case connected
    /// Events may have been missed from here on.
    case disconnected
    /// One event, as its publisher wrote it.
    case event([UInt8])
}
