import Crypto
import Secrets
import Testing
import Wire

@testable import Tokens

/// The published vectors of PASETO v4.public, and tokens that differ from a right one in one thing.
@Suite struct PASETOVectors {
    struct Vector: Sendable, CustomTestStringConvertible {
        let name: String
        let footer: String
        let implicit: String
        let token: String

        var testDescription: String { name }
    }

    static let seed = "b4cbfb43df4ce210727d953e4a713307fa19bb7d9f85041438d9e11b942a3774"
    static let publicKey = "1eb9dbbbbc047c03fd70604e0071f0987e16b28b757225c11f00415d0e20b1a2"
    static let payload =
        #"{"data":"this is a signed message","exp":"2022-01-01T00:00:00+00:00"}"#
    static let body =
        "v4.public.eyJkYXRhIjoidGhpcyBpcyBhIHNpZ25lZCBtZXNzYWdlIiwiZXhwIjoiMjAyMi0wMS0wMVQwMDowMDow"
        + "MCswMDowMCJ9"
    static let footer = #"{"kid":"zVhMiPBP9fRf2snEcT7gFTioeA9COcNy9DfgL1W60haN"}"#
    static let footerText =
        ".eyJraWQiOiJ6VmhNaVBCUDlmUmYyc25FY1Q3Z0ZUaW9lQTlDT2NOeTlEZmdMMVc2MGhhTiJ9"

    static let published = [
        Vector(
            name: "4-S-1", footer: "", implicit: "",
            token: body
                + "bg_XBBzds8lTZShVlwwKSgeKpLT3yukTw6JUz3W4h_ExsQV-P0V54zemZDcAxFaSeef1QlXEFtk"
                + "qxT1ciiQEDA"),
        Vector(
            name: "4-S-2", footer: footer, implicit: "",
            token: body
                + "v3Jt8mx_TdM2ceTGoqwrh4yDFn0XsHvvV_D0DtwQxVrJEBMl0F2caAdgnpKlt4p7xBnx1HcO-SP"
                + "o8FPp214HDw" + footerText),
        Vector(
            name: "4-S-3", footer: footer, implicit: #"{"test-vector":"4-S-3"}"#,
            token: body
                + "NPWciuD3d0o5eXJXG5pJy-DiVEoyPYWs1YSTwWHNJq6DZD3je5gf-0M4JR9ipdUSJbIovzmBECea"
                + "WmaqcaP0DQ" + footerText),
    ]

    @Test(arguments: published)
    func aPublishedTokenIsMadeByteForByte(_ vector: Vector) throws {
        let seed = try #require(Hex.decode(Self.seed))
        let key = try Ed25519SigningKey(seed: SecretBytes(copying: seed))
        let token = PASETO.sign(
            payload: Array(Self.payload.utf8), footer: Array(vector.footer.utf8),
            implicit: Array(vector.implicit.utf8), key: key)
        #expect(String(decoding: token, as: UTF8.self) == vector.token)
    }

    @Test(arguments: published)
    func aPublishedTokenIsVerified(_ vector: Vector) throws {
        let (payload, footer) = try verify(vector.token, implicit: vector.implicit)
        #expect(payload == Array(Self.payload.utf8))
        #expect(footer == Array(vector.footer.utf8))
    }

    @Test(arguments: published)
    func anotherImplicitAssertionIsRefused(_ vector: Vector) {
        #expect(throws: TokenError.authenticationFailed) {
            try verify(vector.token, implicit: vector.implicit + "x")
        }
    }

    @Test func anotherKeyIsRefused() throws {
        let other = try #require(
            Hex.decode("82b850b0a3c9e6c3a4bbdf54604e1f521d9041efd69c7ef779022c21fd483407"))
        #expect(throws: TokenError.authenticationFailed) {
            try PASETO.verify(Array(Self.published[0].token.utf8), publicKey: other)
        }
        #expect(throws: TokenError.authenticationFailed) {
            try PASETO.verify(Array(Self.published[0].token.utf8), publicKey: [])
        }
    }

    @Test func aFooterRemovedOrReplacedIsRefused() {
        let token = Self.published[1].token
        #expect(throws: TokenError.authenticationFailed) {
            try verify(String(token.dropLast(Self.footerText.count)))
        }
        #expect(throws: TokenError.authenticationFailed) {
            try verify(String(token.dropLast(Self.footerText.count)) + ".eyJraWQiOiJrOSJ9")
        }
        #expect(throws: TokenError.authenticationFailed) {
            try verify(Self.published[0].token + Self.footerText)
        }
    }

    @Test func everyChangedLetterIsRefused() {
        let token = Array(Self.published[1].token.utf8)
        for position in token.indices {
            var changed = token
            changed[position] = changed[position] == 0x41 ? 0x42 : 0x41
            #expect(throws: TokenError.self, "letter \(position)") {
                try verify(String(decoding: changed, as: UTF8.self))
            }
        }
    }

    static let good = published[0].token
    static let notTokens: [String] = [
        "", "v4", "v4.public", "v4.public.", "v4.public..", ".", "...",
        // 4-F-1: a token of the other purpose.
        "v4.local.vngXfCISbnKgiP6VWGuOSlYrFYU300fy9ijW33rznDYgxHNPwWluAY2Bgb0z54CUs6aYYkIJ-bOOO"
            + "mJHPuX_34Agt_IPlNdGDpRdGNnBz2MpWJvB3cttheEc1uyCEYltj7wBQQYX.YXJiaXRyYXJ5"
            + "LXN0cmluZy10aGF0LWlzbid0LWpzb24",
        "v2.public." + good.dropFirst(10), "v3.public." + good.dropFirst(10),
        "V4.public." + good.dropFirst(10), "v4.Public." + good.dropFirst(10),
        // An empty footer has one spelling: none.
        good + ".", good + "..", good + ".eA.", good + ".eA.eA", good + "=", good + " ",
        good + "\n", " " + good,
        // The letter before the end of the signature's last group has two stray bits.
        good.dropLast() + "B", good.dropLast(1) + "",
        // Shorter than a signature.
        "v4.public.AAAA", "v4.public." + String(repeating: "A", count: 84),
        good.replacing("_", with: "/"), good + ".e%", good + ".eB",
    ]

    @Test(arguments: notTokens)
    func whatIsNotInTheFormIsRefusedBeforeAnyKeyIsUsed(_ token: String) {
        #expect(throws: TokenError.malformed) { try verify(token) }
    }

    private func verify(
        _ token: String, implicit: String = ""
    ) throws -> (payload: [UInt8], footer: [UInt8]) {
        let key = try #require(Hex.decode(Self.publicKey))
        return try PASETO.verify(
            Array(token.utf8), implicit: Array(implicit.utf8), publicKey: key)
    }
}

@Suite struct PreAuthenticationEncodingRules {
    @Test func theExamplesOfTheSpecificationHold() {
        #expect(encoding([]) == "0000000000000000")
        #expect(encoding([""]) == "01000000000000000000000000000000")
        #expect(
            encoding(["test"]) == "0100000000000000040000000000000074657374")
    }

    @Test func noTwoListsOfPiecesGiveTheSameBytes() {
        #expect(encoding(["ab", "c"]) != encoding(["a", "bc"]))
        #expect(encoding(["ab", ""]) != encoding(["ab"]))
    }

    private func encoding(_ pieces: [String]) -> String {
        Hex.encode(PASETO.preAuthenticationEncoding(pieces.map { Array($0.utf8) }))
    }
}
