import AuthorityMessages
import Glibc
import Secrets
import Testing
import Tokens
import VaultMessages
import Wire

extension EndToEnd {
    /// A token is good for its holder, while its session lives, and for nobody else.
    @Suite(.timeLimit(.minutes(3)))
    struct SessionRules {
        @Test func aCopiedTokenIsRefusedByEveryService() throws {
            let home = try TestHome()
            let client = try home.newClient("app")
            let other = try home.newClient("other")
            try client.setPasscode("1234")
            let token = try client.resourceToken("1234")
            #expect(try client.call(ListWallets(namespace: main), token: token).reply.wallets == [])
            #expect(
                refusal { try other.call(ListWallets(namespace: main), token: token) } == invalid)
            #expect(refusal { try other.call(create, token: token) } == invalid)
            #expect(refusal { try other.call(Revoke(), token: token) } == invalid)
            let settings = try known(client.unlock("1234", scope: .settings, audience: []))
            let policy = SetSignPolicy(policy: .session)
            #expect(refusal { try other.call(policy, token: settings) } == invalid)
            #expect(try client.call(policy, token: settings).reply.policy == .session)
        }

        @Test func forgedAlteredAndWronglyAddressedTokensAreInvalid() throws {
            let home = try TestHome()
            let client = try home.newClient("app")
            try client.setPasscode("1234")
            let token = try client.resourceToken("1234")
            for place in stride(from: 0, to: token.count, by: 17) {
                var altered = token
                altered[place] ^= 1
                #expect(refusal { try client.call(create, token: altered) } == invalid, "\(place)")
            }
            #expect(
                refusal { try client.call(create, token: Array("v4.public.x".utf8)) } == invalid)
            #expect(refusal { try client.call(create) } == invalid)
            let elsewhere = try known(client.unlock("1234", scope: .settings, audience: []))
            #expect(refusal { try client.call(create, token: elsewhere) } == invalid)
        }

        @Test func afterALockTheOldTokenIsRefusedForEveryOperation() throws {
            let home = try TestHome()
            let client = try home.newClient("app")
            try client.setPasscode("1234")
            let token = try client.resourceToken("1234")
            let wallet = try client.call(create, token: token).reply.wallet
            let key = try known(IdempotencyKey(KernelRandom().bytes(16)))
            _ = try client.call(create, token: token, key: key)
            #expect(try client.call(Lock()).reply.revoked >= 1)
            try expectEnded(client, token, wallet)
            // A repeat of what was done before needs a session that lives, too.
            #expect(refusal { try client.call(create, token: token, key: key) } != nil)
            #expect(refusal { try client.call(create, key: key) } == invalid)
            // Opening the gate again revives nothing.
            let fresh = try client.resourceToken("1234")
            try expectEnded(client, token, wallet)
            #expect(try client.call(check(wallet), token: fresh).reply.verified)
        }

        @Test func afterARestartOfTheAuthorityTheOldTokenIsRefusedForEveryOperation() throws {
            let home = try TestHome()
            let client = try home.newClient("app")
            try client.setPasscode("1234")
            let token = try client.resourceToken("1234")
            let wallet = try client.call(create, token: token).reply.wallet
            try home.restart(.credentialAuthority)
            try expectEnded(client, token, wallet)
            let fresh = try client.resourceToken("1234")
            #expect(try client.call(check(wallet), token: fresh).reply.verified)
            try expectEnded(client, token, wallet)
        }

        @Test func aRevealProofServesOnceAndForItsWallet() throws {
            let home = try TestHome()
            let client = try home.newClient("app")
            try client.setPasscode("1234")
            let token = try client.resourceToken("1234")
            let wallet = try client.call(create, token: token).reply.wallet
            let second = try client.call(create, token: token).reply.wallet
            let reveal = RevealWallet(namespace: main, wallet: wallet)
            #expect(refusal { try client.call(reveal, token: token) } == "lease.not_authorised")
            let proof = try known(client.unlock("1234", scope: .reveal(main, wallet)))
            let wrong = RevealWallet(namespace: main, wallet: second)
            #expect(refusal { try client.call(wrong, token: proof) } != nil)
            let fresh = try known(client.unlock("1234", scope: .reveal(main, wallet)))
            #expect(try client.call(reveal, token: fresh).attachments.count == 1)
            #expect(refusal { try client.call(reveal, token: fresh) } == "session.ended")
        }

        @Test func aChangedPasscodeEndsSessionsAndOpensTheSameWallets() throws {
            let home = try TestHome()
            let client = try home.newClient("app")
            try client.setPasscode("1234")
            let token = try client.resourceToken("1234")
            let wallet = try client.call(create, token: token).reply.wallet
            let before = try envelopes(home)
            #expect(refusal { try client.setPasscode("567890", kind: .digits6) } != nil)
            let manage = try known(client.unlock("1234", scope: .managePasscode, audience: []))
            try client.setPasscode("567890", kind: .digits6, token: manage)
            try expectEnded(client, token, wallet)
            #expect(try client.unlock("1234", scope: .resource(main)) == nil)
            let fresh = try client.resourceToken("567890")
            #expect(try client.call(check(wallet), token: fresh).reply.verified)
            #expect(try envelopes(home) == before)
            #expect(before.count > 100)
        }

        // MARK: Help

        private let invalid = "session.invalid"
        private let create = CreateWallet(namespace: main, label: "", words: 12)

        private func check(_ wallet: WalletID) -> CheckWallet {
            CheckWallet(namespace: main, wallet: wallet)
        }

        /// The vault's envelopes as they are stored.
        private func envelopes(_ home: TestHome) throws -> String {
            home.kill(.walletVault, SIGTERM)
            let all = try home.query(
                "SELECT namespace, ref, hex(document) FROM envelopes ORDER BY ref",
                in: .walletVault)
            try home.start(.walletVault)
            return all
        }

        private func expectEnded(_ client: Client, _ token: [UInt8], _ wallet: WalletID) throws {
            let refusals = [
                refusal { try client.call(create, token: token) },
                refusal { try client.call(ListWallets(namespace: main), token: token) },
                refusal { try client.call(check(wallet), token: token) },
                refusal {
                    try client.call(RemoveWallet(namespace: main, wallet: wallet), token: token)
                },
                refusal {
                    let request = SignWithWallet(
                        namespace: main, wallet: wallet, scheme: .ed25519, path: "m/44'")
                    return try client.call(request, token: token, secrets: [secret("x")])
                },
                refusal { try client.call(Revoke(), token: token) },
            ]
            for refusal in refusals {
                // A session of another scope is told so before it is looked up.
                #expect(
                    ["session.ended", "session.invalid", "lease.not_authorised"].contains(refusal))
            }
        }
    }
}

/// The code of the refusal that a call ends with; nil where it is answered.
func refusal<T>(_ body: () throws -> T) -> String? {
    do {
        _ = try body()
        return nil
    } catch let refusal as Refusal {
        return refusal.code
    } catch {
        return "\(error)"
    }
}
