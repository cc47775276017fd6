internal import Crypto
public import Secrets
public import Tokens
public import Wire

/// A request that was admitted and decoded.
public struct Call<R: Request>: Sendable {
    public let request: R
    public let attachments: [SharedSecret]
    /// Who sent it, as the peers folder has it now.
    public let peer: PeerEntry
    /// For whom the peer speaks; admission made sure that it may.
    public let owner: Owner
    /// The session that the peer proved; nil when it sent no token.
    public let session: VerifiedSession?
    /// The token as it came, for a service that asks the authority in the holder's name.
    public let token: [UInt8]
    /// When the peer stops waiting, in nanoseconds on the boot clock.
    public let deadline: UInt64
    /// Where the outcome of a change is written.
    public let ticket: ChangeTicket?
    let conditions: ReplyConditions

    init(
        request: R, attachments: [SharedSecret], peer: PeerEntry, owner: Owner,
        session: VerifiedSession?, token: [UInt8], deadline: UInt64, ticket: ChangeTicket?,
        conditions: ReplyConditions
    ) {
        self.request = request
        self.attachments = attachments
        self.peer = peer
        self.owner = owner
        self.session = session
        self.token = token
        self.deadline = deadline
        self.ticket = ticket
        self.conditions = conditions
    }

    /// The session, for a method that cannot do without.
    public func requireSession() throws(SessionFault) -> VerifiedSession {
        guard let session else { throw .invalid }
        return session
    }
}

/// The place in the journal that belongs to one change.
///
/// A service that leaves a change unfinished stores the ticket beside it, so that whoever finishes
/// or undoes it later can write what became of it.
public struct ChangeTicket: Sendable, Equatable {
    /// What names a change: who asked, for whom, and the key of the thing asked for.
    struct Name: Hashable {
        let peer: PeerKey
        let owner: Owner
        let key: IdempotencyKey
    }

    let name: Name
    /// SHA-256 of method and body; attachments are never part of it, because a digest of a
    /// four-digit code is that code.
    let digest: [UInt8]

    init(name: Name, digest: [UInt8]) {
        self.name = name
        self.digest = digest
    }

    /// The ticket of an owner's change as it was stored; nil for anything else.
    public init?(stored bytes: [UInt8], owner: Owner) {
        let keyStart = PeerKey.byteCount
        let digestStart = keyStart + IdempotencyKey.byteCount
        guard bytes.count == digestStart + SHA256.byteCount,
            let peer = PeerKey(Array(bytes[..<keyStart])),
            let key = IdempotencyKey(Array(bytes[keyStart..<digestStart]))
        else { return nil }
        name = Name(peer: peer, owner: owner, key: key)
        digest = Array(bytes[digestStart...])
    }

    /// Peer, key and digest, one behind the other: what a store keeps of it beside the owner.
    public var stored: [UInt8] { name.peer.bytes + name.key.bytes + digest }
}
