import Secrets
import Testing
import Wire

@Suite struct JSONReadingRules {
    // MARK: The grammar

    @Test(arguments: [
        "{}", " { } ", "\t\r\n{}\n", #"{"a":1}"#, #"{ "a" : [ 1 , 2 ] , "b" : null }"#,
        #"{"a":-0.5e+10,"b":0,"c":10,"d":1E2}"#, #"{"":""}"#, #"{"a":true,"b":false}"#,
        #"{"a":"\u00e9\ud83d\ude00\/\\\"\b\f\n\r\t"}"#, #"{"ключ":"значение"}"#,
        "{\"a\":\"\u{7f}\u{80}\u{10ffff}\"}", #"{"a":"\u0000"}"#, "[]", "0", "\"\"",
    ])
    func aTextThatRFC8259AllowsIsRead(_ text: String) throws {
        _ = try JSONDocument(Array(text.utf8))
    }

    @Test(arguments: [
        "", " ", "{", "}", "[", "]", "{]", "[}", "{}{}", "{} x", "{}\0", "\0", "nul", "nulll",
        "True", "'a'", "{\"a\":1,}", "{,}", "[1,]", "[,1]", "[1 2]", "{\"a\" 1}", "{\"a\":}",
        "{a:1}", "{1:1}", "{\"a\":1 \"b\":2}", "// x\n{}", "{\"a\":NaN}", "{\"a\":Infinity}",
        "{\"a\":-}", "{\"a\":+1}", "{\"a\":01}", "{\"a\":-01}", "{\"a\":.5}", "{\"a\":1.}",
        "{\"a\":1.e1}", "{\"a\":1e}", "{\"a\":1e+}", "{\"a\":0x1}", "\u{feff}{}",
    ])
    func aTextThatIsNotJSONIsRefused(_ text: String) {
        #expect(isMalformed(Array(text.utf8)))
    }

    @Test(arguments: [
        "\"", "\"\\", "\"\\\"", "\"\\x\"", "\"\\u\"", "\"\\u12\"", "\"\\u12g4\"", "\"\\U0041\"",
        "\"\n\"", "\"\t\"", "\"\0\"", "\"\u{1f}\"",
        "\"\\ud800\"", "\"\\udc00\"", "\"\\ud800\\ud800\"", "\"\\ud800x\"", "\"\\ud800\\n\"",
        "\"\\ud800\\u0041\"", "\"\\ud83d\"",
    ])
    func aStringWithABadEscapeOrAControlCharacterIsRefused(_ text: String) {
        #expect(isMalformed(Array(text.utf8)))
    }

    @Test(
        arguments: [
            [0x80], [0xBF], [0xC0, 0x80], [0xC1, 0xBF], [0xC2], [0xC2, 0x41], [0xE0, 0x80, 0x80],
            [0xE0, 0x9F, 0xBF], [0xE2, 0x82], [0xE2, 0x82, 0x41], [0xED, 0xA0, 0x80],
            [0xED, 0xBF, 0xBF], [0xF0, 0x80, 0x80, 0x80], [0xF0, 0x8F, 0xBF, 0xBF],
            [0xF4, 0x90, 0x80, 0x80], [0xF5, 0x80, 0x80, 0x80], [0xF0, 0x9F, 0x98], [0xFE], [0xFF],
            [0xFF, 0xFE],
        ] as [[UInt8]])
    func invalidUTF8IsRefused(_ bytes: [UInt8]) {
        #expect(isMalformed([0x22] + bytes + [0x22]))
        #expect(isMalformed([0x22] + bytes))
        #expect(isMalformed(bytes))
    }

    @Test func UTF16IsRefused() {
        #expect(isMalformed([0xFF, 0xFE, 0x7B, 0x00, 0x7D, 0x00]))
        #expect(isMalformed([0x7B, 0x00, 0x7D, 0x00]))
    }

    @Test func theOffsetOfTheFirstFlawIsTold() {
        #expect(throws: JSONError.malformed(offset: 5)) {
            try JSONDocument(Array(#"{"a":x}"#.utf8))
        }
    }

    // MARK: Limits

    @Test(arguments: ["[", "{\"a\":"])
    func sixteenContainersDeepIsReadAndSeventeenIsNot(_ opening: String) throws {
        func nested(_ depth: Int) -> [UInt8] {
            let closing = opening == "[" ? "]" : "}"
            let inner = String(repeating: opening, count: depth - 1)
            let last = opening == "[" ? "[]" : "{}"
            return Array((inner + last + String(repeating: closing, count: depth - 1)).utf8)
        }
        _ = try JSONDocument(nested(16))
        #expect(throws: JSONError.tooDeep) { try JSONDocument(nested(17)) }
    }

    @Test func aHundredThousandOpenBracketsAreRefusedAsTooDeep() {
        let bytes = [UInt8](repeating: 0x5B, count: 100_000)
        #expect(throws: JSONError.tooDeep) { try JSONDocument(bytes, limit: 200_000) }
    }

    @Test func aTextAtTheLimitIsReadAndOneByteMoreIsNot() throws {
        _ = try JSONDocument(Array("{\"a\":1}".utf8), limit: 7)
        #expect(throws: JSONError.tooLarge) {
            try JSONDocument(Array("{\"a\":1}".utf8), limit: 6)
        }
    }

    @Test func tenThousandMembersAreReadAndARepetitionAmongThemIsFound() throws {
        let members = (0..<10_000).map { "\"k\($0)\":\($0)" }
        let text = "{" + members.joined(separator: ",") + "}"
        let object = try JSONDocument(Array(text.utf8), limit: 1 << 20).object()
        #expect(try object.integer("k9999") == 9_999)
        let repeated = "{" + (members + ["\"k77\":0"]).joined(separator: ",") + "}"
        #expect(throws: JSONError.duplicateKey) {
            try JSONDocument(Array(repeated.utf8), limit: 1 << 20)
        }
    }

    // MARK: Keys

    @Test(arguments: [
        #"{"a":1,"a":1}"#, #"{"a":1,"b":2,"a":3}"#, #"{"a":1,"\u0061":1}"#,
        #"{"x":{"a":1,"a":1}}"#, #"[{"a":1,"a":1}]"#, #"{"":1,"":1}"#, #"{"a":null,"a":1}"#,
    ])
    func aRepeatedKeyIsRefusedHoweverItIsSpelled(_ text: String) {
        #expect(throws: JSONError.duplicateKey) { try JSONDocument(Array(text.utf8)) }
    }

    @Test(arguments: [
        #"{"a":1,"b":{"a":1}}"#, #"{"a":1,"A":1}"#, #"{"a":1,"ab":1}"#,
        // The same letters to a reader, other bytes: é composed and decomposed.
        "{\"\u{e9}\":1,\"e\u{301}\":1}",
    ])
    func differentKeysAreDifferent(_ text: String) throws {
        _ = try JSONDocument(Array(text.utf8))
    }

    @Test func aKeyIsFoundByItsBytesAndNotByCanonicalEquivalence() throws {
        let object = try read("{\"e\u{301}\":1}")
        #expect(!object.has("\u{e9}"))
        #expect(object.has("e\u{301}"))
    }

    @Test func aKeyIsFoundOnlyWhole() throws {
        let object = try read(#"{"owner":1}"#)
        for other in ["", "o", "owne", "owners", "xwner", "ownex", "owNer"] {
            #expect(!object.has(other))
            #expect(throws: JSONError.unknownKey("owner")) {
                try object.refuseUnknownKeys([other])
            }
        }
        try object.refuseUnknownKeys(["owne", "owner"])
    }

    @Test func anEscapedKeyIsFound() throws {
        #expect(try read(#"{"\u0061\/":7}"#).integer("a/") == 7)
    }

    @Test func unknownKeysAreRefusedWhereAMessageSaysSo() throws {
        let object = try read(#"{"a":1,"b":null}"#)
        try object.refuseUnknownKeys(["a", "b", "c"])
        #expect(throws: JSONError.unknownKey("b")) { try object.refuseUnknownKeys(["a"]) }
        #expect(object.keys == ["a", "b"])
    }

    @Test func aForeignNameIsNotRepeatedInTheError() throws {
        let object = try read(#"{"word word word":1}"#)
        #expect(throws: JSONError.unknownKey("?")) { try object.refuseUnknownKeys([]) }
        // U+212A KELVIN SIGN is canonically equivalent to K.
        let kelvin = try read("{\"\u{212a}\":1}")
        #expect(throws: JSONError.unknownKey("?")) { try kelvin.refuseUnknownKeys(["K"]) }
    }

    // MARK: Absent and null

    @Test func anExplicitNullReadsAsAbsent() throws {
        let object = try read(#"{"a":null}"#)
        #expect(try object.optionalString("a") == nil)
        #expect(try object.optionalInteger("a") == nil)
        #expect(try object.optionalUInt64("a") == nil)
        #expect(try object.optionalNumber("a") == nil)
        #expect(try object.optionalBool("a") == nil)
        #expect(try object.optionalBase64("a") == nil)
        #expect(try object.optionalHex("a") == nil)
        #expect(try object.optionalStrings("a") == nil)
        #expect(try object.optionalObjects("a") == nil)
        #expect(try object.optionalObject("a") == nil)
        #expect(try object.optionalIdentifier("a", as: Owner.self) == nil)
        #expect(!object.has("a"))
        #expect(throws: JSONError.missing("a")) { try object.string("a") }
        #expect(throws: JSONError.missing("b")) { try object.bool("b") }
    }

    @Test func anOptionalOfTheWrongTypeIsAnErrorAndNotAbsent() throws {
        let object = try read(#"{"a":1}"#)
        #expect(throws: JSONError.wrongType("a")) { try object.optionalString("a") }
        #expect(throws: JSONError.wrongType("a")) { try object.optionalObjects("a") }
    }
}

@Suite struct JSONNumberRules {
    @Test(arguments: [
        ("0", 0), ("7", 7), ("-1", -1), ("9223372036854775807", Int.max),
        ("-9223372036854775808", Int.min),
    ])
    func anIntegerIsRead(_ text: String, _ value: Int) throws {
        #expect(try read("{\"a\":\(text)}").integer("a") == value)
    }

    @Test(arguments: [
        "1.0", "1e0", "1E0", "-0", "9223372036854775808", "-9223372036854775809", "1e400",
        "99999999999999999999999999", "\"1\"", "true", "[1]", "{}",
    ])
    func whatIsNotInIntegerSyntaxAndRangeIsNoInteger(_ text: String) throws {
        let object = try read("{\"a\":\(text)}")
        #expect(throws: JSONError.wrongType("a")) { try object.integer("a") }
    }

    @Test func anUnsignedIntegerHasItsWholeRangeAndNoMore() throws {
        #expect(try read(#"{"a":18446744073709551615}"#).uint64("a") == .max)
        #expect(try read(#"{"a":0}"#).uint64("a") == 0)
        for text in ["18446744073709551616", "-1", "-0", "1.0", "1e3"] {
            let object = try read("{\"a\":\(text)}")
            #expect(throws: JSONError.wrongType("a")) { try object.uint64("a") }
        }
    }

    @Test(arguments: [
        ("0", 0), ("-0", -0.0), ("1", 1), ("1.0", 1), ("1e0", 1), ("-2.5E-3", -0.0025),
        ("1e308", 1e308), ("5e-324", .leastNonzeroMagnitude), ("1e-999", 0),
        ("18446744073709551616", 0x1p64),
    ])
    func aNumberIsAnyFiniteOne(_ text: String, _ value: Double) throws {
        #expect(try read("{\"a\":\(text)}").number("a") == value)
    }

    @Test(arguments: ["1e999", "-1e999", "1e309", "\"1\"", "null", "false"])
    func whatIsNoFiniteNumberIsRefused(_ text: String) throws {
        let object = try read("{\"a\":\(text)}")
        #expect(throws: JSONError.self) { try object.number("a") }
    }

    @Test func aVeryLongNumberIsRead() throws {
        let digits = String(repeating: "1", count: 300)
        let fraction = String(repeating: "7", count: 60_000)
        let value = try read("{\"a\":\(digits).\(fraction)}").number("a")
        #expect(value.isFinite && value > 1e299)
    }
}

@Suite struct JSONBytesRules {
    @Test(
        arguments: [
            ("", []), ("AA==", [0]), ("AAA=", [0, 0]), ("AAAA", [0, 0, 0]), ("/+8=", [0xFF, 0xEF]),
            (#"\/+8="#, [0xFF, 0xEF]), (#"\u0041A=="#, [0]), ("////", [0xFF, 0xFF, 0xFF]),
        ] as [(String, [UInt8])])
    func canonicalBase64IsRead(_ text: String, _ bytes: [UInt8]) throws {
        let object = try read("{\"a\":\"\(text)\"}")
        #expect(try object.base64("a") == bytes)
        #expect(try object.secretBase64("a").withBytes { Array($0) } == bytes)
    }

    @Test(arguments: [
        "A", "AA", "AAA", "A===", "AA=", "AAA==", "AAAA=", "AAAA==", "AAAA====", "=", "==", "====",
        "AB==", "AAB=", "AA==AAAA", "AA=A", "A=AA", " AA==", "AA== ", "A\\nAA", "_-8=", "AA-_",
        "AAAA!AAA", "AAAAAAAé", "AA\\u0000=",
    ])
    func otherSpellingsOfBase64AreRefused(_ text: String) throws {
        let object = try read("{\"a\":\"\(text)\"}")
        #expect(throws: JSONError.invalid("a")) { try object.base64("a") }
        #expect(throws: JSONError.invalid("a")) { _ = try object.secretBase64("a") }
    }

    @Test func lowerCaseHexOfTheWantedLengthIsRead() throws {
        let object = try read(#"{"a":"00ff1b","b":"00FF","c":"0","d":"0g","e":""}"#)
        #expect(try object.hex("a") == [0x00, 0xFF, 0x1B])
        #expect(try object.hex("a", count: 3) == [0x00, 0xFF, 0x1B])
        #expect(try object.hex("e") == [])
        #expect(throws: JSONError.invalid("a")) { try object.hex("a", count: 2) }
        for key in ["b", "c", "d"] {
            #expect(throws: JSONError.invalid(key)) { try object.hex(key) }
        }
    }
}

@Suite struct JSONValueRules {
    @Test func everyKindHasItsAccessor() throws {
        let object = try read(
            #"{"s":"x\n","t":true,"f":false,"o":{"i":1},"l":[{"i":1},{"i":2}],"w":["a","b"],"#
                + #""n":[],"m":["local","other"]}"#)
        #expect(try object.string("s") == "x\n")
        #expect(try object.bool("t"))
        #expect(try object.bool("f") == false)
        #expect(try object.object("o").integer("i") == 1)
        #expect(try object.objects("l").map { try $0.integer("i") } == [1, 2])
        #expect(try object.strings("w") == ["a", "b"])
        #expect(try object.strings("n") == [])
        #expect(try object.identifiers("m", as: Owner.self).map(\.text) == ["local", "other"])
        #expect(throws: JSONError.wrongType("w")) { try object.objects("w") }
        #expect(throws: JSONError.wrongType("l")) { try object.strings("l") }
        #expect(throws: JSONError.wrongType("o")) { try object.array("o") }
        #expect(throws: JSONError.wrongType("s")) { try object.object("s") }
        #expect(throws: JSONError.wrongType("t")) { try object.string("t") }
        #expect(throws: JSONError.wrongType("s")) { try object.bool("s") }
    }

    @Test func aDocumentThatIsNoObjectIsNoMessage() throws {
        #expect(throws: JSONError.wrongType("document")) {
            try JSONDocument(Array("[]".utf8)).object()
        }
    }

    @Test func escapesStandForTheirCharacters() throws {
        let text = #"{"a":"\u0041\u00e9\u20ac\ud83d\ude00\"\\\/\b\f\n\r\t\u0000z"}"#
        #expect(try read(text).string("a") == "Aé€😀\"\\/\u{8}\u{c}\n\r\t\0z")
    }
}

func read(_ text: String) throws -> JSONObject { try JSONDocument(Array(text.utf8)).object() }

func isMalformed(_ bytes: [UInt8]) -> Bool {
    do {
        _ = try JSONDocument(bytes)
        return false
    } catch .malformed {
        return true
    } catch {
        return false
    }
}
