import Clocks
import Glibc
import Loop
import Secrets
import Testing
import Wire

@testable import Bus

@Suite(.busLoop, .timeLimit(.minutes(1)))
struct LinkRules {
    let service: EchoService
    let clock: SystemBootClock

    init() async throws {
        service = try await EchoService()
        clock = try #require(SystemBootClock())
    }

    @Test @ServiceLoop func aMissingServiceIsUnreachableWithinTwoSeconds() async throws {
        await service.closed()
        let link = try service.link(service.admit("a"))
        let start = clock.now.nanoseconds
        await #expect(throws: BusFault.unreachable) {
            try await link.exchange(request(1), id: 1, timeoutMilliseconds: 60_000)
        }
        #expect(clock.now.nanoseconds - start < 2_500_000_000)
        // From then on it is known, and nobody waits.
        let again = clock.now.nanoseconds
        await #expect(throws: BusFault.unreachable) {
            try await link.exchange(request(2), id: 2, timeoutMilliseconds: 60_000)
        }
        #expect(clock.now.nanoseconds - again < 500_000_000)
        link.close()
    }

    @Test @ServiceLoop func aServiceThatIsStartedWithinTheGraceIsReached() async throws {
        await service.closed()
        let link = try service.link(service.admit("a"), settings: .init(graceMilliseconds: 10_000))
        async let reply = link.exchange(request(1), id: 1, timeoutMilliseconds: 10_000)
        await service.loop.timers.sleep(milliseconds: 200)
        try service.open()
        #expect(try await reply.body == Array("{}".utf8))
        link.close()
    }

    @Test @ServiceLoop func anAnswerThatDoesNotComeExpiresAtTheDeadline() async throws {
        service.answer = { _, _ in }
        let link = try service.link(service.admit("a"))
        let start = clock.now.nanoseconds
        await #expect(throws: BusFault.expired) {
            try await link.exchange(request(1), id: 1, timeoutMilliseconds: 200)
        }
        #expect(clock.now.nanoseconds - start >= 200_000_000)
        link.close()
    }

    @Test @ServiceLoop func aLateAnswerIsDroppedAndCounted() async throws {
        service.answer = { _, _ in }
        let link = try service.link(service.admit("a"))
        await #expect(throws: BusFault.expired) {
            try await link.exchange(request(1), id: 1, timeoutMilliseconds: 100)
        }
        #expect(await service.wait { !service.received.isEmpty })
        service.answer = { $1.echo($0) }
        service.echo(try #require(service.received.first))
        #expect(await service.wait { link.counts.lateReplies == 1 })
        _ = try await link.exchange(request(2), id: 2, timeoutMilliseconds: 5_000)
        link.close()
    }

    @Test @ServiceLoop func aShortDeadlineIsKeptBesideALongOne() async throws {
        service.answer = { _, _ in }
        let link = try service.link(service.admit("a"))
        let slow = onLoop {
            try await link.exchange(request(1), id: 1, timeoutMilliseconds: 30_000)
        }
        await #expect(throws: BusFault.expired) {
            try await link.exchange(request(2), id: 2, timeoutMilliseconds: 100)
        }
        link.close()
        await #expect(throws: BusFault.lost) { try await slow.value }
    }

    @Test @ServiceLoop func aServiceThatEndsLosesItsCallsAtOnce() async throws {
        service.answer = { _, service in service.close() }
        let link = try service.link(service.admit("a"))
        let start = clock.now.nanoseconds
        await #expect(throws: BusFault.lost) {
            try await link.exchange(request(1), id: 1, timeoutMilliseconds: 30_000)
        }
        #expect(clock.now.nanoseconds - start < 2_000_000_000)
        await service.closed()
        service.answer = { $1.echo($0) }
        try service.open()
        _ = try await link.exchange(request(2), id: 2, timeoutMilliseconds: 5_000)
        #expect(service.received.count == 2)
        link.close()
    }

    @Test @ServiceLoop func moreCallsThanAllowedAreBusy() async throws {
        service.answer = { _, _ in }
        let link = try service.link(service.admit("a"), settings: .init(callsInFlight: 2))
        let calls = (UInt64(1)...2).map { id in
            onLoop {
                try await link.exchange(request(id), id: id, timeoutMilliseconds: 30_000)
            }
        }
        #expect(await service.wait { service.received.count == 2 })
        await #expect(throws: BusFault.busy) {
            try await link.exchange(request(3), id: 3, timeoutMilliseconds: 30_000)
        }
        link.close()
        for call in calls { await #expect(throws: BusFault.lost) { try await call.value } }
    }

    @Test @ServiceLoop func repliesFindTheirCallsInAnyOrder() async throws {
        var held: [Incoming] = []
        service.answer = { request, service in
            held.append(request)
            guard held.count == 50 else { return }
            for request in held.reversed() { service.echo(request) }
        }
        let link = try service.link(service.admit("a"))
        let calls = (UInt64(1)...50).map { id in
            onLoop {
                let frames = request(id, body: [UInt8(id)])
                return try await link.exchange(frames, id: id, timeoutMilliseconds: 10_000).body
            }
        }
        for (call, id) in zip(calls, UInt8(1)...50) { #expect(try await call.value == [id]) }
        link.close()
    }

    @Test @ServiceLoop func somethingThatIsNoReplyIsCountedAndHarmsNobody() async throws {
        service.answer = { request, service in
            service.socket?.send(ReplyFrames(header: [1, 2], body: []), to: request.route)
            service.echo(request)
        }
        let link = try service.link(service.admit("a"))
        _ = try await link.exchange(request(1), id: 1, timeoutMilliseconds: 5_000)
        #expect(link.counts.unreadableReplies == 1)
        link.close()
    }

    @Test @ServiceLoop func aReplyWithTooManyAttachmentsIsABadReply() async throws {
        service.answer = { request, service in
            let secrets = (0..<5).map { _ in SharedSecret(SecretBytes(count: 1)) }
            service.reply(id: 1, .ok, [], secrets, to: request.route)
        }
        let link = try service.link(service.admit("a"))
        await #expect(throws: BusFault.badReply) {
            try await link.exchange(request(1), id: 1, timeoutMilliseconds: 5_000)
        }
        link.close()
    }

    @Test @ServiceLoop func tenThousandCallsAreAnswered() async throws {
        let link = try service.link(service.admit("a"))
        let lanes = (UInt64(0)..<8).map { lane in
            onLoop {
                for id in (lane * 10_000)..<(lane * 10_000 + 1_250) {
                    _ = try await link.exchange(request(id), id: id, timeoutMilliseconds: 30_000)
                }
            }
        }
        for lane in lanes { try await lane.value }
        #expect(service.socket?.counts.replies == 10_000)
        link.close()
    }

    @Test @ServiceLoop func oneCallAfterAnotherIsQuick() async throws {
        let link = try service.link(service.admit("a"))
        _ = try await link.exchange(request(0), id: 0, timeoutMilliseconds: 5_000)
        let start = clock.now.nanoseconds
        for id in UInt64(1)...1_000 {
            _ = try await link.exchange(request(id), id: id, timeoutMilliseconds: 5_000)
        }
        let microseconds = (clock.now.nanoseconds - start) / 1_000_000
        #expect(microseconds < 5_000)
        link.close()
    }

    @Test @ServiceLoop func startingAndStoppingAHundredTimesLeavesNothingHanging() async throws {
        for _ in 0..<100 {
            let service = try EchoService()
            let link = try service.link(service.admit("a"))
            _ = try await link.exchange(request(1), id: 1, timeoutMilliseconds: 5_000)
            link.close()
            service.close()
        }
    }

    @Test @ServiceLoop func stoppingInTheMiddleOfAHandshakeDoesNotHang() async throws {
        for _ in 0..<50 {
            let service = try EchoService()
            let link = try service.link(service.admit("a"))
            link.close()
            service.close()
        }
    }
}

@Suite(.busLoop, .timeLimit(.minutes(1)))
struct BlockingLinkRules {
    let service: EchoService
    let clock: SystemBootClock

    init() async throws {
        service = try await EchoService()
        clock = try #require(SystemBootClock())
    }

    /// Makes calls one after another on a thread of their own.
    @ServiceLoop private func call(
        _ identity: CurveKeyPair, milliseconds: UInt64 = 5_000, count: Int = 1
    ) async throws -> [ReplyFrames] {
        let (endpoint, key, clock) = (service.endpoint, service.identity.publicKey, clock)
        return try await onThread {
            Result { () throws -> [ReplyFrames] in
                let link = BlockingLink(
                    context: try Context(), endpoint: endpoint, serverKey: key,
                    identity: identity, clock: clock)
                return try (0..<count).map { number in
                    try link.exchange(
                        request(UInt64(number), body: [UInt8(number)], attachments: [[7]]),
                        timeoutMilliseconds: milliseconds)
                }
            }
        }.get()
    }

    @Test @ServiceLoop func callsAreAnsweredInTheirOrder() async throws {
        let replies = try await call(service.admit("a"), count: 200)
        #expect(replies.map(\.body) == (0..<200).map { [UInt8($0)] })
        #expect(replies.allSatisfy { $0.attachments.map(bytes) == [[7]] })
    }

    @Test @ServiceLoop func anUnknownKeyIsTold() async throws {
        let pair = try #require(CurveKeyPair.generate())
        await #expect(throws: BusFault.unadmitted) {
            try await call(pair, milliseconds: 30_000)
        }
    }

    @Test @ServiceLoop func aMissingServiceIsUnreachableWithinTwoSeconds() async throws {
        await service.closed()
        let pair = try service.admit("a")
        let start = clock.now.nanoseconds
        await #expect(throws: BusFault.unreachable) {
            try await call(pair, milliseconds: 60_000)
        }
        #expect(clock.now.nanoseconds - start < 2_500_000_000)
    }

    @Test @ServiceLoop func aServiceThatDoesNotAnswerExpires() async throws {
        service.answer = { _, _ in }
        let pair = try service.admit("a")
        await #expect(throws: BusFault.expired) { try await call(pair, milliseconds: 200) }
    }

    @Test @ServiceLoop func aServiceThatEndsLosesTheCallAtOnce() async throws {
        service.answer = { _, service in service.close() }
        let pair = try service.admit("a")
        await #expect(throws: BusFault.lost) { try await call(pair, milliseconds: 30_000) }
    }

    @Test @ServiceLoop func aListenerThatNeverSpeaksIsUnreachableAtTheDeadline() async throws {
        let path = "\(service.scratch.path)/mute.sock"
        let listener = UnixSocket(bindingTo: path)
        listener?.listen()
        defer { withExtendedLifetime(listener) {} }
        let (endpoint, key, clock) = (
            try Endpoint(checking: "ipc://\(path)"), service.identity.publicKey, clock
        )
        let pair = try service.admit("a")
        await #expect(throws: BusFault.unreachable) {
            try await onThread {
                Result { () throws -> ReplyFrames in
                    let link = BlockingLink(
                        context: try Context(), endpoint: endpoint, serverKey: key,
                        identity: pair, clock: clock)
                    return try link.exchange(request(1), timeoutMilliseconds: 400)
                }
            }.get()
        }
    }
}
