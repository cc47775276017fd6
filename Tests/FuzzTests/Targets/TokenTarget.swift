import Clocks
import Crypto
import Secrets
import Tokens
import Wire

extension FuzzTarget {
    /// The first byte says what the others are: a token, the claims of one that is signed, or its
    /// footer.
    static let token = FuzzTarget(
        name: "token",
        seeds: {
            [
                [0] + signed(claims), [1] + claims,
                [1] + Array(String(decoding: claims, as: UTF8.self).uppercased().utf8),
                [2] + footer, [0], [0] + Array("v4.public..".utf8),
            ]
        },
        run: { input in
            guard let mode = input.first else { return }
            let rest = Array(input.dropFirst())
            switch mode {
            case 0: present(rest)
            case 1:
                let isTaken = present(signed(rest))
                plantedTrap(isTaken && rest != claims)
            default: present(signed(claims, footer: rest))
            }
        })

    private static let seed = [UInt8](repeating: 3, count: 32)
    private static let holder = must { try value(PeerKey([UInt8](repeating: 4, count: 32))) }
    private static let run = must {
        try value(RunID([UInt8](repeating: 5, count: RunID.byteCount)))
    }
    private static let now = BootMoment(bootID: BootID("boot"), nanoseconds: 1_000)

    private static let claims: [UInt8] = must {
        let claims = Claims(
            owner: try value(Owner("local")),
            session: try value(SessionID([UInt8](repeating: 6, count: SessionID.byteCount))),
            run: run, credential: "c", revision: 1,
            scope: .resource(try value(Namespace("a"))), origin: .passcode, lifetime: .standard,
            issued: 1, deadline: 2_000, boot: now.bootID, audience: [.walletVault], holder: holder)
        return claims.encoded()
    }

    private static let publicKey = must {
        let key = try Ed25519SigningKey(seed: SecretBytes(copying: seed))
        return TokenKey(id: KeyID(publicKey: key.publicKey), publicKey: key.publicKey)
    }

    private static let footer = Array(#"{"kid":"\#(publicKey.id.text)"}"#.utf8)

    private static func signed(_ payload: [UInt8], footer: [UInt8]? = nil) -> [UInt8] {
        must {
            PASETO.sign(
                payload: payload, footer: footer ?? Self.footer,
                key: try Ed25519SigningKey(seed: SecretBytes(copying: seed)))
        }
    }

    /// Whether it is taken; then it is for this service, this peer and now.
    @discardableResult
    private static func present(_ bytes: [UInt8]) -> Bool {
        var verifier = TokenVerifier(service: .walletVault)
        verifier.install(keys: [publicKey], run: run)
        guard let token = ReceivedToken(bytes: bytes) else { return false }
        _ = verifier.hasKey(for: token)
        guard let session = try? verifier.verify(token, presentedBy: holder, now: now) else {
            return false
        }
        promise(session.claims.holder == holder && session.claims.run == run)
        promise(session.claims.audience.contains(.walletVault) && session.claims.boot == now.bootID)
        promise(session.claims.deadline ?? .max > now.nanoseconds, "a token of the past")
        promise((try? Claims(decoding: session.claims.encoded())) == session.claims)
        let stranger = must { try value(PeerKey([UInt8](repeating: 8, count: 32))) }
        promise(
            (try? verifier.verify(token, presentedBy: stranger, now: now)) == nil,
            "a token serves another peer")
        return true
    }
}

/// A value that is there but by a fault of the target.
func value<T>(_ optional: T?) throws -> T {
    guard let optional else { throw JSONError.missing("value") }
    return optional
}
