import TestKit
import Testing
import Tokens
import Wire

@testable import AuthorityClient

@Suite struct AuthorityNewsRules {
    private let run: RunID
    private let nextRun: RunID

    init() throws {
        let run: RunID? = RunID([UInt8](repeating: 1, count: 16))
        let nextRun: RunID? = RunID([UInt8](repeating: 2, count: 16))
        self.run = try #require(run)
        self.nextRun = try #require(nextRun)
    }

    private let second: UInt64 = 1_000_000_000

    @Test func nothingIsKnownBeforeTheFirstEvent() {
        var news = AuthorityNews()
        #expect(!news.isCurrent(at: 0))
        #expect(news.hear(run: run, number: 7, at: 5) == .broken)
        #expect(news.isCurrent(at: 5))
    }

    @Test(arguments: [
        (UInt64(8), 1.0, AuthorityNews.Continuity.unbroken),
        (8, 1.999, .unbroken),
        (8, 2.0, .broken),
        (9, 1.0, .broken),
        (7, 1.0, .broken),
        (6, 1.0, .broken),
        (0, 1.0, .broken),
    ])
    func anEventFollowsTheOneBefore(
        _ number: UInt64, _ seconds: Double, _ expected: AuthorityNews.Continuity
    ) {
        var news = AuthorityNews()
        _ = news.hear(run: run, number: 7, at: 100)
        let now = 100 + UInt64(seconds * Double(second))
        #expect(news.hear(run: run, number: number, at: now) == expected)
    }

    @Test func aNewRunIsNoticedWhateverItsNumber() {
        var news = AuthorityNews()
        _ = news.hear(run: run, number: 7, at: 0)
        #expect(news.hear(run: nextRun, number: 8, at: 1) == .newRun)
        #expect(news.run == nextRun)
        #expect(news.hear(run: nextRun, number: 9, at: 2) == .unbroken)
    }

    @Test func silenceAndWhatCannotBeReadEndTrust() {
        var news = AuthorityNews()
        _ = news.hear(run: run, number: 7, at: 0)
        #expect(news.isCurrent(at: 2 * second - 1))
        #expect(!news.isCurrent(at: 2 * second))
        _ = news.hear(run: run, number: 8, at: 2 * second)
        news.lose()
        #expect(!news.isCurrent(at: 2 * second))
        #expect(news.hear(run: run, number: 9, at: 2 * second) == .broken)
    }

    /// Against a model that remembers everything that was sent and what arrived.
    @Test(arguments: 0..<40) func noLostEventGoesUnnoticed(_ seed: UInt64) {
        let random = SeededRandom(seed: seed)
        var news = AuthorityNews()
        var now: UInt64 = 0
        var number: UInt64 = 0
        var missed = true
        var lastHeard: UInt64?
        for _ in 0..<300 {
            now += UInt64(random.number(in: 0...1_200)) * 1_000_000
            number += 1
            if random.chance(percent: 10) {
                missed = true
                continue
            }
            if random.chance(percent: 5) {
                news.lose()
                missed = true
                lastHeard = nil
                continue
            }
            if let heard = lastHeard, now - heard >= 2 * second { missed = true }
            let continuity = news.hear(run: run, number: number, at: now)
            #expect((continuity == .unbroken) == !missed)
            missed = false
            lastHeard = now
        }
    }
}
