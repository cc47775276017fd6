import Secrets
import Testing
import Wire

@testable import Bus

@Suite struct EndpointRules {
    @Test(arguments: [
        "ipc:///run/coffer/vault.sock", "tcp://127.0.0.1:5555", "tcp://[::1]:1", "tcp://*:*",
        "ipc:///run/of a person/vault.sock", "ipc:///" + String(repeating: "a", count: 106),
    ])
    func endpointsAreRead(text: String) {
        #expect(Endpoint(text)?.text == text)
    }

    @Test(
        arguments: [
            ("", .unknownTransport), ("inproc://x", .unknownTransport),
            ("/run/x", .unknownTransport),
            ("ipc://run/x", .notAbsolute), ("ipc://@x", .notAbsolute), ("ipc://", .notAbsolute),
            ("ipc:///run/", .notAbsolute), ("ipc:///run/a\tb", .malformed),
            ("tcp://host", .malformed), ("tcp://a b:1", .malformed), ("tcp://:1", .malformed),
            ("tcp://host:0", .malformed),
            ("tcp://host:65536", .malformed), ("tcp://host:", .malformed),
            ("ipc:///" + String(repeating: "a", count: 107), .pathTooLong(byteCount: 108)),
        ] as [(String, EndpointError)])
    func otherTextsAreRefusedWithTheReason(text: String, reason: EndpointError) {
        #expect(throws: reason) { try Endpoint(checking: text) }
    }
}

@Suite struct ZAPRequestRules {
    private let frames: [[UInt8]] = [
        Array("1.0".utf8), [1], Array("coffer.requests".utf8), [], [], Array("CURVE".utf8),
        [UInt8](repeating: 7, count: 32),
    ]

    @Test func aCurveRequestIsRead() throws {
        let request = try #require(ZAPRequest(frames))
        #expect(request.id == [1])
        #expect(request.domain == "coffer.requests")
        #expect(request.key.bytes == frames[6])
    }

    @Test(arguments: [
        (0, "2.0"), (0, ""), (5, "NULL"), (5, "PLAIN"), (5, "CURVE "), (6, ""),
        (6, String(repeating: "k", count: 31)), (6, String(repeating: "k", count: 33)),
    ])
    func anythingElseIsRefused(position: Int, value: String) {
        var frames = frames
        frames[position] = Array(value.utf8)
        #expect(ZAPRequest(frames) == nil)
    }

    @Test func tooFewAndTooManyFramesAreRefused() {
        #expect(ZAPRequest([]) == nil)
        for count in 1..<frames.count { #expect(ZAPRequest(Array(frames.prefix(count))) == nil) }
        #expect(ZAPRequest(frames + [[]]) == nil)
    }

    @Test func onlyServicesHearEvents() {
        for kind in Role.Kind.allCases where kind != .service {
            #expect(Role(kind.text).map(ZAPDomain.events.admits) == false)
        }
        #expect(ZAPDomain.events.admits(.service(.walletVault)))
    }
}

@Suite struct FrameAssemblyRules {
    private let limits = BusLimits(frameBytes: 256, attachmentCount: 2)

    /// Takes frames as they would lie in libzmq's memory, and says whether the last was wiped.
    private func assemble(_ frames: [[UInt8]]) -> (FrameAssembly, lastIsWiped: Bool) {
        var assembly = FrameAssembly(plainCount: 3, limits: limits)
        var frames = frames
        var lastIsWiped = false
        for index in frames.indices {
            frames[index].withUnsafeMutableBytes { assembly.take($0) }
            lastIsWiped = frames[index].allSatisfy { $0 == 0 }
        }
        assembly.finish()
        return (assembly, lastIsWiped)
    }

    private func attachment(_ bytes: [UInt8]) -> [UInt8] {
        AttachmentFrame.encode(SecretBytes(copying: bytes)).withBytes { Array($0) }
    }

    @Test func framesBecomePlainPartsAndAttachments() {
        let (assembly, isWiped) = assemble([[1], [], [3], attachment([4, 5])])
        #expect(assembly.fault == nil)
        #expect(assembly.plain == [[1], [], [3]])
        #expect(assembly.attachments.map { $0.bytes.withBytes { Array($0) } } == [[4, 5]])
        #expect(isWiped)
    }

    @Test(arguments: [0, 1, 2])
    func tooFewFramesAreMalformed(count: Int) {
        let (assembly, _) = assemble(Array(repeating: [1], count: count))
        #expect(assembly.fault == .malformed)
    }

    @Test(arguments: [0, 1, 2])
    func aLargeFrameIsOversizeAndTheHeaderStaysWhereItWasNot(position: Int) {
        var frames: [[UInt8]] = [[1], [2], [3]]
        frames[position] = [UInt8](repeating: 9, count: 257)
        let (assembly, _) = assemble(frames)
        #expect(assembly.fault == .oversize)
        #expect(assembly.plain.count == position)
    }

    @Test func oneAttachmentTooManyIsOversizeAndWipedToo() {
        let frames = [[1], [2], [3]] + Array(repeating: attachment([7]), count: 3)
        let (assembly, isWiped) = assemble(frames)
        #expect(assembly.fault == .oversize)
        #expect(assembly.attachments.isEmpty)
        #expect(isWiped)
    }

    @Test func anUnframedAttachmentIsMalformedAndWipedToo() {
        let (assembly, isWiped) = assemble([[1], [2], [3], Array("1234".utf8)])
        #expect(assembly.fault == .malformed)
        #expect(isWiped)
    }
}

@Suite struct ConnectionStateRules {
    @Test func aHandshakeMakesReadyAndABreakLoses() {
        var state = ConnectionState()
        #expect(state.note(.handshakeSucceeded, at: 1) == .becameReady)
        #expect(state.phase == .ready)
        #expect(state.note(.disconnected, at: 2) == .lost)
        #expect(state.phase == .connecting)
        #expect(state.failingSince == 2)
    }

    @Test func failingCountsFromTheFirstFailureToTheNextSuccess() {
        var state = ConnectionState()
        #expect(state.failingSince == nil)
        #expect(state.note(.connectFailed, at: 5) == nil)
        #expect(state.note(.connectFailed, at: 9) == nil)
        #expect(state.note(.handshakeBroken, at: 10) == nil)
        #expect(state.failingSince == 5)
        _ = state.note(.handshakeSucceeded, at: 11)
        #expect(state.failingSince == nil)
    }

    @Test func only400SaysThatTheKeyIsUnknown() {
        for status in [300, 500] as [UInt32] {
            var state = ConnectionState()
            #expect(state.note(.handshakeRefused(status: status), at: 1) == .invalid)
        }
        var state = ConnectionState()
        #expect(state.note(.handshakeRefused(status: 400), at: 1) == .refused)
        #expect(state.note(.disconnected, at: 2) == nil)
        #expect(state.phase == .refused)
    }

    @Test func someDescriptorsAreKeptFromConnections() {
        #expect(ConnectionLimit.admits(descriptor: 959, limit: 1_024))
        #expect(!ConnectionLimit.admits(descriptor: 960, limit: 1_024))
        #expect(ConnectionLimit.admits(descriptor: 11, limit: 16))
        #expect(!ConnectionLimit.admits(descriptor: 12, limit: 16))
        #expect(!ConnectionLimit.admits(descriptor: 0, limit: 0))
        #expect(ConnectionLimit.admits(descriptor: .max, limit: .max))
    }

    @Test func anotherServerIsInvalid() {
        var state = ConnectionState()
        #expect(state.note(.handshakeInvalid, at: 1) == .invalid)
        #expect(state.phase == .invalid)
    }
}
