import Clocks
import Testing
import Wire

@testable import Tokens

@Suite struct VerifierRules {
    let fixture: Fixture

    init() throws { fixture = try Fixture() }

    // MARK: Who may present it, and where

    @Test func theHolderOpensItsSessionAtTheServiceAskedFor() throws {
        var verifier = try fixture.verifier()
        let token = try fixture.token(fixture.claims)
        let session = try verifier.verify(
            token, presentedBy: fixture.holder, now: Fixture.now(1_500))
        #expect(session.claims == fixture.claims)
        #expect(session.tokenDigest.count == 32)
    }

    @Test func anotherPeerIsRefusedTheFirstTimeAndAfterTheHolderCame() throws {
        var verifier = try fixture.verifier()
        let token = try fixture.token(fixture.claims)
        #expect(answer(&verifier, token, by: fixture.stranger) == .invalid)
        #expect(answer(&verifier, token) == nil)
        #expect(answer(&verifier, token, by: fixture.stranger) == .invalid)
    }

    @Test func anotherServiceRefusesIt() throws {
        let token = try fixture.token(fixture.claims)
        for service in [ServiceName.attemptLimiter, .backupShares, .migration] {
            var verifier = try fixture.verifier(service)
            #expect(answer(&verifier, token) == .invalid)
        }
    }

    @Test func aServiceOfTheAudienceActsForTheHolderAndNoOtherServiceDoes() throws {
        var claims = fixture.claims
        claims.audience = [.backupShares, .walletVault]
        let token = try fixture.token(claims)
        var verifier = try fixture.verifier()
        #expect(answer(&verifier, token, by: fixture.stranger, as: .backupShares) == nil)
        #expect(answer(&verifier, token, by: fixture.stranger, as: .migration) == .invalid)
        #expect(answer(&verifier, token, by: fixture.stranger) == .invalid)
    }

    @Test func theAuthorityTakesATokenFromItsHolderAndFromAServiceOfItsAudience() throws {
        var verifier = try fixture.verifier(.credentialAuthority)
        let token = try fixture.token(fixture.claims)
        #expect(answer(&verifier, token, by: fixture.stranger, as: .walletVault) == nil)
        #expect(answer(&verifier, token, by: fixture.stranger, as: .migration) == .invalid)
        #expect(answer(&verifier, token, by: fixture.stranger) == .invalid)
        #expect(answer(&verifier, token) == nil)
    }

    // MARK: Until when

    @Test func aSessionIsOverAtItsDeadlineAndNotBefore() throws {
        let token = try fixture.token(fixture.claims)
        for isRemembered in [false, true] {
            var verifier = try fixture.verifier()
            if isRemembered { #expect(answer(&verifier, token, at: 0) == nil) }
            #expect(answer(&verifier, token, at: 1_999) == nil)
            #expect(answer(&verifier, token, at: 2_000) == .ended)
            #expect(answer(&verifier, token, at: .max) == .ended)
        }
    }

    @Test func aSessionOfAnotherBootIsOver() throws {
        var verifier = try fixture.verifier()
        let token = try fixture.token(fixture.claims)
        #expect(answer(&verifier, token) == nil)
        let later = BootMoment(bootID: BootID("another"), nanoseconds: 1_500)
        #expect(throws: SessionFault.ended) {
            try verifier.verify(token, presentedBy: fixture.holder, now: later)
        }
    }

    @Test func anOwnerManagedSessionHasNoDeadline() throws {
        var claims = fixture.claims
        claims.lifetime = .ownerManaged
        claims.deadline = nil
        var verifier = try fixture.verifier()
        #expect(answer(&verifier, try fixture.token(claims), at: .max) == nil)
    }

    @Test func thatItIsOverIsToldOnlyWhereHolderAndAudienceAreRight() throws {
        let token = try fixture.token(fixture.claims)
        var verifier = try fixture.verifier()
        #expect(answer(&verifier, token, by: fixture.stranger, at: 5_000) == .invalid)
        var other = try fixture.verifier(.migration)
        #expect(answer(&other, token, at: 5_000) == .invalid)
        #expect(
            answer(&verifier, try fixture.token(fixture.claims, seed: 8), at: 5_000) == .invalid)
    }

    // MARK: Keys

    @Test func aTokenOfAnUnknownKeyIsInvalid() throws {
        var verifier = try fixture.verifier()
        #expect(answer(&verifier, try fixture.token(fixture.claims, seed: 8)) == .invalid)
        var empty = TokenVerifier(service: .walletVault)
        #expect(answer(&empty, try fixture.token(fixture.claims)) == .invalid)
    }

    @Test func theFooterOnlyChoosesAmongInstalledKeys() throws {
        var verifier = try fixture.verifier()
        let payload = fixture.claims.encoded()
        #expect(answer(&verifier, try fixture.forged(payload: payload)) == nil)
        let other: KeyID = KeyID(publicKey: [])
        for footer in [
            [], Array("x".utf8), Array("{}".utf8), Array(#"{"kid":"00"}"#.utf8),
            TokenFooter(keyID: other).encoded(),
            Array(#"{"kid":"\#(try fixture.signer().keyID.text)","x":1}"#.utf8),
        ] {
            let token = try fixture.forged(payload: payload, footer: footer)
            #expect(answer(&verifier, token) == .invalid)
        }
    }

    @Test func aNewRunOfTheAuthorityEndsEveryTokenOfTheLast() throws {
        var verifier = try fixture.verifier()
        let token = try fixture.token(fixture.claims)
        #expect(answer(&verifier, token) == nil)
        let next: RunID? = RunID(Fixture.bytes(8, 16))
        let key = try fixture.signer(seed: 8).publicKey
        verifier.install(keys: [key], run: try #require(next))
        #expect(answer(&verifier, token) == .invalid)
        // The same key in another run: the claims name their run.
        let same = try fixture.signer().publicKey
        verifier.install(keys: [same], run: try #require(next))
        #expect(answer(&verifier, token) == .invalid)
    }

    @Test func signedBytesThatAreNoClaimsAreInvalid() throws {
        var verifier = try fixture.verifier()
        for payload in ["", "{}", "[]", "x"] {
            let token = try fixture.forged(payload: Array(payload.utf8))
            #expect(answer(&verifier, token) == .invalid)
        }
    }

    @Test func randomAndMutatedTokensNeverTrapAndAreInvalid() throws {
        var verifier = try fixture.verifier()
        let good = try fixture.signer().sign(fixture.claims)
        var state: UInt64 = 0x70CE
        func below(_ limit: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % limit
        }
        for step in 0..<3_000 {
            var bytes = good
            switch step % 3 {
            case 0: bytes = (0...below(200)).map { _ in UInt8(below(256)) }
            case 1: bytes[below(bytes.count)] ^= UInt8(1 + below(255))
            default: bytes.removeSubrange((1 + below(bytes.count - 1))...)
            }
            let token = try #require(ReceivedToken(bytes: bytes))
            #expect(answer(&verifier, token) == .invalid, "seed 0x70CE, step \(step)")
        }
    }

    // MARK: Revocation

    @Test func aRevokedSessionIsOverWhetherItWasSeenBeforeOrNot() throws {
        let token = try fixture.token(fixture.claims)
        for isSeen in [false, true] {
            var verifier = try fixture.verifier()
            if isSeen { #expect(answer(&verifier, token) == nil) }
            verifier.forget(session: fixture.claims.session)
            #expect(answer(&verifier, token) == .ended)
            #expect(answer(&verifier, token, by: fixture.stranger) == .invalid)
            var other = fixture.claims
            other.session = try Fixture.session(5)
            #expect(answer(&verifier, try fixture.token(other)) == nil)
        }
    }

    @Test func anOwnersSessionsUpToAMomentAreOverAndLaterOnesAreNot() throws {
        var verifier = try fixture.verifier()
        let earlier = try fixture.token(fixture.claims)
        var claims = fixture.claims
        claims.issued = 1_101
        claims.session = try Fixture.session(5)
        let later = try fixture.token(claims)
        claims = fixture.claims
        claims.owner = try #require(Owner("other"))
        let other = try fixture.token(claims)
        verifier.forgetAll(owner: fixture.claims.owner, issuedUpTo: Fixture.now(1_100))
        // An older word that arrives late takes nothing back.
        verifier.forgetAll(owner: fixture.claims.owner, issuedUpTo: Fixture.now(500))
        #expect(answer(&verifier, earlier) == .ended)
        #expect(answer(&verifier, later) == nil)
        #expect(answer(&verifier, other) == nil)
        verifier.forgetAll(owner: fixture.claims.owner, issuedUpTo: Fixture.now(1_101))
        #expect(answer(&verifier, later) == .ended)
    }

    @Test func aLockEndsStandardSessionsOnly() throws {
        var verifier = try fixture.verifier()
        let standard = try fixture.token(fixture.claims)
        var claims = fixture.claims
        claims.lifetime = .ownerManaged
        claims.deadline = nil
        let managed = try fixture.token(claims)
        verifier.forgetAll(
            owner: fixture.claims.owner, issuedUpTo: Fixture.now(1_200), only: .standard)
        #expect(answer(&verifier, standard) == .ended)
        #expect(answer(&verifier, managed) == nil)
        verifier.forgetAll(owner: fixture.claims.owner, issuedUpTo: Fixture.now(1_200))
        #expect(answer(&verifier, managed) == .ended)
    }

    @Test func newKeysOfTheSameRunReviveNothing() throws {
        var verifier = try fixture.verifier()
        let token = try fixture.token(fixture.claims)
        verifier.forget(session: fixture.claims.session)
        verifier.install(keys: [try fixture.signer().publicKey], run: fixture.run)
        #expect(answer(&verifier, token) == .ended)
    }

    private func answer(
        _ verifier: inout TokenVerifier, _ token: ReceivedToken, by peer: PeerKey? = nil,
        as service: ServiceName? = nil, at nanoseconds: UInt64 = 1_500
    ) -> SessionFault? {
        do {
            _ = try verifier.verify(
                token, presentedBy: peer ?? fixture.holder, as: service,
                now: Fixture.now(nanoseconds))
            return nil
        } catch {
            return error
        }
    }
}

@Suite struct BoundedTableRules {
    @Test func theOldestEntryMakesRoomForANewOne() {
        var table = BoundedTable<Int, String>(limit: 3)
        for key in 1...3 { table.insert(key, "\(key)") }
        table.insert(1, "one")
        #expect(table[1] == "one")
        table.insert(4, "4")
        #expect(table[1] == nil)
        #expect((2...4).allSatisfy { table[$0] == "\($0)" })
        table.insert(5, "5")
        #expect(table[2] == nil && table[3] == "3" && table[5] == "5")
        table.removeAll()
        #expect(table[5] == nil)
    }

    @Test func aTableNeverHoldsMoreThanItsLimit() {
        var table = BoundedTable<Int, Int>(limit: 100)
        for key in 0..<1_000 {
            table.insert(key, key)
            #expect((0...key).suffix(100).allSatisfy { table[$0] == $0 })
            if key >= 100 { #expect(table[key - 100] == nil) }
        }
    }
}
