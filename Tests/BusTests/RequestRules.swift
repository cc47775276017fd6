import Glibc
import Loop
import Secrets
import Testing
import Wire

@testable import Bus

@Suite(.busLoop, .timeLimit(.minutes(1)))
struct RequestRules {
    let service: EchoService

    init() async throws { service = try await EchoService(limits: BusLimits(frameBytes: 4_096)) }

    /// Sends frames as they are, and gives the reply's frames.
    @ServiceLoop private func send(_ frames: [[UInt8]]) async throws -> [[UInt8]] {
        let client = try service.client(service.admit("raw\(service.received.count)"))
        #expect(client.sendMessage(frames) == .sent)
        var reply: [[UInt8]]?
        #expect(
            await service.wait {
                reply = client.receiveMessage(partLimit: 16, byteLimit: 100_000)
                return reply != nil
            })
        return try #require(reply)
    }

    @ServiceLoop private func fault(_ frames: [[UInt8]]) async throws -> String {
        String(decoding: try await send(frames)[1], as: UTF8.self)
    }

    @ServiceLoop private func attachment(_ bytes: [UInt8]) -> [UInt8] {
        AttachmentFrame.encode(SecretBytes(copying: bytes)).withBytes { Array($0) }
    }

    @Test @ServiceLoop func bodyAndAttachmentsComeBackAsTheyWent() async throws {
        let link = try service.link(service.admit("a"))
        let secrets: [[UInt8]] = [[], Array("1234".utf8), [UInt8](repeating: 7, count: 4_096)]
        let reply = try await link.exchange(
            request(1, body: [1, 2, 3], attachments: secrets), id: 1, timeoutMilliseconds: 5_000)
        #expect(reply.body == [1, 2, 3])
        #expect(reply.attachments.map(bytes) == secrets)
        link.close()
    }

    @Test @ServiceLoop func tooFewFramesAreRefusedWithAnAnswer() async throws {
        #expect(try await fault([request(3).header]) == BusFault.malformed.rawValue)
        #expect(try await fault([request(4).header, []]) == BusFault.malformed.rawValue)
        #expect(try await fault([[]]) == BusFault.malformed.rawValue)
    }

    @Test @ServiceLoop func theRefusalNamesTheRequest() async throws {
        let reply = try await send([request(99).header])
        #expect(try ReplyHeader(decoding: reply[0]) == ReplyHeader(id: 99, status: .error))
    }

    @Test @ServiceLoop func tooManyFramesAreRefusedWithAnAnswer() async throws {
        let plain = [request(1).header, [], Array("{}".utf8)]
        let frames = plain + Array(repeating: attachment([1]), count: 5)
        #expect(try await fault(frames) == BusFault.oversize.rawValue)
        #expect(try await fault(plain + Array(repeating: [], count: 3_000)) == "bus.malformed")
    }

    @Test(arguments: [0, 1, 2, 3]) @ServiceLoop
    func aLargeFrameIsRefusedWithAnAnswer(position: Int) async throws {
        var frames = [request(1).header, [], Array("{}".utf8), attachment([1])]
        frames[position] =
            position == 3
            ? attachment([UInt8](repeating: 1, count: 4_097))
            : [UInt8](repeating: 0x20, count: 4_097)
        #expect(try await fault(frames) == BusFault.oversize.rawValue)
    }

    @Test @ServiceLoop func anAttachmentWithoutItsFramingIsRefusedWithAnAnswer() async throws {
        let frames = [request(1).header, [], Array("{}".utf8), Array("1234".utf8)]
        #expect(try await fault(frames) == BusFault.malformed.rawValue)
    }

    @Test @ServiceLoop func aHugeFrameEndsTheConnectionAndNothingElse() async throws {
        let client = try service.client(service.admit("huge"))
        client.sendMessage([[UInt8](repeating: 0x20, count: 1 << 20), [], []])
        let link = try service.link(service.admit("a"))
        _ = try await link.exchange(request(1), id: 1, timeoutMilliseconds: 5_000)
        #expect(service.received.count == 1)
        link.close()
    }

    @Test @ServiceLoop func aClientSendsNothingThatTheServerWouldRefuse() async throws {
        let link = ServiceLink(
            loop: service.loop, context: try Context(), endpoint: service.endpoint,
            serverKey: service.identity.publicKey, identity: try service.admit("a"),
            limits: BusLimits(frameBytes: 4_096))
        let large = [UInt8](repeating: 0x20, count: 4_097)
        for frames in [
            request(1, body: large), request(1, attachments: [large]),
            request(1, attachments: Array(repeating: [], count: 5)),
        ] {
            await #expect(throws: BusFault.oversize) {
                try await link.exchange(frames, id: 1, timeoutMilliseconds: 5_000)
            }
        }
        #expect(service.received.isEmpty)
        link.close()
    }

    @Test @ServiceLoop func garbageOnTheSocketHarmsNobody() async throws {
        let link = try service.link(service.admit("a"))
        var generator = SystemRandomNumberGenerator()
        for round in 0..<40 {
            let count = Int.random(in: 1...2_000, using: &generator)
            var garbage = (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
            // Some begin as ZeroMQ's greeting does, so that later states are reached too.
            if round % 2 == 0 {
                garbage.insert(contentsOf: [0xFF, 0, 0, 0, 0, 0, 0, 0, 1, 0x7F, 3, 0], at: 0)
            }
            if round % 4 == 0 {
                garbage.insert(
                    contentsOf: Array("CURVE".utf8) + [UInt8](repeating: 0, count: 47), at: 12)
            }
            poke(garbage)
            let id = UInt64(round)
            _ = try await link.exchange(request(id), id: id, timeoutMilliseconds: 5_000)
        }
        #expect(service.received.count == 40)
        link.close()
    }

    /// Writes bytes to the socket file as a stranger would.
    @ServiceLoop private func poke(_ bytes: [UInt8]) {
        let stranger = service.endpoint.path.flatMap { UnixSocket(connectingTo: $0) }
        #expect(stranger?.send(bytes) == true)
    }

    @Test @ServiceLoop func aReplyToAVanishedPeerIsDroppedAndCounted() async throws {
        service.answer = { _, _ in }
        var client: Socket? = try service.client(service.admit("a"))
        client?.sendMessage([request(1).header, [], Array("{}".utf8)])
        #expect(await service.wait { !service.received.isEmpty })
        client = nil
        let route = try #require(service.received.first).route
        #expect(
            await service.wait {
                service.reply(id: 1, .ok, [], [], to: route)
                return service.socket?.counts.repliesToVanishedPeers ?? 0 > 0
            })
        service.answer = { $1.echo($0) }
        let link = try service.link(service.admit("b"))
        _ = try await link.exchange(request(1), id: 1, timeoutMilliseconds: 5_000)
        link.close()
    }

    @Test @ServiceLoop func aPeerThatDoesNotReadIsNotWaitedFor() async throws {
        service.answer = { _, _ in }
        let client = try service.client(service.admit("a")) { socket throws(BusError) in
            try socket.set(24, 1)
        }
        client.sendMessage([request(1).header, [], Array("{}".utf8)])
        #expect(await service.wait { !service.received.isEmpty })
        let route = try #require(service.received.first).route
        let body = [UInt8](repeating: 0x20, count: 4_000)
        for _ in 0..<4_000 { service.reply(id: 1, .ok, body, [], to: route) }
        #expect(service.socket?.counts.repliesToSlowPeers ?? 0 > 0)
    }

    @Test @ServiceLoop func aReceivedAttachmentIsWipedInTheMemoryOfTheMessage() async throws {
        let (sender, receiver) = try (
            Socket(.pair, in: service.context), Socket(.pair, in: service.context)
        )
        try receiver.bind("inproc://wipe")
        try sender.connect("inproc://wipe")
        let secret = Array("abandon abandon about".utf8)
        #expect(sender.send(attachment(secret), more: false) == .sent)
        var assembly = FrameAssembly(plainCount: 0, limits: BusLimits())
        var isWiped = false
        let received: Void? = receiver.receive { frame in
            frame.withBytes { assembly.take($0) }
            isWiped = frame.bytes.allSatisfy { $0 == 0 }
        }
        #expect(received != nil)
        #expect(isWiped)
        #expect(assembly.attachments.map(bytes) == [secret])
    }

    @Test @ServiceLoop func aSentAttachmentIsReleasedOnceItIsEncrypted() async throws {
        let client = try service.client(service.admit("b"))
        weak var sent: SharedSecret?
        do {
            let frame = SharedSecret(AttachmentFrame.encode(SecretBytes(copying: [1, 2, 3])))
            sent = frame
            for part in [request(1).header, [], Array("{}".utf8)] {
                #expect(client.send(part, more: true) == .sent)
            }
            #expect(client.send(secret: frame, more: false) == .sent)
        }
        #expect(await service.wait { sent == nil })
        #expect(await service.wait { service.received.count == 1 })
    }

    @Test @ServiceLoop func theSocketFileTakesItsModeFromTheUmask() throws {
        let path = try #require(service.endpoint.path)
        let mask = umask(0o077)
        umask(mask)
        #expect(mode(of: path) == 0o777 & ~mask)
    }

    @Test @ServiceLoop func aSocketFileThatWasLeftOverIsReplaced() async throws {
        let path = "\(service.scratch.path)/stale.sock"
        _ = UnixSocket(bindingTo: path)
        #expect(access(path, F_OK) == 0)
        let second = try EchoService(endpoint: Endpoint(checking: "ipc://\(path)"))
        let link = try second.link(second.admit("a"))
        _ = try await link.exchange(request(1), id: 1, timeoutMilliseconds: 5_000)
        link.close()
    }

    @Test @ServiceLoop func aSocketOnTCPTellsItsPort() async throws {
        let second = try EchoService(endpoint: Endpoint(checking: "tcp://127.0.0.1:*"))
        let bound = try #require(second.socket).endpoint
        let link = ServiceLink(
            loop: second.loop, context: try Context(), endpoint: try Endpoint(checking: bound),
            serverKey: second.identity.publicKey, identity: try second.admit("a"))
        _ = try await link.exchange(request(1), id: 1, timeoutMilliseconds: 5_000)
        link.close()
    }

    @Test @ServiceLoop func anEndpointThatCannotBeBoundIsATypedError() throws {
        let endpoint = try Endpoint(checking: "ipc:///nowhere/at/all.sock")
        #expect(throws: BusError.self) {
            try RequestSocket(
                context: service.context, endpoint: endpoint, identity: service.identity)
        }
    }
}
