import Clocks
import Testing
import Wire

@testable import Tokens

@Suite struct ClaimsRules {
    @Test func everyScopeReadsBackAsItself() throws {
        let namespace = try #require(Namespace("dash.mainnet"))
        let wallet = try #require(WalletID("00000000-0000-4000-8000-0000000000AB"))
        let scopes: [Scope] = [
            .appUnlock, .managePasscode, .settings, .recover, .resource(namespace),
            .sign(namespace, wallet), .reveal(namespace, wallet),
        ]
        for scope in scopes {
            var claims = try Fixture().claims
            claims.scope = scope
            #expect(try Claims(decoding: claims.encoded()) == claims)
        }
        #expect(scopes.filter(\.isProof).count == 3)
    }

    @Test func theTextOfAClaimIsFixed() throws {
        var claims = try Fixture().claims
        claims.audience = [.migration, .walletVault, .credentialAuthority]
        let key = claims.holder.z85
        #expect(
            String(decoding: claims.encoded(), as: UTF8.self)
                == #"{"owner":"local","session":"04040404040404040404040404040404","#
                + #""run":"03030303030303030303030303030303","#
                + #""credential":"00000000-0000-4000-8000-000000000001","revision":7,"#
                + #""scope":"resource","namespace":"ton.main","origin":"passcode","#
                + #""lifetime":"standard","issued_ns":1000,"deadline_ns":2000,"#
                + #""boot":"11111111-2222-3333-4444-555555555555","#
                + #""audience":["credential-authority","wallet-vault","migration"],"#
                + "\"cnf\":{\"curve\":\"\(key)\"}}")
    }

    @Test func anOwnerManagedSessionHasNoDeadlineAndAResourceScope() throws {
        var claims = try Fixture().claims
        claims.lifetime = .ownerManaged
        claims.deadline = nil
        #expect(try Claims(decoding: claims.encoded()) == claims)
        claims.scope = .settings
        #expect(throws: JSONError.invalid("lifetime")) { try Claims(decoding: claims.encoded()) }
    }

    static let text =
        #"{"owner":"local","session":"04040404040404040404040404040404","#
        + #""run":"03030303030303030303030303030303","credential":"c","revision":7,"#
        + #""scope":"resource","namespace":"ton.main","origin":"passcode","lifetime":"standard","#
        + #""issued_ns":1000,"deadline_ns":2000,"boot":"b","audience":["wallet-vault"],"#
        + #""cnf":{"curve":"0000000000000000000000000000000000000000"}}"#

    @Test func theTextThatTheNextTestChangesIsRead() throws {
        let claims = try Claims(decoding: Array(Self.text.utf8))
        #expect(claims.deadline == 2_000)
    }

    @Test(arguments: [
        (#""credential":"c""#, #""credential":"""#),
        (#""revision":7"#, #""revision":7.0"#),
        (#""revision":7"#, #""revision":-7"#),
        (#""scope":"resource""#, #""scope":"Resource""#),
        (#""scope":"resource""#, #""scope":"settings""#),
        (#""scope":"resource""#, #""scope":"sign""#),
        (#""namespace":"ton.main","#, #""#),
        (#""namespace":"ton.main""#, #""namespace":"ton/main""#),
        (
            #""namespace":"ton.main""#,
            #""namespace":"ton.main","wallet":"00000000-0000-4000-8000-0000000000AB""#
        ),
        (#""origin":"passcode""#, #""origin":"biometrics""#),
        (#""lifetime":"standard""#, #""lifetime":"forever""#),
        (#""deadline_ns":2000"#, #""deadline_ns":null"#),
        (#""deadline_ns":2000,"#, ""),
        (#""deadline_ns":2000"#, #""deadline_ns":2000,"exp":"2099-01-01T00:00:00Z""#),
        (#""issued_ns":1000,"#, ""),
        (#""boot":"b""#, #""boot":"""#),
        (#"["wallet-vault"]"#, "[]"),
        (#"["wallet-vault"]"#, #"["wallet-vault","wallet-vault"]"#),
        (#"["wallet-vault"]"#, #"["everything"]"#),
        (#"["wallet-vault"]"#, #""wallet-vault""#),
        (#"{"curve":"0"#, #"{"curve":""#),
        (#"{"curve""#, #"{"x":1,"curve""#),
        (#"{"owner":"local""#, #"{"owner":"""#),
        ("0404040404", "04040404"),
        ("0404040404", "AB04040404"),
    ])
    func claimsThatAreNotInTheFormAreRefused(_ right: String, _ wrong: String) {
        let text = Self.text.replacing(right, with: wrong, maxReplacements: 1)
        #expect(text != Self.text)
        #expect(throws: JSONError.self) { try Claims(decoding: Array(text.utf8)) }
    }

    @Test func identifiersAreLowerCaseHexOfSixteenBytes() {
        let text = "000102030405060708090a0b0c0d0eff"
        #expect(SessionID(text)?.text == text)
        #expect(RunID(text)?.text == text)
        #expect(KeyID(text)?.text == text)
        #expect(SessionID(text.uppercased()) == nil)
        #expect(RunID(String(text.dropLast(2))) == nil)
        #expect(KeyID(text + "00") == nil)
    }
}

@Suite struct SigningRules {
    @Test func theSignerRefusesClaimsThatNoVerifierWouldTake() throws {
        let fixture = try Fixture()
        let signer = try fixture.signer()
        var claims = fixture.claims
        claims.run = try #require(RunID(Fixture.bytes(8, 16)) as RunID?)
        expectRefused(signer, claims)
        claims = fixture.claims
        claims.deadline = nil
        expectRefused(signer, claims)
        claims = fixture.claims
        claims.audience = []
        expectRefused(signer, claims)
        _ = try signer.sign(fixture.claims)
    }

    private func expectRefused(_ signer: borrowing TokenSigner, _ claims: Claims) {
        var refused: TokenError?
        do { _ = try signer.sign(claims) } catch { refused = error }
        #expect(refused == .invalidClaims)
    }

    @Test func theLargestClaimsMakeATokenThatIsReceived() throws {
        let fixture = try Fixture()
        var claims = fixture.claims
        let name = String(repeating: "n", count: 64)
        claims.owner = try #require(Owner(name))
        claims.credential = String(repeating: "\u{1}", count: Claims.credentialLimit)
        claims.revision = .max
        claims.scope = .reveal(
            try #require(Namespace(name)),
            try #require(WalletID("00000000-0000-4000-8000-0000000000AB")))
        claims.issued = .max
        claims.deadline = .max
        claims.boot = BootID(String(repeating: "\u{1}", count: 64))
        claims.audience = Set(ServiceName.allCases)
        _ = try fixture.token(claims)
    }

    @Test func aTokenOfNoBytesOrTooManyIsNotReceived() {
        #expect(ReceivedToken(bytes: []) == nil)
        #expect(ReceivedToken(bytes: [0]) != nil)
        #expect(ReceivedToken(bytes: Fixture.bytes(0x41, 4_096)) != nil)
        #expect(ReceivedToken(bytes: Fixture.bytes(0x41, 4_097)) == nil)
    }

    @Test func aReceivedTokenDoesNotShowItsBytes() throws {
        let token = try Fixture().token(Fixture().claims)
        var dumped = ""
        dump(token, to: &dumped)
        for text in ["\(token)", String(reflecting: token), dumped] {
            #expect(!text.contains("118"), "the letter v")
            #expect(!text.contains("v4"))
        }
    }

    @Test func theIdOfAKeyIsTheStartOfItsDigest() throws {
        let signer = try Fixture().signer()
        let publicKey = signer.publicKey
        #expect(signer.keyID == KeyID(publicKey: publicKey.publicKey))
        #expect(publicKey.id == signer.keyID)
        #expect(publicKey.publicKey.count == 32)
    }
}
