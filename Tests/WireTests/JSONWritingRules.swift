import Secrets
import Testing
import Wire

@Suite struct JSONWritingRules {
    @Test func membersStandInTheOrderOfTheCallsWithoutBlanks() {
        var writer = JSONWriter()
        writer.string("b", "x")
        writer.integer("a", -7)
        writer.uint64("u", .max)
        writer.bool("t", true)
        writer.null("n")
        writer.base64("d", [0xFF, 0xEF])
        writer.hex("h", [0, 0xAB])
        writer.object("o") { inner in
            inner.strings("s", ["p", "q"])
            inner.integers("e", [Int]())
        }
        writer.objects("l", [1, 2]) { inner, item in inner.integer("i", item) }
        writer.object("z") { _ in }
        writer.integers("i", [1, 2])
        #expect(
            text(writer.finish())
                == #"{"b":"x","a":-7,"u":18446744073709551615,"t":true,"n":null,"d":"/+8=","#
                + #""h":"00ab","o":{"s":["p","q"],"e":[]},"l":[{"i":1},{"i":2}],"z":{},"#
                + #""i":[1,2]}"#)
    }

    @Test(arguments: [Int.min, -1_000, -10, -9, 0, 9, 10, 99, 100, 1_002_003, .max])
    func anIntegerIsWrittenInItsShortestForm(_ value: Int) {
        var writer = JSONWriter()
        writer.integer("a", value)
        writer.integers("b", [value, 7])
        writer.uint64("c", UInt64(value.magnitude))
        let expected = "{\"a\":\(value),\"b\":[\(value),7],\"c\":\(value.magnitude)}"
        #expect(text(writer.finish()) == expected)
    }

    @Test func anEmptyObjectIsTwoBraces() {
        #expect(text(JSONWriter().finish()) == "{}")
    }

    @Test func onlyWhatMustBeEscapedIs() {
        var writer = JSONWriter()
        writer.string("a", "/é😀\u{7f}\"\\\u{8}\t\n\u{c}\r\0\u{1f}")
        let escaped = "/é😀\u{7f}\\\"\\\\\\b\\t\\n\\f\\r\\u0000\\u001f"
        #expect(text(writer.finish()) == "{\"a\":\"\(escaped)\"}")
    }

    @Test(arguments: [0, 0.1, -2.5, 1e16, 1e300, .leastNonzeroMagnitude, 123_456_789.123, 0x1p53])
    func aNumberReadsBackAsItself(_ value: Double) throws {
        var writer = JSONWriter()
        writer.number("a", value)
        #expect(try JSONDocument(writer.finish()).object().number("a") == value)
    }

    @Test func everyScalarThatAStringCanHoldReadsBackAsItself() throws {
        for value in stride(from: UInt32(0), to: 0x110000, by: 37) {
            guard let scalar = Unicode.Scalar(value) else { continue }
            var writer = JSONWriter()
            writer.string("a", "x\(scalar)y")
            let back = try JSONDocument(writer.finish()).object().string("a")
            #expect(back.utf8.elementsEqual("x\(scalar)y".utf8))
        }
    }

    @Test func membersWithoutAValueAreLeftOut() {
        var writer = JSONWriter()
        writer.optionalString("a", nil)
        writer.optionalInteger("b", 1)
        writer.optionalUInt64("c", nil)
        writer.optionalBase64("d", nil)
        writer.optionalHex("e", nil)
        writer.optionalBool("f", false)
        writer.optionalIdentifier("g", Owner?.none)
        #expect(text(writer.finish()) == #"{"b":1,"f":false}"#)
    }

    private func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
}

@Suite struct SecretJSONRules {
    @Test func anObjectWithASecretIsTheSameTextInSecretMemory() throws {
        for count in [0, 1, 31, 32, 33, 5_000] {
            let key = (0..<count).map { UInt8(truncatingIfNeeded: $0) }
            var plain = JSONWriter()
            plain.integer("version", 1)
            plain.base64("key", key)
            plain.object("more") { $0.string("x", "y") }
            let expected = plain.finish()

            var writer = JSONWriter()
            writer.integer("version", 1)
            writer.secretBase64("key", SecretBytes(copying: key))
            writer.object("more") { $0.string("x", "y") }
            let document = writer.finishSecret()
            #expect(document.withBytes { Array($0) } == expected)

            let object = try JSONDocument(document).object()
            #expect(try object.secretBase64("key").withBytes { Array($0) } == key)
            #expect(try object.object("more").string("x") == "y")
        }
    }

    @Test func anObjectWithoutASecretCanBeHadInSecretMemoryToo() {
        var writer = JSONWriter()
        writer.integer("a", 1)
        #expect(writer.finishSecret().withBytes { Array($0) } == Array(#"{"a":1}"#.utf8))
    }

    @Test func aSecretWriterHasNoOrdinaryBytes() async {
        await #expect(processExitsWith: .failure) {
            var writer = JSONWriter()
            writer.secretBase64("key", SecretBytes(count: 32))
            _ = writer.finish()
        }
    }

    @Test func anAbsentSecretIsNil() throws {
        let object = try read(#"{"a":null,"c":"AA=="}"#)
        #expect(try object.optionalSecretBase64("a") == nil)
        #expect(try object.optionalSecretBase64("b") == nil)
        #expect(try object.optionalSecretBase64("c") != nil)
    }

    @Test func aSecretDocumentAboveTheLimitIsRefused() {
        let text = SecretBytes(copying: Array("{\"a\":1}".utf8))
        var refused: JSONError?
        do { _ = try JSONDocument(text, limit: 6) } catch { refused = error }
        #expect(refused == .tooLarge)
    }
}
