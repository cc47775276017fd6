import AuthorityMessages
import Glibc
import Home
import Secrets
import TestKit
import Testing
import Tokens
import VaultMessages
import Wire

extension EndToEnd {
    /// The real authority on a bus of its own with a login manager that a test speaks for.
    @Suite(.timeLimit(.minutes(3)))
    struct LoginRules {
        private static let code = "4821"

        /// Owner `local` follows the manager, owner `other` does not; both are unlocked.
        private struct Scene {
            let bus: PrivateBus
            let home: TestHome
            let client: Client
            let other: Owner

            init(withBus: Bool = true) throws {
                bus = try PrivateBus()
                if withBus { try bus.start() }
                home = try TestHome(starting: [])
                home.environment = ["DBUS_SYSTEM_BUS_ADDRESS=\(bus.address)"]
                try write(
                    "kdf_target_ms = 1\nlogin.owners = local\n", to: home.home.settingsPath)
                try home.start(.attemptLimiter)
                try home.start(.credentialAuthority)
                client = try home.newClient("app", owners: .all)
                other = try known(Owner("other"))
                for owner in [local, other] {
                    _ = try client.call(
                        SetPasscode(passcodeKind: .digits4), owner: owner,
                        secrets: [secret(LoginRules.code)])
                    try unlock(owner)
                }
            }

            /// The manager, which the authority was seen to hear.
            func manager() throws -> LoginManagerDouble {
                let manager = try LoginManagerDouble(on: bus)
                try manager.serve { manager.isDelayed }
                return manager
            }

            @discardableResult
            func unlock(_ owner: Owner) throws -> [UInt8] {
                let answer = try client.call(
                    Verify(scope: .resource(main), audience: [.walletVault]), owner: owner,
                    secrets: [secret(LoginRules.code)])
                return try known(answer.attachments.first).bytes.withBytes { Array($0) }
            }

            func isOpen(_ owner: Owner) throws -> Bool {
                try client.call(AskStatus(), owner: owner).reply.unlocked
            }

            func sessions(_ owner: Owner) throws -> Int {
                try client.call(AskStatus(), owner: owner).reply.sessions
            }

            func log() -> String {
                String(
                    decoding: TestFile.contents(
                        of: home.home.path + "/credential-authority.log"), as: UTF8.self)
            }
        }

        @Test func aLockClosesAndTheSameScreensUnlockOpens() throws {
            let scene = try Scene()
            let manager = try scene.manager()
            #expect(try scene.sessions(local) == 1)
            try manager.lock("c1")
            try manager.serve { try !scene.isOpen(local) }
            #expect(try scene.sessions(local) == 0)
            #expect(try scene.isOpen(scene.other))
            #expect(try scene.sessions(scene.other) == 1)
            // A second screen; one that never was locked opens nothing, nor does one of two.
            try manager.lock("c2")
            try manager.unlock("c3")
            try manager.unlock("c1")
            try manager.awaitReading(by: manager.asker)
            #expect(try !scene.isOpen(local))
            try manager.unlock("c2")
            try manager.serve { try scene.isOpen(local) }
            // What was revoked stays so.
            #expect(try scene.sessions(local) == 0)
        }

        @Test func anUnlockOpensNothingThatSomethingElseClosed() throws {
            let scene = try Scene()
            let manager = try scene.manager()
            _ = try scene.client.call(Lock())
            try manager.lock("c1")
            try manager.unlock("c1")
            try manager.awaitReading(by: manager.asker)
            #expect(try !scene.isOpen(local))
            // Locked by the screen first, and by hand then.
            try scene.unlock(local)
            try manager.lock("c1")
            try manager.serve { try !scene.isOpen(local) }
            _ = try scene.client.call(Lock())
            try manager.unlock("c1")
            try manager.awaitReading(by: manager.asker)
            #expect(try !scene.isOpen(local))
            // The authority began anew in between.
            try scene.unlock(local)
            try manager.lock("c1")
            try manager.serve { try !scene.isOpen(local) }
            try scene.home.restart(.credentialAuthority)
            try manager.serve { manager.inhibitions == 2 }
            try manager.unlock("c1")
            try manager.awaitReading(by: manager.asker)
            #expect(try !scene.isOpen(local))
        }

        @Test func idlingAndASwitchOfTheConsoleRevokeNothing() throws {
            let scene = try Scene()
            let manager = try scene.manager()
            try manager.say("c1", "Session", "PauseDevice")
            try manager.say("c1", "Session", "ActiveChanged", flag: false)
            try manager.say("c1", "Session", "IdleHint", flag: true)
            try manager.say(nil, "Manager", "SeatRemoved")
            try manager.say(nil, "Manager", "PrepareForShutdown", flag: true)
            try manager.awaitReading(by: manager.asker)
            #expect(try scene.isOpen(local))
            #expect(try scene.sessions(local) == 1)
        }

        @Test func anotherPeerThatSpeaksLikeTheManagerIsNotBelieved() throws {
            let scene = try Scene()
            let manager = try scene.manager()
            let liar = try LoginManagerDouble(on: scene.bus, isManager: false)
            try liar.say("c1", "Session", "Lock", to: manager.asker)
            try liar.say(nil, "Manager", "PrepareForSleep", flag: true, to: manager.asker)
            try liar.say("c1", "Session", "Lock")
            try liar.awaitReading(by: manager.asker)
            #expect(try scene.isOpen(local))
            try manager.lock("c1")
            try manager.serve { try !scene.isOpen(local) }
            try liar.say("c1", "Session", "Unlock", to: manager.asker)
            try liar.awaitReading(by: manager.asker)
            #expect(try !scene.isOpen(local))
        }

        @Test func theMachineSleepsWhenAllIsLocked() throws {
            let scene = try Scene()
            let manager = try scene.manager()
            try manager.prepareForSleep(true)
            try manager.serve { !manager.isDelayed }
            #expect(try !scene.isOpen(local))
            #expect(try scene.sessions(local) == 0)
            #expect(try scene.isOpen(scene.other))
            try manager.prepareForSleep(false)
            try manager.serve { manager.inhibitions == 2 && manager.isDelayed }
            // Waking opens nothing, nor does an unlocked screen.
            try manager.unlock("c1")
            try manager.awaitReading(by: manager.asker)
            #expect(try !scene.isOpen(local))
        }

        @Test func aBusThatIsMissingOrLostIsTakenUpLater() throws {
            let scene = try Scene(withBus: false)
            #expect(try scene.isOpen(local))
            #expect(lines(scene, "absent") == 1)
            try scene.bus.start()
            var manager = try scene.manager()
            #expect(lines(scene, "heard") == 1)
            try manager.lock("c1")
            try manager.serve { try !scene.isOpen(local) }
            scene.bus.stop()
            usleep(300_000)
            try scene.bus.start()
            manager = try scene.manager()
            #expect(lines(scene, "absent") == 2)
            // What was said in between was not heard: the passcode opens.
            try manager.unlock("c1")
            try manager.awaitReading(by: manager.asker)
            #expect(try !scene.isOpen(local))
            try scene.unlock(local)
            try manager.lock("c1")
            try manager.serve { try !scene.isOpen(local) }
        }

        private func lines(_ scene: Scene, _ state: String) -> Int {
            scene.log().split(separator: "\n").count {
                $0.contains("\"login_manager_\(state)\"")
            }
        }
    }
}
