import AuthorityMessages
import Clocks
import Dispatch
import Foundation
import Secrets
import Synchronization
import TestKit
import Testing
import Tokens
import VaultMessages
import Wire

extension EndToEnd {
    /// Keys are asked for while their session is being revoked.
    ///
    /// `COFFER_THOROUGH=1` holds 1,000 races in place of 60.
    @Suite(.timeLimit(.minutes(10)))
    struct RevocationRaces {
        private static let lanes = 4
        private static let rounds =
            ProcessInfo.processInfo.environment["COFFER_THOROUGH"] == nil ? 15 : 260
        /// The fewest of 100 races in which both requests were under way at once.
        private static let overlappedMin = 80

        @Test func nothingSucceedsAfterARevocationWasAcknowledged() throws {
            let home = try TestHome()
            let clients = try (0..<Self.lanes).map { try home.newClient("app\($0)") }
            _ = try clients[0].call(Unlock())
            let token = try clients[0].openSession()
            let wallet = try clients[0].call(
                CreateWallet(namespace: main, label: "", words: 12), token: token
            ).reply.wallet
            let lanes = (0..<Self.lanes).map {
                Lane(asking: clients[$0], revoking: home.again(clients[$0]), wallet, $0)
            }
            let found = Mutex(Tally())
            let clock = home.clock
            DispatchQueue.concurrentPerform(iterations: Self.lanes) { number in
                let tally = lanes[number].race(rounds: Self.rounds, clock: clock)
                found.withLock { $0.add(tally) }
            }
            let tally = found.withLock { $0 }
            let line = """
                revocation: \(tally.races) races, \(tally.overlapped) overlapped, \
                \(tally.succeededBefore) keys before the answer, \(tally.succeededAfter) after it\n
                """
            FileHandle.standardOutput.write(Data(line.utf8))
            #expect(tally.broken == 0)
            #expect(tally.races == Self.lanes * Self.rounds)
            #expect(100 * tally.overlapped >= Self.overlappedMin * tally.races)
            // Of races that nobody ever wins nothing could be learned.
            #expect(tally.succeededBefore > 0)
            #expect(tally.succeededAfter == 0)
        }
    }
}

extension Client {
    fileprivate func openSession() throws -> [UInt8] {
        let answer = try call(OpenSession(scope: .resource(main), audience: [.walletVault]))
        return try known(answer.attachments.first).bytes.withBytes { Array($0) }
    }
}

/// What came of races.
private struct Tally {
    var races = 0
    /// Races in which a key was asked for while the revocation was under way.
    var overlapped = 0
    var succeededBefore = 0
    /// Successes of requests that were sent after the revocation was answered.
    var succeededAfter = 0
    /// Races that could not be held.
    var broken = 0

    mutating func add(_ other: Tally) {
        races += other.races
        overlapped += other.overlapped
        succeededBefore += other.succeededBefore
        succeededAfter += other.succeededAfter
        broken += other.broken
    }
}

/// Two connections of one peer: one asks for keys, the other revokes.
///
/// Safe to send: each connection is used by one thread at a time.
private final class Lane: @unchecked Sendable {
    private static let pauseMicrosecondsMax: UInt64 = 4_000

    private let asking: Client
    private let revoking: Client
    private let wallet: WalletID
    private let random: SeededRandom

    init(asking: Client, revoking: Client, _ wallet: WalletID, _ number: Int) {
        self.asking = asking
        self.revoking = revoking
        self.wallet = wallet
        random = SeededRandom(seed: UInt64(number))
    }

    func race(rounds: Int, clock: SystemBootClock) -> Tally {
        var tally = Tally()
        for _ in 0..<rounds {
            do { try raceOnce(clock, &tally) } catch { tally.broken += 1 }
        }
        return tally
    }

    private func raceOnce(_ clock: SystemBootClock, _ tally: inout Tally) throws {
        let token = try asking.openSession()
        let pause = UInt32(random.next() % Self.pauseMicrosecondsMax)
        let revocation = Mutex<ClosedRange<UInt64>?>(nil)
        let revoker = DispatchQueue(label: "revoker")
        let isDone = DispatchGroup()
        revoker.async(group: isDone) { [self] in
            usleep(pause)
            let sent = clock.now.nanoseconds
            guard (try? revoking.call(Revoke(), token: token)) != nil else { return }
            let answered = clock.now.nanoseconds
            revocation.withLock { $0 = sent...answered }
        }
        var asked: [(span: ClosedRange<UInt64>, isRight: Bool)] = []
        // A few more after the revocation was answered.
        var left = 3
        while left > 0 {
            let sent = clock.now.nanoseconds
            let isRight = (try? asking.call(check, token: token)) != nil
            asked.append((sent...clock.now.nanoseconds, isRight))
            if revocation.withLock({ $0 != nil }) { left -= 1 }
            if !isRight { usleep(2_000) }
            guard asked.count < 10_000 else { break }
        }
        isDone.wait()
        guard let span = revocation.withLock({ $0 }) else { throw TestError("not revoked") }
        tally.races += 1
        tally.overlapped += asked.contains { $0.span.overlaps(span) } ? 1 : 0
        tally.succeededBefore +=
            asked.filter { $0.isRight && $0.span.lowerBound <= span.upperBound }.count
        tally.succeededAfter +=
            asked.filter { $0.isRight && $0.span.lowerBound > span.upperBound }.count
    }

    private var check: CheckWallet { CheckWallet(namespace: main, wallet: wallet) }
}
