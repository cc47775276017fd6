internal import AuthorityMessages
public import Loop
public import Secrets
internal import Tokens
internal import Wire

/// The authority's leave to do something for the holder of a session, with the keys for it.
///
/// It is looked at when a commit begins or a reply is made, and work whose lease is over by then is
/// dropped.
@ServiceLoop
public final class Lease {
    /// No lease is longer, in milliseconds.
    public nonisolated static let longestMilliseconds: UInt64 = 250

    /// In the order of the domains that the link was made with; none where none was asked for.
    public let keys: [SharedSecret]
    /// The first nanosecond on the boot clock at which it is over, counted from the sending of the
    /// request for it.
    let ends: UInt64
    let subject: Subject
    private(set) var isRevoked = false

    /// Whose lease it is.
    struct Subject: Hashable, Sendable {
        let owner: Owner
        let session: SessionID
        /// A proof is spent by the lease: that its session ended says nothing.
        let isProof: Bool
        /// When the session was opened, in nanoseconds on the boot clock.
        let issued: UInt64

        init(_ claims: Claims) {
            owner = claims.owner
            session = claims.session
            isProof = claims.scope.isProof
            issued = claims.issued
        }
    }

    init(keys: [SharedSecret], ends: UInt64, subject: Subject) {
        self.keys = keys
        self.ends = ends
        self.subject = subject
    }

    func revoke() { isRevoked = true }

    /// Drops the work that is done under it where it is over.
    public func check(at now: UInt64) throws {
        guard !isRevoked else { throw SessionFault.ended }
        guard now < ends else { throw LeaseFault.over }
    }
}

/// What became of a session while the authority was being asked.
@ServiceLoop
final class SessionWatch {
    let subject: Lease.Subject
    private(set) var isDisturbed = false

    init(_ subject: Lease.Subject) { self.subject = subject }

    func disturb() { isDisturbed = true }
}
