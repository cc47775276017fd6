import Clocks
import Crypto
import Secrets
import Testing
import Wire

@testable import Tokens

/// An authority, a few peers and a session, all fixed.
struct Fixture {
    static let boot = BootID("11111111-2222-3333-4444-555555555555")

    let holder: PeerKey
    let stranger: PeerKey
    let run: RunID
    let claims: Claims

    init() throws {
        holder = try #require(PeerKey(Self.bytes(1, 32)))
        stranger = try #require(PeerKey(Self.bytes(2, 32)))
        let run: RunID = try #require(RunID(Self.bytes(3, 16)))
        self.run = run
        claims = Claims(
            owner: try #require(Owner("local")), session: try Self.session(4), run: run,
            credential: "00000000-0000-4000-8000-000000000001", revision: 7,
            scope: .resource(try #require(Namespace("ton.main"))), origin: .passcode,
            lifetime: .standard, issued: 1_000, deadline: 2_000, boot: Self.boot,
            audience: [.walletVault], holder: holder)
    }

    static func bytes(_ value: UInt8, _ count: Int) -> [UInt8] {
        [UInt8](repeating: value, count: count)
    }

    static func session(_ value: UInt8) throws -> SessionID {
        let id: SessionID? = SessionID(bytes(value, SessionID.byteCount))
        return try #require(id)
    }

    static func now(_ nanoseconds: UInt64) -> BootMoment {
        BootMoment(bootID: boot, nanoseconds: nanoseconds)
    }

    func signer(seed: UInt8 = 9) throws -> TokenSigner {
        try TokenSigner(seed: SecretBytes(copying: Self.bytes(seed, 32)), run: run)
    }

    func token(_ claims: Claims, seed: UInt8 = 9) throws -> ReceivedToken {
        try #require(ReceivedToken(bytes: try signer(seed: seed).sign(claims)))
    }

    /// A token with any payload and footer, signed by the right key.
    func forged(payload: [UInt8], footer: [UInt8]? = nil) throws -> ReceivedToken {
        let key = try Ed25519SigningKey(seed: SecretBytes(copying: Self.bytes(9, 32)))
        let footer = try footer ?? TokenFooter(keyID: signer().keyID).encoded()
        return try #require(
            ReceivedToken(bytes: PASETO.sign(payload: payload, footer: footer, key: key)))
    }

    func verifier(_ service: ServiceName = .walletVault) throws -> TokenVerifier {
        var verifier = TokenVerifier(service: service)
        verifier.install(keys: [try signer().publicKey], run: run)
        return verifier
    }
}
