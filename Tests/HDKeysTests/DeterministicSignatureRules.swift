import Crypto
import HDKeys
import Secrets
import Testing

@Suite struct DeterministicSignatureRules {
    /// Widely published answers for RFC 6979 nonces on secp256k1.
    ///
    /// The message is hashed with SHA-256.
    struct Answer: Sendable {
        let key: String
        let message: String
        let r: String
        let s: String
    }

    static let answers = [
        Answer(
            key: "0000000000000000000000000000000000000000000000000000000000000001",
            message: "Satoshi Nakamoto",
            r: "934b1ea10a4b3c1757e2b0c017d0b6143ce3c9a7e6a4a49860d7a6ab210ee3d8",
            s: "2442ce9d2b916064108014783e923ec36b49743e2ffa1c4496f01a512aafd9e5"),
        Answer(
            key: "0000000000000000000000000000000000000000000000000000000000000001",
            message: "Everything should be made as simple as possible, but not simpler.",
            r: "33a69cd2065432a30f3d1ce4eb0d59b8ab58c74f27c41a7fdb5696ad4e6108c9",
            s: "6f807982866f785d3f6418d24163ddae117b7db4d5fdf0071de069fa54342262"),
        Answer(
            key: "0000000000000000000000000000000000000000000000000000000000000001",
            message: "All those moments will be lost in time, like tears in rain. Time to die...",
            r: "8600dbd41e348fe5c9465ab92d23e3db8b98b873beecd930736488696438cb6b",
            s: "547fe64427496db33bf66019dacbf0039c04199abb0122918601db38a72cfc21"),
        Answer(
            key: "fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364140",
            message: "Satoshi Nakamoto",
            r: "fd567d121db66e382991534ada77a6bd3106f0a1098c231e47993447cd6af2d0",
            s: "6b39cd0eb1bc8603e159ef5c20a5c8ad685a45b06ce9bebed3f153d10d93bed5"),
        Answer(
            key: "f8b8af8ce3c7cca5e300d33939540c10d45ce001b8f252bfbc57ba0342904181",
            message: "Alan Turing",
            r: "7063ae83e7f62bbb171798131b4a0564b956930092b33b07b395615d9ec7e15c",
            s: "58dfcc1e00a35e1572f366ffe34ba0fc47db1e7189759b9fb233c5b05ab388ea"),
        Answer(
            key: "e91671c46231f833a6406ccbea0e3e392c76c167bac1cb013f6f1013980455c2",
            message: "There is a computer disease that anybody who works with computers knows "
                + "about. It's a very serious disease and it interferes completely with the "
                + "work. The trouble with computers is that you 'play' with them!",
            r: "b552edd27580141f3b2a5463048cb7cd3e047b97c9f98076c32dbdf85a68718b",
            s: "279fa72dd19bfae05577e06c7c0c1900c371fcd5893f7e1d56a37d30174671f6"),
    ]

    @Test(arguments: answers) func thePublishedAnswersHold(_ answer: Answer) throws {
        let digest = SHA256.digest(Array(answer.message.utf8))
        let signature = try Secp256k1.sign(digest: digest, key: secret(hex: answer.key))
        #expect(hex(signature.compact) == answer.r + answer.s)
    }

    @Test func anySignatureVerifiesRecoversItsKeyAndHasALowS() throws {
        // Half the order of the curve, rounded down.
        let half = bytes("7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0")
        for _ in 0..<200 {
            let key = KernelRandom().secret(32)
            let digest = KernelRandom().bytes(32)
            let signature = try Secp256k1.sign(digest: digest, key: key)
            let publicKey = try Secp256k1.publicKey(of: key)
            let s = Array(signature.compact[32...])
            #expect(!half.lexicographicallyPrecedes(s), "s = \(hex(s))")
            #expect(Secp256k1.verify(signature.compact, digest: digest, publicKey: publicKey))
            #expect(try Secp256k1.recover(signature, digest: digest) == publicKey)
            #expect(try Secp256k1.sign(digest: digest, key: key) == signature)
        }
    }

    @Test func aChangedSignatureDigestOrKeyDoesNotVerify() throws {
        let key = secret(hex: Self.answers[4].key)
        let digest = SHA256.digest([1])
        let publicKey = try Secp256k1.publicKey(of: key)
        let right = try Secp256k1.sign(digest: digest, key: key).compact
        for index in right.indices {
            var wrong = right
            wrong[index] ^= 1
            #expect(!Secp256k1.verify(wrong, digest: digest, publicKey: publicKey))
        }
        #expect(!Secp256k1.verify(right, digest: SHA256.digest([2]), publicKey: publicKey))
        let other = try Secp256k1.publicKey(of: secret(hex: Self.answers[0].key))
        #expect(!Secp256k1.verify(right, digest: digest, publicKey: other))
    }

    @Test func theMirroredSignatureWithAHighSDoesNotVerify() throws {
        let key = secret(hex: Self.answers[0].key)
        let digest = SHA256.digest(Array(Self.answers[0].message.utf8))
        let publicKey = try Secp256k1.publicKey(of: key)
        // The order of the curve minus the published S.
        let high = "dbbd3162d46e9f9bef7feb87c16dc13b4f6568a87f4e83f728e2443ba586675c"
        let mirrored = bytes(Self.answers[0].r + high)
        #expect(!Secp256k1.verify(mirrored, digest: digest, publicKey: publicKey))
    }

    @Test(arguments: [0, 31, 33, 64]) func onlyADigestOf32BytesIsSigned(_ count: Int) {
        #expect(throws: HDKeyError.invalidDigest) {
            _ = try Secp256k1.sign(
                digest: Array(repeating: 1, count: count), key: KernelRandom().secret(32))
        }
    }

    @Test(arguments: [
        "", "01", String(repeating: "0", count: 64), String(repeating: "f", count: 64),
        "fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141",
        String(repeating: "01", count: 33),
    ])
    func whatIsNoPrivateKeyIsRefused(_ key: String) {
        let isKey = Secp256k1.isPrivateKey(secret(hex: key))
        #expect(!isKey)
        #expect(throws: HDKeyError.invalidKey) {
            _ = try Secp256k1.publicKey(of: secret(hex: key))
        }
        #expect(throws: HDKeyError.invalidKey) {
            _ = try Secp256k1.sign(digest: SHA256.digest([]), key: secret(hex: key))
        }
    }

    @Test(
        arguments: [
            ([], 0), (Array(repeating: 0, count: 64), 0), (Array(repeating: 255, count: 64), 1),
            (Array(repeating: 1, count: 63), 0), (Array(repeating: 1, count: 64), 4),
        ] as [([UInt8], UInt8)])
    func recoveryIsTotal(_ compact: [UInt8], _ recoveryID: UInt8) {
        let signature = Secp256k1.Signature(compact: compact, recoveryID: recoveryID)
        #expect(throws: HDKeyError.invalidSignature) {
            _ = try Secp256k1.recover(signature, digest: SHA256.digest([]))
        }
    }
}
