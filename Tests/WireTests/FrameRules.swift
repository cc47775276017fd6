import Secrets
import Testing
import Wire

@Suite struct HeaderRules {
    static func header() throws -> RequestHeader {
        let key: IdempotencyKey = try #require(IdempotencyKey([UInt8](repeating: 2, count: 16)))
        return RequestHeader(
            id: 7, method: "vault.list", owner: try #require(Owner("local")),
            timeoutMilliseconds: 5_000,
            settled: [try #require(IdempotencyKey([UInt8](repeating: 1, count: 16)))],
            idempotency: key)
    }

    @Test func aRequestHeaderReadsBackAsItself() throws {
        var header = try Self.header()
        #expect(try RequestHeader(decoding: header.encode()) == header)
        header.settled = []
        header.idempotency = nil
        #expect(
            String(decoding: header.encode(), as: UTF8.self)
                == #"{"v":1,"id":7,"method":"vault.list","owner":"local","timeout_ms":5000}"#)
        #expect(try RequestHeader(decoding: header.encode()) == header)
    }

    @Test(
        arguments: [
            (#"{"id":7}"#, .missing("v")),
            (#"{"v":2,"future":true}"#, .invalid("v")),
            (
                #"{"v":1,"id":9007199254740993,"method":"a.b","owner":"x","timeout_ms":1}"#,
                .invalid("id")
            ),
            (#"{"v":1,"id":-1,"method":"a.b","owner":"x","timeout_ms":1}"#, .wrongType("id")),
            (#"{"v":1,"id":7,"method":"","owner":"x","timeout_ms":1}"#, .invalid("method")),
            (#"{"v":1,"id":7,"method":"a.b","owner":"x y","timeout_ms":1}"#, .invalid("owner")),
            (#"{"v":1,"id":7,"method":"a.b","owner":"x","timeout_ms":0}"#, .invalid("timeout_ms")),
            (
                #"{"v":1,"id":7,"method":"a.b","owner":"x","timeout_ms":3600001}"#,
                .invalid("timeout_ms")
            ),
            (#"{"v":1,"id":7,"method":"a.b","owner":"x"}"#, .missing("timeout_ms")),
            (
                #"{"v":1,"id":7,"method":"a.b","owner":"x","timeout_ms":1,"more":1}"#,
                .unknownKey("more")
            ),
            (
                #"{"v":1,"id":7,"method":"a.b","owner":"x","timeout_ms":1,"settled":["00"]}"#,
                .invalid("settled")
            ),
            (
                #"{"v":1,"id":7,"method":"a.b","owner":"x","timeout_ms":1,"idempotency":"00"}"#,
                .invalid("idempotency")
            ),
        ] as [(String, JSONError)])
    func aRequestHeaderThatIsNotInTheFormIsRefused(_ text: String, _ error: JSONError) {
        #expect(throws: error) { try RequestHeader(decoding: Array(text.utf8)) }
    }

    @Test func theFullestRequestHeaderFitsAndMoreSettledKeysAreRefused() throws {
        var header = try Self.header()
        header.id = RequestHeader.idLimit
        header.method = String(repeating: "m", count: 64)
        header.owner = try #require(Owner(String(repeating: "o", count: 64)))
        let key = try #require(header.idempotency)
        header.settled = Array(repeating: key, count: RequestHeader.settledLimit)
        #expect(try RequestHeader(decoding: header.encode()) == header)
        header.settled.append(key)
        #expect(throws: JSONError.invalid("settled")) {
            try RequestHeader(decoding: header.encode())
        }
        let long = Array(repeating: UInt8(0x20), count: RequestHeader.sizeLimit) + header.encode()
        #expect(throws: JSONError.tooLarge) { try RequestHeader(decoding: long) }
    }

    @Test func theIdOfAnUnreadableHeaderIsFoundWhereThereIsOne() {
        #expect(RequestHeader.id(ofUnreadable: Array(#"{"v":9,"id":12,"x":1}"#.utf8)) == 12)
        #expect(RequestHeader.id(ofUnreadable: Array(#"{"v":9}"#.utf8)) == nil)
        #expect(RequestHeader.id(ofUnreadable: Array(#"{"id":18446744073709551615}"#.utf8)) == nil)
        #expect(RequestHeader.id(ofUnreadable: [0xFF]) == nil)
    }

    @Test func aReplyHeaderReadsBackAsItself() throws {
        for header in [
            ReplyHeader(id: 7, status: .ok), ReplyHeader(id: 0, status: .error),
            ReplyHeader(id: 1 << 53, status: .ok, repeated: true),
        ] {
            #expect(try ReplyHeader(decoding: header.encode()) == header)
        }
        #expect(
            String(decoding: ReplyHeader(id: 7, status: .ok).encode(), as: UTF8.self)
                == #"{"v":1,"id":7,"status":"ok"}"#)
    }

    @Test(
        arguments: [
            (#"{"v":2}"#, .invalid("v")), (#"{"v":1,"id":7}"#, .missing("status")),
            (#"{"v":1,"id":7,"status":"OK"}"#, .invalid("status")),
            (#"{"v":1,"id":7,"status":"ok","x":1}"#, .unknownKey("x")),
            (#"{"v":1,"id":7,"status":"ok","repeated":1}"#, .wrongType("repeated")),
            (#"{"v":1,"id":9007199254740993,"status":"ok"}"#, .invalid("id")),
        ] as [(String, JSONError)])
    func aReplyHeaderThatIsNotInTheFormIsRefused(_ text: String, _ error: JSONError) {
        #expect(throws: error) { try ReplyHeader(decoding: Array(text.utf8)) }
    }

    @Test func theEmptyBodyIsTwoBracesAndNothingElse() throws {
        #expect(Empty().encoded() == Array("{}".utf8))
        #expect(try Empty(decoding: Array("{}".utf8)) == Empty())
        #expect(throws: JSONError.unknownKey("a")) { try Empty(decoding: Array(#"{"a":1}"#.utf8)) }
        #expect(throws: JSONError.malformed(offset: 0)) { try Empty(decoding: []) }
    }
}

@Suite struct AttachmentRules {
    @Test(arguments: [
        (0, 64), (1, 64), (60, 64), (61, 128), (124, 128), (125, 192), (4_096, 4_160),
    ])
    func aFrameIsPaddedToTheNextMultipleOf64(_ count: Int, _ frameCount: Int) throws {
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 + 1) }
        let frame = AttachmentFrame.encode(SecretBytes(copying: bytes))
        #expect(frame.count == frameCount)
        #expect(AttachmentFrame.frameCount(count) == frameCount)
        let back = try frame.withBytes { try AttachmentFrame.decode($0, limit: count) }
        #expect(back.bytes.withBytes { Array($0) } == bytes)
    }

    @Test func theBytesOfAFrameAreLengthThenContentThenZeros() {
        let frame = AttachmentFrame.encode(SecretBytes(copying: Array("1234".utf8)))
        let expected: [UInt8] =
            [0, 0, 0, 4, 0x31, 0x32, 0x33, 0x34] + Array(repeating: 0, count: 56)
        #expect(frame.withBytes { Array($0) } == expected)
    }

    @Test(arguments: [
        [], [0], [0, 0, 0, 0], frame(length: 0, total: 63), frame(length: 0, total: 65),
        frame(length: 0, total: 128), frame(length: 60, total: 128), frame(length: 61, total: 64),
        frame(length: 1_000, total: 64), frame(length: 4, total: 60),
        frame(length: 4, total: 64, set: [8: 1]), frame(length: 4, total: 64, set: [63: 0x80]),
    ])
    func aFrameThatIsNotInTheFormIsRefused(_ bytes: [UInt8]) {
        #expect(throws: AttachmentError.malformed) { try decode(bytes, limit: 4_096) }
    }

    @Test func aLengthAboveTheLimitIsRefusedBeforeAnythingElse() throws {
        #expect(throws: AttachmentError.oversize) {
            try decode(Self.frame(length: 5, total: 64), limit: 4)
        }
        #expect(throws: AttachmentError.oversize) {
            try decode(Self.frame(length: Int(UInt32.max), total: 64), limit: 4_096)
        }
        #expect(try decode(Self.frame(length: 4, total: 64), limit: 4).bytes.count == 4)
    }

    static func frame(length: Int, total: Int, set: [Int: UInt8] = [:]) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: total)
        for position in 0..<4 {
            bytes[position] = UInt8(truncatingIfNeeded: length >> (24 - 8 * position))
        }
        for (position, byte) in set { bytes[position] = byte }
        return bytes
    }

    private func decode(_ bytes: [UInt8], limit: Int) throws -> SharedSecret {
        try bytes.withUnsafeBytes { try AttachmentFrame.decode($0, limit: limit) }
    }
}
