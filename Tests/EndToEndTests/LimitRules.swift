import AuthorityMessages
import Dispatch
import Glibc
import Home
import LimiterMessages
import Secrets
import Synchronization
import Testing
import Tokens
import Wire

extension EndToEnd {
    /// Few guesses, whatever is sent in parallel, killed or restarted.
    ///
    /// Real programs, real bus.
    @Suite(.timeLimit(.minutes(3)))
    struct LimitRules {
        @Test func sixtyParallelWrongPasscodesGetSixEvaluations() throws {
            let home = try TestHome()
            let client = try home.newClient("app")
            try client.setPasscode("1234")
            let before = try kdfRuns(client)
            let tally = try parallel(home, client, codes: [String](repeating: "9999", count: 60))
            #expect(tally == Tally(wrong: 6, coolingDown: 54))
            #expect(try kdfRuns(client) - before == 6)
            home.kill(.attemptLimiter)
            home.kill(.credentialAuthority)
            let count = try home.query(
                "SELECT json_extract(record, '$.count') FROM ledgers", in: .attemptLimiter)
            #expect(count == "6\n")
            try home.start(.attemptLimiter)
            try home.start(.credentialAuthority)
            #expect(try verify(client, "1234") == "cooling down")
        }

        @Test func theRightPasscodeAmongNinetyNineWrongBuysNoMoreThanItsOwnEvaluations() throws {
            let home = try TestHome()
            let client = try home.newClient("app")
            try client.setPasscode("1234")
            let before = try kdfRuns(client)
            var codes = [String](repeating: "9999", count: 99)
            codes.insert("1234", at: Int.random(in: 0...99))
            let tally = try parallel(home, client, codes: codes)
            #expect(tally.verified + tally.wrong + tally.coolingDown == 100)
            #expect(tally.refused.isEmpty)
            // While the right one is not confirmed no more than six run; once it is, its own and
            // earlier charges are dropped and at most six more fit before the next cooldown.
            let runs = try kdfRuns(client) - before
            #expect(runs == tally.verified + tally.wrong)
            #expect(tally.verified <= 1)
            #expect(runs <= (tally.verified == 1 ? 12 : 6))
        }

        @Test func aLimiterStorePutBackFromACopyGivesNoSeventhEvaluation() throws {
            let home = try TestHome()
            let client = try home.newClient("app")
            try client.setPasscode("1234")
            home.kill(.attemptLimiter, SIGTERM)
            let store = home.home.storePath(of: .attemptLimiter)
            _ = try run("/bin/cp", ["-p", store, store + ".copy"])
            try home.start(.attemptLimiter)
            let before = try kdfRuns(client)
            for _ in 1...5 { #expect(try verify(client, "9999") == "wrong") }
            home.kill(.attemptLimiter)
            _ = try run("/bin/cp", ["-p", store + ".copy", store])
            _ = try run("/bin/rm", ["-f", store + "-wal", store + ".copy"])
            try home.start(.attemptLimiter)
            #expect(try verify(client, "9999") == "cooling down")
            #expect(try verify(client, "1234") == "cooling down")
            #expect(try kdfRuns(client) - before == 5)
        }

        @Test func aPeerWithTheAuthoritysKeyGetsNoSeventhEvaluation() throws {
            let home = try TestHome()
            let client = try home.newClient("app")
            try client.setPasscode("1234")
            let thief = try home.client(as: .credentialAuthority)
            let known = try thief.call(DrawChallenge()).reply
            let enrolment = try EndToEndTests.known(known.enrolment)
            var random = SystemRandomNumberGenerator()
            var evaluations = 0
            var nonces: [[UInt8]] = []
            for step in 1...400 {
                if step % 97 == 0 { try home.restart(.attemptLimiter) }
                let nonce =
                    step % 3 == 0
                    ? nonces.randomElement(using: &random) ?? bytes(16) : bytes(16)
                nonces.append(nonce)
                switch Int.random(in: 0..<6, using: &random) {
                case 0:
                    let challenge = try thief.call(DrawChallenge()).reply.challenge
                    let enrol = Enrol(
                        challenge: challenge, confirmKey: bytes(32), signature: bytes(64))
                    #expect(throws: Refusal.self) { try thief.call(enrol) }
                case 1:
                    let challenge = try thief.call(DrawChallenge()).reply.challenge
                    let prove = Prove(
                        enrolment: enrolment, challenge: challenge, signature: bytes(64))
                    #expect(throws: Refusal.self) {
                        try thief.call(prove, secrets: [secret("1234")])
                    }
                case 2:
                    let confirm = Confirm(
                        attempt: try EndToEndTests.known(AttemptID(bytes(16))), signature: bytes(64)
                    )
                    #expect(throws: Refusal.self) { try thief.call(confirm) }
                default:
                    let begin = Begin(enrolment: enrolment, nonce: nonce, lastCharge: 0)
                    let answer = try? thief.call(begin, secrets: [secret("1234")])
                    if case .charged? = answer?.reply { evaluations += 1 }
                }
            }
            #expect(evaluations == 6)
        }

        // MARK: Help

        /// Sends one check for each code over twenty connections at once.
        private func parallel(_ home: TestHome, _ client: Client, codes: [String]) throws -> Tally {
            let width = 20
            let shares = (0..<width).map { lane in
                codes.enumerated().filter { $0.offset % width == lane }.map(\.element)
            }
            let tally = Mutex(Tally())
            let identity = client.identity
            nonisolated(unsafe) let home = home
            DispatchQueue.concurrentPerform(iterations: width) { lane in
                let connection = Client(identity, home)
                // One connection carries its checks without waiting in between.
                let answers = Self.verifyAll(connection, shares[lane])
                tally.withLock { tally in for answer in answers { tally.add(answer) } }
            }
            return tally.withLock { $0 }
        }

        private static func verifyAll(
            _ client: Client, _ codes: [String]
        ) -> [Result<Answer<Verify>, Refusal>] {
            do throws(Refusal) {
                return try client.callEach(
                    codes.map { code in
                        (Verify(scope: .appUnlock, audience: []), [secret(code)])
                    })
            } catch {
                return codes.map { _ in .failure(error) }
            }
        }

        private func verify(_ client: Client, _ code: String) throws -> String {
            let answer = try client.call(
                Verify(scope: .appUnlock, audience: []), secrets: [secret(code)])
            switch answer.reply {
            case .verified: return "verified"
            case .wrong: return "wrong"
            case .coolingDown: return "cooling down"
            }
        }

        private func kdfRuns(_ client: Client) throws -> Int {
            let text = try client.call(Metrics<Authority>()).reply.text
            let line = text.split(separator: "\n").first { $0.hasPrefix("coffer_kdf_runs_total ") }
            return line.flatMap { Int($0.split(separator: " ")[1]) } ?? 0
        }

        private func bytes(_ count: Int) -> [UInt8] { KernelRandom().bytes(count) }
    }
}

/// How replies to many checks fell out.
private struct Tally: Equatable {
    var verified = 0
    var wrong = 0
    var coolingDown = 0
    var refused: [String: Int] = [:]

    mutating func add(_ answer: Result<Answer<Verify>, Refusal>) {
        switch answer {
        case .success(let answer):
            switch answer.reply {
            case .verified: verified += 1
            case .wrong: wrong += 1
            case .coolingDown: coolingDown += 1
            }
        case .failure(let refusal): refused[refusal.code, default: 0] += 1
        }
    }
}
