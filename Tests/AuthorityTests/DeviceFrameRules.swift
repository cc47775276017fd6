import AuthorityMessages
import DeviceKeyFrames
import Secrets
import TestKit
import Testing

/// What crosses the pipe to the reader of modules: every form comes back, and any bytes give a
/// value or an error.
@Suite struct DeviceFrameRules {
    private static let key = SharedSecret(SecretBytes(copying: [UInt8](0..<32)))
    private static let requests: [DeviceKeyRequest] = [
        DeviceKeyRequest(
            token: "pkcs11:token=a", pin: key,
            act: .store(key, name: "n", form: nil, binding: [1, 2])),
        DeviceKeyRequest(
            token: "", pin: nil, act: .store(key, name: "n", form: .rsa, binding: [])),
        DeviceKeyRequest(
            token: "t", pin: key,
            act: .release(name: "n", form: .ecdh, sealed: [3, 4, 5], binding: [1])),
        DeviceKeyRequest(token: "t", pin: key, act: .delete([])),
        DeviceKeyRequest(
            token: "t", pin: key,
            act: .delete([.init(name: "n", token: "t"), .init(name: "m", token: "u")])),
    ]
    private static let answers: [DeviceKeyAnswer] =
        [
            .stored(token: "t", form: .data, sealed: []),
            .stored(token: "t", form: .ecdh, sealed: [1, 2, 3]), .released(key),
            .deleted([]), .deleted(["n", "m"]),
        ] + DeviceKeyFault.allCases.map { .failed($0) }

    @Test func everyRequestComesBack() throws {
        for request in Self.requests {
            let frame = try #require(request.encoded())
            let body = try Self.body(of: frame)
            let read = try DeviceKeyRequest(decoding: body.bytes)
            #expect(read.encoded()?.bytes.open == frame.bytes.open)
            #expect(read.token == request.token && (read.pin == nil) == (request.pin == nil))
        }
    }

    @Test func everyAnswerComesBack() throws {
        for answer in Self.answers {
            let frame = try #require(answer.encoded())
            let body = try Self.body(of: frame)
            let read = try DeviceKeyAnswer(decoding: body.bytes)
            #expect(read.encoded()?.bytes.open == frame.bytes.open)
        }
    }

    @Test func whatIsCutOrLongerIsAnError() throws {
        let frames = Self.requests.compactMap { $0.encoded() }
        // A list ends where the frame does, so that a shorter one may be another list.
        for frame in frames.prefix(3) {
            let body = try Self.body(of: frame).bytes.open
            for count in body.indices {
                #expect(throws: FrameError.self) { try Self.read(Array(body.prefix(count))) }
            }
            #expect(throws: FrameError.self) { try Self.read(body + [0]) }
        }
    }

    @Test func anyBytesGiveAValueOrAnError() throws {
        let random = SeededRandom(seed: 11)
        var values = 0
        for _ in 0..<20_000 {
            let frame = try #require(Self.requests[Int(random.bytes(1)[0]) % 5].encoded())
            var body = try Self.body(of: frame).bytes.open
            for _ in 0..<Int(random.bytes(1)[0]) % 4 {
                let place = random.bytes(3)
                let index = (Int(place[0]) << 8 | Int(place[1])) % body.count
                body[index] = place[2]
            }
            if (try? Self.read(body)) != nil { values += 1 }
            _ = try? DeviceKeyAnswer(decoding: SecretBytes(copying: body))
        }
        #expect((1_000..<20_000).contains(values))
    }

    @Test func whatHasNoRoomIsNoFrame() {
        let long = SharedSecret(SecretBytes(count: 40_000))
        let request = DeviceKeyRequest(token: "t", pin: long, act: .delete([]))
        #expect(request.encoded() == nil)
        let wide = DeviceKeyRequest(
            token: String(repeating: "t", count: 70_000), pin: nil, act: .delete([]))
        #expect(wide.encoded() == nil)
        #expect(Frame.length([0, 0, 0x80, 1]) == nil)
        #expect(Frame.length([0, 0, 0x80, 0]) == Frame.byteLimit)
    }

    private static func read(_ body: [UInt8]) throws(FrameError) {
        _ = try DeviceKeyRequest(decoding: SecretBytes(copying: body))
    }

    private static func body(of frame: SharedSecret) throws -> SharedSecret {
        let head = frame.bytes.slice(0..<Frame.lengthBytes).open
        let length = try #require(Frame.length(head))
        #expect(length == frame.bytes.count - Frame.lengthBytes)
        return SharedSecret(frame.bytes.slice(Frame.lengthBytes..<frame.bytes.count))
    }
}
