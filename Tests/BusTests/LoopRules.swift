import Clocks
import Glibc
import Loop
import Testing
import Wire

@testable import Bus

@Suite(.busLoop, .timeLimit(.minutes(1)))
struct LoopRules {
    let loop: BusLoop

    init() throws { loop = try TestLoop.current }

    @ServiceLoop
    final class Log {
        var calls = 0
        var sources: [BusLoop.Source] = []
    }

    @Test @ServiceLoop func stoppingAndRunningAHundredTimesLosesNothing() async throws {
        for _ in 0..<100 {
            let before = TestLoop.runs
            loop.stop()
            while TestLoop.runs == before { await Task.yield() }
        }
        #expect(TestLoop.runs >= 100)
    }

    @Test @ServiceLoop func sleepersWakeInTheOrderOfTheirDeadlines() async throws {
        var order: [UInt64] = []
        let tasks = [60, 20, 40].map { (milliseconds: UInt64) in
            Task { @ServiceLoop in
                await loop.timers.sleep(milliseconds: milliseconds)
                order.append(milliseconds)
            }
        }
        for task in tasks { await task.value }
        #expect(order == [20, 40, 60])
    }

    @Test @ServiceLoop func workFromOtherThreadsWakesTheLoop() async throws {
        for _ in 0..<200 {
            let value = await Task.detached { 1 }.value
            #expect(value == 1)
        }
    }

    @Test @ServiceLoop func anIdleLoopUsesNoProcessorTime() async throws {
        let service = try EchoService()
        let link = try service.link(service.admit("a"))
        _ = try await link.exchange(request(1), id: 1, timeoutMilliseconds: 5_000)
        let before = processorNanoseconds()
        await loop.timers.sleep(milliseconds: 500)
        #expect(processorNanoseconds() - before < 25_000_000)
        link.close()
    }

    /// What the loop's thread has used so far.
    @ServiceLoop private func processorNanoseconds() -> Int {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return time.tv_sec * 1_000_000_000 + time.tv_nsec
    }

    @Test @ServiceLoop func aReadableDescriptorIsHandledUntilItIsRemoved() async throws {
        let bell = try Bell()
        var rung = 0
        let source = loop.add(descriptor: bell.descriptor) {
            bell.silence()
            rung += 1
        }
        for expected in 1...3 {
            bell.ring()
            while rung < expected { await loop.timers.sleep(milliseconds: 1) }
        }
        loop.remove(source)
        bell.ring()
        await loop.timers.sleep(milliseconds: 20)
        #expect(rung == 3)
    }

    @Test @ServiceLoop func aHandlerMayRemoveItselfAndOthers() async throws {
        let (first, second) = try (Bell(), Bell())
        let log = Log()
        for bell in [first, second] {
            log.sources.append(
                loop.add(descriptor: bell.descriptor) { [loop] in
                    log.calls += 1
                    for source in log.sources { loop.remove(source) }
                })
        }
        first.ring()
        second.ring()
        await loop.timers.sleep(milliseconds: 20)
        #expect(log.calls == 1)
    }
}

@Suite(.busLoop, .timeLimit(.minutes(1)))
struct EventRules {
    let service: EchoService
    let endpoint: Endpoint
    let publisher: Publisher

    init() async throws {
        service = try await EchoService()
        endpoint = try Endpoint(checking: "ipc://\(service.scratch.path)/events.sock")
        publisher = try await Publisher(
            loop: service.loop, context: service.context, endpoint: endpoint,
            identity: service.identity)
    }

    /// What a subscriber told, in order.
    @ServiceLoop
    final class Log {
        var notices: [Subscriber.Notice] = []
    }

    @ServiceLoop private func subscribe(_ identity: CurveKeyPair, log: Log) throws -> Subscriber {
        Subscriber(
            loop: service.loop, context: try Context(), endpoint: endpoint,
            serverKey: service.identity.publicKey, identity: identity
        ) { log.notices.append($0) }
    }

    @Test @ServiceLoop func aServiceHearsEventsInTheirOrder() async throws {
        let log = Log()
        let subscriber = try subscribe(
            service.admit("vault", role: .service(.walletVault)), log: log)
        #expect(await service.wait { log.notices == [.connected] })
        // The subscription follows the handshake; until it has arrived events go to nobody.
        #expect(
            await service.wait {
                publisher.publish([[0]])
                return log.notices.contains(.event([[0]]))
            })
        for number in UInt8(1)...100 { publisher.publish([[number], [], [7]]) }
        let expected = (UInt8(1)...100).map { Subscriber.Notice.event([[$0], [], [7]]) }
        #expect(
            await service.wait {
                log.notices.filter { $0 != .event([[0]]) }.dropFirst().count == 100
            })
        #expect(Array(log.notices.suffix(100)) == expected)
        subscriber.close()
        publisher.close()
    }

    @Test(arguments: ["app", "engine", "extension", "operator"]) @ServiceLoop
    func nobodyElseHearsEvents(role: String) async throws {
        let log = Log()
        let role = try #require(Role(role))
        let subscriber = try subscribe(service.admit("a", role: role), log: log)
        #expect(await service.wait { log.notices == [.unadmitted] })
        subscriber.close()
        publisher.close()
    }

    @Test @ServiceLoop func aServiceAddedLaterIsConnectedLater() async throws {
        let log = Log()
        let pair = try #require(CurveKeyPair.generate())
        let subscriber = try subscribe(pair, log: log)
        #expect(await service.wait { log.notices == [.unadmitted] })
        try service.folder.add(
            PeerEntry(
                name: "late", key: pair.publicKey, role: .service(.walletVault), owners: .all,
                mayDestroy: false))
        #expect(await service.wait { log.notices.last == .connected })
        subscriber.close()
        publisher.close()
    }

    @Test @ServiceLoop func aSubscriberIsToldThatItWasCutOff() async throws {
        let log = Log()
        let pair = try service.admit("vault", role: .service(.walletVault))
        let path = "ipc://\(service.scratch.path)/second.sock"
        var second: Publisher? = try Publisher(
            loop: service.loop, context: service.context, endpoint: Endpoint(checking: path),
            identity: service.identity)
        let subscriber = Subscriber(
            loop: service.loop, context: try Context(), endpoint: try Endpoint(checking: path),
            serverKey: service.identity.publicKey, identity: pair
        ) { log.notices.append($0) }
        #expect(await service.wait { log.notices == [.connected] })
        second?.close()
        second = nil
        #expect(await service.wait { log.notices.last == .disconnected })
        second = try Publisher(
            loop: service.loop, context: service.context, endpoint: Endpoint(checking: path),
            identity: service.identity)
        #expect(await service.wait { log.notices.last == .connected })
        subscriber.close()
        second?.close()
        publisher.close()
    }
}
