import AuthorityMessages
import LimiterCore
import LimiterMessages
import Loop
import Secrets
import Serving
import Tokens
import Wire

@testable import AuthorityCore

/// What tests do again and again.
extension Bench {
    /// Sets the first passcode.
    @discardableResult
    func set(
        _ code: String = "1234", _ kind: PasscodeKind = .digits4, owner: Owner = .local
    ) async throws -> SetPasscode.Reply {
        try await ask(SetPasscode(passcodeKind: kind), owner: owner, secret: code).reply
    }

    /// Asks for a session, and gives its token.
    func token(
        _ scope: Scope, audience: [ServiceName], as peer: Peer = .app, code: String = "1234",
        owner: Owner = .local
    ) async throws -> [UInt8] {
        let answer = try await ask(
            Verify(scope: scope, audience: audience), as: peer, owner: owner, secret: code)
        guard case .verified = answer.reply, let token = answer.attachments.first else {
            throw NoSession()
        }
        return token.bytes.withBytes { Array($0) }
    }

    func settingsToken() async throws -> [UInt8] { try await token(.settings, audience: []) }

    func resourceToken(_ namespace: Namespace = .main) async throws -> [UInt8] {
        try await token(.resource(namespace), audience: [.walletVault])
    }

    /// Tries a passcode for the app's lock.
    func unlock(
        _ code: String, as peer: Peer = .app, owner: Owner = .local
    ) async throws -> Verify.Reply {
        try await ask(
            Verify(scope: .appUnlock, audience: []), as: peer, owner: owner, secret: code
        ).reply
    }

    /// What the limiter counts.
    func failed(_ owner: Owner = .local) throws -> UInt64 {
        try limiter.service.standing(of: owner).failed
    }

    func stored(_ owner: Owner = .local) throws -> StoredCredential? {
        try service.store.credential(of: owner)
    }

    /// Puts something else into the store, as a hand that edits it would.
    func store(_ change: (inout StoredCredential) -> Void, owner: Owner = .local) throws {
        guard var credential = try stored(owner) else { throw NoSession() }
        change(&credential)
        try authority.group.write { try service.store.save(credential, of: owner) }
        try authority.endTurn()
    }

    /// Asks for keys in the holder's name, as the vault does.
    func derive(
        _ token: [UInt8], _ purpose: Purpose = .open, namespace: Namespace = .main,
        domains: [String] = ["telegram.wallet.dek.v1"], wallet: WalletID? = nil,
        holder: Peer = .app, as peer: Peer = .vault, owner: Owner = .local
    ) -> Pending<Derive> {
        post(
            Derive(
                namespace: namespace, domains: domains, purpose: purpose, wallet: wallet,
                holder: holder.key),
            as: peer, owner: owner, token: token)
    }
}

extension SecretBytes {
    /// The bytes in the open, for an expectation.
    var open: [UInt8] { withBytes { Array($0) } }
}

struct NoSession: Error {}

extension Verify.Reply {
    var isVerified: Bool {
        if case .verified = self { true } else { false }
    }
}
