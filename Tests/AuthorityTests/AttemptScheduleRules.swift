import TestKit
import Testing
import Wire

@testable import AuthorityCore

/// No check starts without a thread, no owner has more than six under way, nobody waits for ever.
struct AttemptScheduleRules {
    private let owners = (0..<4).map { Owner("owner\($0)") ?? fail() }

    @Test func oneCheckAThreadAndTheNextInTurn() {
        var schedule = AttemptSchedule(.init(threads: 2))
        #expect(schedule.ask(owners[0]) == .start)
        #expect(schedule.ask(owners[1]) == .start)
        #expect(schedule.ask(owners[2]) == .wait(1))
        #expect(schedule.ask(owners[3]) == .wait(2))
        #expect(schedule.freeThread() == 1)
        #expect(schedule.freeThread() == 2)
        #expect(schedule.freeThread() == nil)
    }

    @Test func anOwnerWithSixUnderWayWaitsAndOthersGoPastHim() {
        var schedule = AttemptSchedule(.init(threads: 1))
        for _ in 0..<6 {
            #expect(schedule.ask(owners[0]) == .start)
            #expect(schedule.freeThread() == nil)
        }
        #expect(schedule.ask(owners[0]) == .wait(1))
        #expect(schedule.ask(owners[1]) == .start)
        #expect(schedule.freeThread() == nil)
        #expect(schedule.end(owners[0]) == 1)
    }

    @Test func theQueueHasAnEndForAllAndForEachOwner() {
        var schedule = AttemptSchedule(
            .init(threads: 1, waiting: 3, waitingPerOwner: 2))
        #expect(schedule.ask(owners[0]) == .start)
        #expect(schedule.ask(owners[0]) == .wait(1))
        #expect(schedule.ask(owners[0]) == .wait(2))
        #expect(schedule.ask(owners[0]) == .full)
        #expect(schedule.ask(owners[1]) == .wait(3))
        #expect(schedule.ask(owners[2]) == .full)
    }

    @Test(arguments: 0..<50)
    func anyOrderKeepsTheBoundsAndStartsEveryone(_ seed: UInt64) throws {
        let random = SeededRandom(seed: seed)
        let bounds = AttemptSchedule.Bounds(
            threads: random.number(in: 1...3), perOwner: 2, waiting: 8, waitingPerOwner: 4)
        var schedule = AttemptSchedule(bounds)
        /// Who holds a thread, who only awaits his end, who waits.
        var deriving: [Owner] = []
        var ending: [Owner] = []
        var waiting: [UInt64: Owner] = [:]
        func started(_ number: UInt64?) {
            guard let number, let owner = waiting.removeValue(forKey: number) else { return }
            deriving.append(owner)
        }
        for _ in 0..<400 {
            switch random.number(in: 0...2) {
            case 0:
                let owner = try #require(random.pick(owners))
                switch schedule.ask(owner) {
                case .start: deriving.append(owner)
                case .wait(let number): waiting[number] = owner
                case .full: #expect(!waiting.isEmpty)
                }
            case 1 where !deriving.isEmpty:
                ending.append(deriving.remove(at: random.number(in: 0...deriving.count - 1)))
                started(schedule.freeThread())
            case 2 where !ending.isEmpty:
                let owner = ending.remove(at: random.number(in: 0...ending.count - 1))
                started(schedule.end(owner))
            default: break
            }
            #expect(deriving.count <= bounds.threads)
            #expect(schedule.waitingCount == waiting.count && waiting.count <= bounds.waiting)
            for owner in owners {
                let underWay = (deriving + ending).count { $0 == owner }
                #expect(underWay <= bounds.perOwner)
                let mayStart = deriving.count < bounds.threads && underWay < bounds.perOwner
                #expect(!(mayStart && waiting.values.contains(owner)))
            }
        }
        while let owner = deriving.popLast() {
            started(schedule.freeThread())
            started(schedule.end(owner))
        }
        while let owner = ending.popLast() { started(schedule.end(owner)) }
        while let owner = deriving.popLast() {
            started(schedule.freeThread())
            started(schedule.end(owner))
        }
        #expect(waiting.isEmpty)
    }
}
