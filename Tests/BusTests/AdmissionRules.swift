import Clocks
import Glibc
import Loop
import Secrets
import Testing
import Wire

@testable import Bus

@Suite(.busLoop, .timeLimit(.minutes(1)))
struct AdmissionRules {
    let service: EchoService
    let clock: SystemBootClock

    init() async throws {
        service = try await EchoService()
        clock = try #require(SystemBootClock())
    }

    @ServiceLoop private func trial(_ service: EchoService) async throws -> UnknownKeyTrial.Verdict
    {
        let (endpoint, key, clock) = (service.endpoint, service.identity.publicKey, clock)
        return try await onThread {
            Result { try UnknownKeyTrial.run(endpoint: endpoint, serverKey: key, clock: clock) }
        }.get()
    }

    @Test @ServiceLoop func aKnownKeyIsServedAndNamed() async throws {
        let pair = try service.admit("a")
        let link = try service.link(pair)
        _ = try await link.exchange(request(1), id: 1, timeoutMilliseconds: 5_000)
        #expect(service.received.map(\.peer) == [pair.publicKey])
        #expect(service.zap.counts.admitted == 1)
        link.close()
    }

    @Test @ServiceLoop func anUnknownKeyIsRefusedAndToldAtOnce() async throws {
        let pair = try #require(CurveKeyPair.generate())
        let link = try service.link(pair)
        let start = clock.now.nanoseconds
        await #expect(throws: BusFault.unadmitted) {
            try await link.exchange(request(1), id: 1, timeoutMilliseconds: 30_000)
        }
        #expect(clock.now.nanoseconds - start < 2_000_000_000)
        #expect(service.received.isEmpty)
        link.close()
    }

    @Test @ServiceLoop func aPeerAddedAfterARefusalIsServedAtHisNextCall() async throws {
        let pair = try #require(CurveKeyPair.generate())
        let link = try service.link(pair)
        await #expect(throws: BusFault.unadmitted) {
            try await link.exchange(request(1), id: 1, timeoutMilliseconds: 30_000)
        }
        try service.folder.add(
            PeerEntry(
                name: "late", key: pair.publicKey, role: .app, owners: .all, mayDestroy: false))
        _ = try await link.exchange(request(2), id: 2, timeoutMilliseconds: 5_000)
        link.close()
    }

    @Test @ServiceLoop func theTrialOfAGoodDoorIsRefused() async throws {
        #expect(try await trial(service) == .refused)
        #expect(service.zap.counts.refused == 1)
    }

    @Test @ServiceLoop func aStoppedHandlerAdmitsNobody() async throws {
        let pair = try service.admit("a")
        service.zap.stop()
        #expect(try await trial(service) == .endedSilently)
        let link = try service.link(pair, settings: .init(graceMilliseconds: 300))
        await #expect(throws: BusFault.unreachable) {
            try await link.exchange(request(1), id: 1, timeoutMilliseconds: 30_000)
        }
        #expect(service.received.isEmpty)
        link.close()
    }

    @Test @ServiceLoop func aHandlerThatWasNeverStartedAdmitsNobody() async throws {
        let context = try Context()
        let endpoint = try Endpoint(checking: "ipc://\(service.scratch.path)/bare.sock")
        let socket = try RequestSocket(
            context: context, endpoint: endpoint, identity: service.identity)
        let (key, clock) = (service.identity.publicKey, clock)
        let verdict = try await onThread {
            Result { try UnknownKeyTrial.run(endpoint: endpoint, serverKey: key, clock: clock) }
        }.get()
        #expect(verdict == .endedSilently)
        _ = socket
    }

    @Test @ServiceLoop func theTrialNoticesADoorThatLetsEverybodyIn() async throws {
        let open = try Socket(.router, in: Context())
        try open.set(47, 1)
        try open.set(49, service.identity.secret)
        let endpoint = try Endpoint(checking: "ipc://\(service.scratch.path)/open.sock")
        try open.bind(endpoint.text)
        let (key, clock) = (service.identity.publicKey, clock)
        let verdict = try await onThread {
            Result { try UnknownKeyTrial.run(endpoint: endpoint, serverKey: key, clock: clock) }
        }.get()
        #expect(verdict == .admitted)
    }

    @Test @ServiceLoop func aSecondHandlerInOneContextIsRefused() {
        #expect(throws: BusError.self) {
            try ZAPHandler(context: service.context, peers: service.table)
        }
    }

    @Test @ServiceLoop func aRemovedPeersOpenConnectionHasNoEntryAnyMore() async throws {
        let pair = try service.admit("a")
        let link = try service.link(pair)
        _ = try await link.exchange(request(1), id: 1, timeoutMilliseconds: 5_000)
        try service.folder.remove("a")
        _ = try await link.exchange(request(2), id: 2, timeoutMilliseconds: 5_000)
        let peer = try #require(service.received.last).peer
        #expect(service.table.entry(for: peer) == nil)
        link.close()
    }

    @Test(arguments: ["client", "\u{0}abc", "\u{0}12345", "\u{1}2345"]) @ServiceLoop
    func aChosenRoutingIDIsRefused(id: String) async throws {
        let client = try service.client(service.admit("a")) { socket throws(BusError) in
            try socket.set(5, Array(id.utf8))
        }
        #expect(client.sendMessage([request(7).header, [], Array("{}".utf8)]) == .sent)
        #expect(await service.wait { !service.received.isEmpty })
        let incoming = try #require(service.received.first)
        guard case .failure(.identity) = incoming.content else {
            Issue.record("not refused")
            return
        }
        #expect(RequestHeader.id(ofUnreadable: incoming.header) == 7)
    }

    @Test @ServiceLoop func aWrongServerKeyReachesNobody() async throws {
        let stranger = try #require(CurveKeyPair.generate())
        let link = ServiceLink(
            loop: service.loop, context: try Context(), endpoint: service.endpoint,
            serverKey: stranger.publicKey, identity: try service.admit("a"),
            settings: .init(graceMilliseconds: 300))
        await #expect(throws: BusFault.unreachable) {
            try await link.exchange(request(1), id: 1, timeoutMilliseconds: 10_000)
        }
        #expect(service.received.isEmpty)
        link.close()
    }

    @Test @ServiceLoop func aMalformedQuestionOfTheHandlerIsAnswered500() async throws {
        let asker = try Socket(.request, in: service.context)
        try asker.connect("inproc://zeromq.zap.01")
        asker.sendMessage([Array("1.0".utf8), [9], [], [], [], Array("NULL".utf8)])
        var reply: [[UInt8]]?
        #expect(
            await service.wait {
                reply = asker.receiveMessage(partLimit: 8, byteLimit: 64)
                return reply != nil
            })
        #expect(reply == [Array("1.0".utf8), [9], Array("500".utf8), [], [], []])
        #expect(service.zap.counts.malformed == 1)
    }

    @Test(arguments: [["x"], [], ["1.0"]]) @ServiceLoop
    func shortQuestionsOfTheHandlerAreAnsweredToo(frames: [String]) async throws {
        let asker = try Socket(.request, in: service.context)
        try asker.connect("inproc://zeromq.zap.01")
        asker.sendMessage(frames.isEmpty ? [[]] : frames.map { Array($0.utf8) })
        #expect(
            await service.wait { asker.receiveMessage(partLimit: 8, byteLimit: 64) != nil })
        let pair = try service.admit("a")
        let link = try service.link(pair)
        _ = try await link.exchange(request(1), id: 1, timeoutMilliseconds: 5_000)
        link.close()
    }
}
