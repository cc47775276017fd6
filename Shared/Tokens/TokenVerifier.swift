public import Clocks
internal import Crypto
public import Wire

/// Checks tokens for one service, with keys that it fetched from the authority.
///
/// A token that was verified is remembered by its digest, so that a repeat costs no signature
/// check; audience, holder, deadline and revocation are checked each time. The authority's registry
/// stays the truth: what changes anything asks it all the same.
public struct TokenVerifier: Sendable {
    /// How many verified tokens are remembered.
    public static let rememberedLimit = 4_096
    /// How many revoked sessions are remembered; more than can end within a session's life.
    public static let revokedLimit = 65_536

    public let service: ServiceName
    /// The authority's run whose tokens are taken; nil before the first `install`.
    public private(set) var run: RunID?
    private var keys: [KeyID: [UInt8]] = [:]
    private var remembered = BoundedTable<[UInt8], Claims>(limit: rememberedLimit)
    private var revoked = BoundedTable<SessionID, Void>(limit: revokedLimit)
    private var endedOwners: [Owner: EndedOwner] = [:]

    /// A verifier that takes no token until keys are installed.
    public init(service: ServiceName) { self.service = service }

    /// Takes the keys of a run of the authority in place of all others, and forgets every token.
    ///
    /// What was revoked stays so within the same run.
    public mutating func install(keys: [TokenKey], run: RunID) {
        self.keys = Dictionary(keys.map { ($0.id, $0.publicKey) }) { _, last in last }
        remembered.removeAll()
        guard run != self.run else { return }
        self.run = run
        revoked.removeAll()
        endedOwners = [:]
    }

    /// Checks a token that a peer presents.
    ///
    /// `peer` is the token's holder, or acts for him as the service `acting`, which the token's
    /// audience must then name; which service a peer is, the caller has from the peer's entry.
    /// `session.ended` is answered only where signature, audience and
    /// holder are right; everything else is `session.invalid`.
    public mutating func verify(
        _ token: ReceivedToken, presentedBy peer: PeerKey, as acting: ServiceName? = nil,
        now: BootMoment
    ) throws(SessionFault) -> VerifiedSession {
        let digest = SHA256.digest(token.bytes)
        let known = remembered[digest]
        guard let claims = known ?? authentic(token) else { throw .invalid }
        guard isAddressed(claims), isPresented(claims, by: peer, acting) else {
            throw .invalid
        }
        guard isLive(claims, now) else { throw .ended }
        if known == nil { remembered.insert(digest, claims) }
        return VerifiedSession(claims: claims, tokenDigest: digest)
    }

    /// Whether the key that a token names is one of those installed.
    ///
    /// The token is not checked; for one that is no token at all the answer is yes, because no
    /// other key would help.
    public func hasKey(for token: ReceivedToken) -> Bool {
        guard let parts = try? PASETOParts(token.bytes),
            let footer = try? TokenFooter(decoding: parts.footer, limit: TokenFooter.sizeLimit)
        else { return true }
        return keys[footer.keyID] != nil
    }

    /// Ends one session for this verifier.
    public mutating func forget(session: SessionID) { revoked.insert(session, ()) }

    /// Ends an owner's sessions that were opened at this moment or before, or only those of one
    /// lifetime, as a lock does; sessions opened later are not touched.
    public mutating func forgetAll(
        owner: Owner, issuedUpTo moment: BootMoment, only lifetime: Lifetime? = nil
    ) {
        endedOwners[owner, default: EndedOwner()].raise(to: moment, lifetime)
    }

    // MARK: The checks

    /// The claims of a token that the authority signed in this run.
    private func authentic(_ token: ReceivedToken) -> Claims? {
        guard let parts = try? PASETOParts(token.bytes),
            let footer = try? TokenFooter(
                decoding: parts.footer, limit: TokenFooter.sizeLimit),
            let key = keys[footer.keyID],
            let payload = try? parts.verified(implicit: [], publicKey: key),
            let claims = try? Claims(decoding: payload, limit: ReceivedToken.sizeLimit),
            claims.run == run
        else { return nil }
        return claims
    }

    /// The authority answers, as the issuer, for any token of its own; who brings it is the next
    /// question.
    private func isAddressed(_ claims: Claims) -> Bool {
        service == .credentialAuthority || claims.audience.contains(service)
    }

    private func isPresented(
        _ claims: Claims, by peer: PeerKey, _ acting: ServiceName?
    ) -> Bool {
        if claims.holder == peer { return true }
        guard let acting else { return false }
        return claims.audience.contains(acting)
    }

    private func isLive(_ claims: Claims, _ now: BootMoment) -> Bool {
        guard claims.boot == now.bootID, revoked[claims.session] == nil else { return false }
        if let deadline = claims.deadline, now.nanoseconds >= deadline { return false }
        return endedOwners[claims.owner]?.covers(claims) != true
    }
}

/// Up to when an owner's sessions are over, by lifetime.
private struct EndedOwner {
    private var moments: [Lifetime: BootMoment] = [:]

    mutating func raise(to moment: BootMoment, _ lifetime: Lifetime?) {
        for affected in lifetime.map({ [$0] }) ?? [.standard, .ownerManaged] {
            if let earlier = moments[affected], earlier.bootID == moment.bootID {
                guard moment.nanoseconds > earlier.nanoseconds else { continue }
            }
            moments[affected] = moment
        }
    }

    func covers(_ claims: Claims) -> Bool {
        guard let moment = moments[claims.lifetime], moment.bootID == claims.boot else {
            return false
        }
        return claims.issued <= moment.nanoseconds
    }
}
