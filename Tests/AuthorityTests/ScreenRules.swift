import AuthorityMessages
import Clocks
import Loop
import Secrets
import Serving
import TestKit
import Testing
import Tokens
import Wire

@testable import AuthorityCore

/// Locks of the machine's screens and its sleep, as the login manager tells them.
@Suite(.timeLimit(.minutes(1)))
struct ScreenRules {
    @Test func aLockedScreenEndsStandardSessionsAndSuspendsOwnerManagedOnes() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            try await bench.set()
            let managed = try await bench.managedToken()
            let standard = try await bench.resourceToken()
            bench.service.lock([.local], withScreen: "1")
            #expect(try await bench.refusal(of: bench.derive(managed)) == "credential.locked")
            #expect(try await bench.refusal(of: bench.derive(standard)) == "session.ended")
            bench.service.unlock([.local], withScreen: "1")
            #expect(try await bench.refusal(of: bench.derive(managed)) == nil)
            #expect(try await bench.refusal(of: bench.derive(standard)) == "session.ended")
        }
    }

    @Test func theLastLockedScreenOpens() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            try await bench.set()
            _ = try await bench.resourceToken()
            for screen in ["1", "2", "3", "2"] {
                bench.service.lock([.local], withScreen: screen)
            }
            for screen in ["2", "4", "1"] {
                bench.service.unlock([.local], withScreen: screen)
                #expect(!bench.isOpen)
            }
            bench.service.unlock([.local], withScreen: "3")
            #expect(bench.isOpen)
        }
    }

    /// Whatever else closes the gate, or had closed it before.
    @Test(arguments: ["before", "between", "sleep", "removal", "lost"])
    func nothingElseIsUndone(how: String) async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            try await bench.set()
            _ = try await bench.resourceToken()
            if how == "before" { _ = try await bench.ask(Lock()) }
            bench.service.lock([.local], withScreen: "1")
            switch how {
            case "between": _ = try await bench.ask(Lock())
            case "sleep": try await bench.sleep()
            case "removal": bench.service.registry.closeGate(of: .local)
            case "lost": bench.service.forgetScreens()
            default: break
            }
            bench.service.unlock([.local], withScreen: "1")
            #expect(!bench.isOpen)
            _ = try await bench.resourceToken()
            #expect(bench.isOpen)
        }
    }

    @Test func aPasscodeForgetsTheScreens() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            try await bench.set()
            _ = try await bench.resourceToken()
            bench.service.lock([.local], withScreen: "1")
            _ = try await bench.resourceToken()
            #expect(bench.isOpen)
            _ = try await bench.ask(Lock())
            bench.service.unlock([.local], withScreen: "1")
            #expect(!bench.isOpen)
        }
    }

    @Test func moreScreensThanAnybodyHasLeaveThePasscode() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            try await bench.set()
            _ = try await bench.resourceToken()
            for screen in 0...64 {
                bench.service.lock([.local], withScreen: String(screen))
            }
            for screen in 0...64 {
                bench.service.unlock([.local], withScreen: String(screen))
            }
            #expect(!bench.isOpen)
        }
    }

    @Test func sleepWaitsForTheLastLease() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            try await bench.set()
            let token = try await bench.resourceToken()
            #expect(try await bench.refusal(of: bench.derive(token)) == nil)
            let end = bench.service.registry.leasesClosed(of: .local)
            #expect(end > bench.clock.now.nanoseconds)
            try await bench.sleep()
            #expect(bench.clock.now.nanoseconds >= end)
            #expect(try await bench.refusal(of: bench.derive(token)) == "session.ended")
        }
    }
}

extension Bench {
    fileprivate var isOpen: Bool { service.registry.isGateOpen(of: .local) }

    /// Locks for a sleep of the machine; returns when that may come.
    fileprivate func sleep() async throws {
        var isDone = false
        ServiceLoop.start { [service] in
            await service.lockForSleep([.local])
            isDone = true
        }
        try await run { isDone }
    }
}
