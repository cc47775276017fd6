import Crypto
import Testing

/// The examples of FIPS 180-2 and of the RIPEMD-160 paper.
@Suite struct HashRules {
    static let twoBlocks = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"
    static let twoLongBlocks = """
        abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmn\
        hijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu
        """
    static let aMillion = String(repeating: "a", count: 1_000_000)

    @Test(arguments: [
        ("", "e3b0c44298fc1c149afbf4c8996fb924 27ae41e4649b934ca495991b7852b855"),
        ("abc", "ba7816bf8f01cfea414140de5dae2223 b00361a396177a9cb410ff61f20015ad"),
        (twoBlocks, "248d6a61d20638b8e5c026930c3e6039 a33ce45964ff2167f6ecedd419db06c1"),
        (aMillion, "cdc76e5c9914fb9281a1c7e284d73e67 f1809a48a497200e046d39ccc7112cd0"),
    ]) func sha256GivesThePublishedDigests(message: String, digest: String) {
        #expect(SHA256.digest(Array(message.utf8)) == hex(digest))
        #expect(SHA256.digest(of: secret(ascii: message)).array == hex(digest))
    }

    @Test(arguments: [0, 1, 63, 64, 65, 100, 1_000])
    func sha256InPiecesIsThatOfTheWhole(_ pieceBytes: Int) {
        let message =
            Array("a message that comes in pieces, ".utf8) + Array(repeating: 7, count: 200)
        var stream = SHA256Stream()
        if pieceBytes > 0 {
            for start in stride(from: 0, to: message.count, by: pieceBytes) {
                let piece = message[start..<min(start + pieceBytes, message.count)]
                piece.withUnsafeBytes { stream.update($0) }
            }
        }
        let whole = pieceBytes > 0 ? message : []
        #expect(stream.finish() == SHA256.digest(whole))
    }

    @Test(arguments: [
        (
            "",
            """
            cf83e1357eefb8bdf1542850d66d8007d620e4050b5715dc83f4a921d36ce9ce
            47d0d13c5d85f2b0ff8318d2877eec2f63b931bd47417a81a538327af927da3e
            """
        ),
        (
            "abc",
            """
            ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a
            2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f
            """
        ),
        (
            twoLongBlocks,
            """
            8e959b75dae313da8cf4f72814fc143f8f7779c6eb9f7fa17299aeadb6889018
            501d289e4900f7e4331b99dec4b5433ac7d329eeb6dd26545e96e55b874be909
            """
        ),
        (
            aMillion,
            """
            e718483d0ce769644e2e42c7bc15b4638e1f98b13b2044285632a803afa973eb
            de0ff244877ea60a4cb0432ce577c31beb009c5c2c49aa2e4eadb217ad8cc09b
            """
        ),
    ]) func sha512GivesThePublishedDigests(message: String, digest: String) {
        #expect(SHA512.digest(Array(message.utf8)) == hex(digest))
        #expect(SHA512.digest(of: secret(ascii: message)).array == hex(digest))
    }

    @Test(arguments: [
        ("", "9c1185a5c5e9fc54612808977ee8f548b2258d31"),
        ("abc", "8eb208f7e05d987a9b044a8e98c6b087f15a0bfc"),
        (twoBlocks, "12a053384a9c0c88e405a06c27dcf49ada62eb2b"),
    ]) func ripemd160GivesThePublishedDigests(message: String, digest: String) {
        #expect(RIPEMD160.digest(Array(message.utf8)) == hex(digest))
    }
}
