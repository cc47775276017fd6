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
    /// Wallets open with a token of SoftHSM, through the real reader of modules.
    @Suite(.timeLimit(.minutes(5)))
    struct DeviceKeyRules {
        private static let first = "pkcs11:token=first"
        private static let second = "pkcs11:token=second"
        private let opening = OpenDeviceSession(
            scope: .resource(main), audience: [.walletVault])

        /// An installation with this module, a passcode and a wallet; and a client.
        private func house(_ module: String) throws -> (TestHome, Client) {
            let home = try TestHome(starting: [])
            try write(
                "kdf_target_ms = 1\ndevice_module = \(module)\n", to: home.home.settingsPath)
            for service in [ServiceName.attemptLimiter, .credentialAuthority, .walletVault] {
                try home.start(service)
            }
            let client = try home.newClient("app")
            try client.setPasscode("1234")
            _ = try client.call(
                CreateWallet(namespace: main, label: "one", words: 12),
                token: client.resourceToken("1234"))
            return (home, client)
        }

        private func settings(_ client: Client) throws -> [UInt8] {
            try known(client.unlock("1234", scope: .settings, audience: []))
        }

        @discardableResult
        private func enrol(
            _ client: Client, _ token: String, _ form: DeviceKeyForm?, session: [UInt8]
        ) throws -> EnrolDeviceKey.Reply {
            try client.call(
                EnrolDeviceKey(token: token, form: form), token: session,
                secrets: [secret(SoftTokens.pin)]
            ).reply
        }

        /// Opens with the token and checks the wallet with what it gives.
        private func open(_ client: Client, pin: String = SoftTokens.pin) throws {
            let answer = try client.call(opening, secrets: [secret(pin)])
            let token = try known(answer.attachments.first).bytes.withBytes { Array($0) }
            let wallets = try client.call(ListWallets(namespace: main), token: token).reply.wallets
            for wallet in wallets {
                _ = try client.call(
                    CheckWallet(namespace: main, wallet: wallet.wallet), token: token)
            }
            #expect(!wallets.isEmpty)
        }

        private func opensNot(_ client: Client, pin: String = SoftTokens.pin) -> String? {
            refusal { try client.call(opening, secrets: [secret(pin)]) }
        }

        @Test func theCommandEnrolsUnlocksAndRemoves() throws {
            let tokens = try SoftTokens("first")
            let (home, _) = try house(SoftTokens.module)
            try home.admitCommand()
            let coffer = CofferProcess(home: home.home)
            let secrets = [("--passcode-fd", "1234"), ("--pin-fd", SoftTokens.pin)]
                .map { (option: $0.0, text: $0.1) }
            let none = try coffer("unlock", "--device-key", secrets: [secrets[1]])
            #expect(none.status == 7 && none.complaint.contains("device_key.none"))
            let enrolled = try coffer(
                "device-key", "enroll", "--token", Self.first, "--json", secrets: secrets)
            #expect(enrolled.status == 0, "\(enrolled.complaint)")
            #expect(try enrolled.object().string("form") == "data")
            #expect(try coffer("lock").status == 0)
            let unlocked = try coffer("unlock", "--device-key", "--json", secrets: [secrets[1]])
            #expect(unlocked.status == 0, "\(unlocked.complaint)")
            let wrong = try coffer(
                "unlock", "--device-key", secrets: [(option: "--pin-fd", text: "9999")])
            #expect(wrong.status == 3 && wrong.complaint.contains("device_key.wrong_pin"))
            let status = try coffer("device-key", "status", "--json").object()
            #expect(try status.string("token").contains("token=first"))
            let removed = try coffer("device-key", "remove", "--json", secrets: secrets)
            #expect(removed.status == 0, "\(removed.complaint)")
            #expect(try tokens.objectCount("first") == 0)
            #expect(try coffer("unlock", "--device-key", secrets: [secrets[1]]).status == 7)
        }

        @Test(arguments: DeviceKeyForm.allCases)
        func aTokenOpensWhatThePasscodeOpens(_ form: DeviceKeyForm) throws {
            let tokens = try SoftTokens("first", "second")
            let (home, client) = try house(SoftTokens.module)
            let session = try settings(client)
            let reply = try enrol(client, Self.first, form, session: session)
            #expect(reply.form == form && reply.token.contains("serial="))
            try open(client)
            try home.restart(.credentialAuthority)
            try open(client)
            // A second enrolment, on another token and back.
            let again = try settings(client)
            try enrol(client, Self.second, form, session: again)
            try open(client)
            #expect(try client.call(AskDeviceKey()).reply.waiting == [reply.token])
            try enrol(client, Self.first, form, session: again)
            try open(client)
            #expect(try tokens.objectCount("first") == (form == .data ? 1 : 2))
            // The PIN is the token's own affair.
            try tokens.tool("first", "set-pin", "8765")
            #expect(opensNot(client) == "device_key.wrong_pin")
            try open(client, pin: "8765")
            #expect(try client.call(AskStatus()).reply.failed == 0)
        }

        @Test(arguments: DeviceKeyForm.allCases)
        func aClearedOrLostTokenLeavesThePasscode(_ form: DeviceKeyForm) throws {
            let tokens = try SoftTokens("first")
            let (_, client) = try house(SoftTokens.module)
            let session = try settings(client)
            try enrol(client, Self.first, form, session: session)
            try tokens.tool("first", "clear")
            #expect(opensNot(client) == "device_key.no_object")
            try enrol(client, Self.first, form, session: session)
            try open(client)
            try tokens.remove("first")
            #expect(opensNot(client) == "device_key.no_token")
            _ = try client.resourceToken("1234")
            #expect(try client.call(AskStatus()).reply.failed == 0)
            _ = try client.call(RemoveDeviceKey(lost: true), token: settings(client))
            #expect(try client.call(AskDeviceKey()).reply.waiting.isEmpty)
        }

        /// The copy on a token is the key itself, and is gone where it was removed.
        @Test func theCopyIsNowhereElse() throws {
            let tokens = try SoftTokens("first")
            let (home, client) = try house(SoftTokens.module)
            try enrol(client, Self.first, .data, session: settings(client))
            let key = try tokens.tool("first", "read").filter { !$0.isNewline }
            #expect(key.count == 64)
            let path = home.home.storePath(of: .credentialAuthority)
            let store = TestFile.contents(of: path) + TestFile.contents(of: path + "-wal")
            #expect(store.count > 4_096)
            #expect(!store.holds(try known(Hex.decode(key))))
        }

        /// Without the PIN nothing is found on the token but a public key, and nothing is read.
        @Test(arguments: DeviceKeyForm.allCases)
        func nothingIsReadWithoutThePIN(_ form: DeviceKeyForm) throws {
            let tokens = try SoftTokens("first")
            let (_, client) = try house(SoftTokens.module)
            try enrol(client, Self.first, form, session: settings(client))
            #expect(try tokens.objectCount("first") == (form == .data ? 1 : 2))
            let seen = try tokens.tool("first", "seen")
            #expect(seen == (form == .data ? "" : "public-key\n"))
            // What is no private object is found, and read.
            try tokens.tool("first", "plant", "636F66666572")
            #expect(try tokens.tool("first", "seen") == "data 636f66666572\n" + seen)
        }

        /// Sealed by RSA: p11-kit's way to a module in another process carries no ECDH.
        @Test(arguments: [DeviceKeyForm.data, .rsa])
        func aTokenPulledOutInMidReadOpensNothing(_ form: DeviceKeyForm) throws {
            let tokens = try SoftTokens("first")
            let (_, client) = try house(try tokens.makeGate())
            try enrol(client, Self.first, form, session: settings(client))
            tokens.countAnew()
            try open(client)
            // The last one only says good-bye.
            let calls = try tokens.callCount() - 1
            #expect(calls > 8)
            for call in 1...calls {
                tokens.countAnew()
                try tokens.cut(at: call)
                let code = opensNot(client)
                #expect(code?.hasPrefix("device_key.") == true, "call \(call)")
            }
            try tokens.cut(at: nil)
            try open(client)
            #expect(try client.call(AskStatus()).reply.failed == 0)
        }

        @Test(arguments: [(DeviceKeyForm.data, 1), (.rsa, 4)])
        func anEnrolmentThatBreaksOffKeepsTheEarlierRoute(
            _ form: DeviceKeyForm, _ step: Int
        ) throws {
            let tokens = try SoftTokens("first", "second")
            let (_, client) = try house(try tokens.makeGate())
            let session = try settings(client)
            try enrol(client, Self.second, form, session: session)
            tokens.countAnew()
            try enrol(client, Self.first, form, session: session)
            let calls = try tokens.callCount()
            #expect(calls > 24)
            var refusals = 0
            for call in stride(from: 1, through: calls, by: step) {
                tokens.countAnew()
                try tokens.cut(at: call)
                let code = refusal {
                    try enrol(client, Self.second, form, session: session)
                }
                try tokens.cut(at: nil)
                refusals += code == nil ? 0 : 1
                // One that came after all, because the cut call only said good-bye.
                let route = try known(client.call(AskDeviceKey()).reply.token)
                let wanted = code == nil ? "token=second" : "token=first"
                #expect(route.contains(wanted), "call \(call)")
                try open(client)
                if code == nil { try enrol(client, Self.first, form, session: session) }
            }
            #expect(refusals * step > 20)
            try enrol(client, Self.second, form, session: session)
            try open(client)
            #expect(try tokens.objectCount("second") == (form == .data ? 1 : 2))
            #expect(try client.call(AskStatus()).reply.failed == 0)
        }

        /// The authority is killed while the token is at a call of an enrolment.
        @Test(arguments: [2, 8, 14, 18, 22, 26, 30])
        func anAuthorityKilledInAnEnrolmentKeepsTheEarlierRoute(_ call: Int) throws {
            let tokens = try SoftTokens("first", "second")
            let (home, client) = try house(try tokens.makeGate())
            try enrol(client, Self.first, .data, session: settings(client))
            let session = try settings(client)
            tokens.countAnew()
            try tokens.hold(at: call)
            let slow = home.again(client)
            let answer = Waiting {
                refusal { try enrol(slow, Self.second, .data, session: session) }
            }
            try tokens.awaitHeld()
            home.kill(.credentialAuthority)
            try tokens.hold(at: nil)
            #expect(answer.value != nil)
            try home.start(.credentialAuthority)
            let route = try known(client.call(AskDeviceKey()).reply.token)
            #expect(route.contains("token=first"))
            try open(client)
            try enrol(client, Self.second, .data, session: settings(client))
            try open(client)
            #expect(try tokens.objectCount("second") == 1)
        }

        /// A token that hangs holds up nobody, and what it gives in the end is stale.
        @Test func aSlowTokenHoldsUpNobodyAndIsTooLate() throws {
            let tokens = try SoftTokens("first")
            let (home, client) = try house(try tokens.makeGate())
            let session = try settings(client)
            try enrol(client, Self.first, .data, session: session)
            tokens.countAnew()
            try tokens.hold(at: 7)
            let slow = home.again(client)
            let answer = Waiting {
                refusal { try slow.call(opening, secrets: [secret(SoftTokens.pin)]) }
            }
            try tokens.awaitHeld()
            try client.setPasscode("5678", token: session)
            #expect(try client.unlock("5678", scope: .resource(main)) != nil)
            try tokens.hold(at: nil)
            #expect(answer.value == "credential.stale")
            try open(client)
            // And one that never comes back is given up.
            tokens.countAnew()
            try tokens.hold(at: 7)
            let code = refusal {
                try client.call(opening, secrets: [secret(SoftTokens.pin)], timeout: 1_500)
            }
            #expect(code == "device_key.timed_out" || code == "bus.expired")
            try tokens.hold(at: nil)
            var tries = 0
            while opensNot(client) == "device_key.busy", tries < 200 {
                tries += 1
                usleep(20_000)
            }
            try open(client)
        }
    }
}

/// Something that another thread does meanwhile.
private final class Waiting: @unchecked Sendable {
    // Safe to send: the value is written once, before the thread is joined.
    private var result: String?
    private var thread = pthread_t()
    private let body: () -> String?

    init(_ body: @escaping () -> String?) {
        self.body = body
        pthread_create(
            &thread, nil,
            { box in
                guard let box else { return nil }
                let waiting = Unmanaged<Waiting>.fromOpaque(box).takeRetainedValue()
                waiting.result = waiting.body()
                return nil
            }, Unmanaged.passRetained(self).toOpaque())
    }

    var value: String? {
        pthread_join(thread, nil)
        return result
    }
}
