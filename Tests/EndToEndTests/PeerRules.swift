import AuthorityMessages
import Bus
import Clocks
import LimiterMessages
import Testing
import Tokens
import VaultMessages
import Wire

extension EndToEnd {
    /// Who may connect, for whom he may speak, and what he may ask.
    @Suite(.timeLimit(.minutes(3)))
    struct PeerRules {
        @Test func anUnknownKeyIsToldSo() throws {
            let home = try TestHome()
            let stranger = try home.stranger()
            #expect(refusal { try stranger.call(AskStatus()) } == "bus.unadmitted")
            #expect(refusal { try stranger.call(Health<Vault>()) } == "bus.unadmitted")
        }

        @Test func aRemovedPeersOpenConnectionIsRefusedAtItsNextRequest() throws {
            let home = try TestHome()
            let client = try home.newClient("app")
            #expect(try client.call(AskStatus()).reply.credential == nil)
            try home.peers.remove("app")
            #expect(refusal { try client.call(AskStatus()) } == "bus.forbidden")
        }

        @Test func anotherOwnerIsForbidden() throws {
            let home = try TestHome()
            let client = try home.newClient("app")
            let other = try known(Owner("other"))
            #expect(refusal { try client.call(AskStatus(), owner: other) } == "bus.forbidden")
            let both = try home.newClient("both", owners: .some([local, other]))
            #expect(try both.call(AskStatus(), owner: other).reply.credential == nil)
        }

        @Test func rolesReachOnlyWhatIsTheirs() throws {
            let home = try TestHome()
            let app = try home.newClient("app")
            try app.setPasscode("1234")
            let forbidden = "bus.forbidden"
            #expect(refusal { try app.call(DrawChallenge()) } == forbidden)
            let guest = try home.newClient("extension", role: .extension)
            #expect(try guest.unlock("1234", scope: .appUnlock, audience: []) != nil)
            #expect(refusal { try guest.unlock("1234", scope: .resource(main)) } == forbidden)
            #expect(refusal { try guest.call(Lock()) } == forbidden)
            let watcher = try home.newClient("operator", role: .operator)
            #expect(try watcher.call(Health<Vault>()).reply.healthy)
            #expect(refusal { try watcher.unlock("1234", scope: .appUnlock) } == forbidden)
            #expect(refusal { try watcher.call(AskStatus()) } == forbidden)
        }

        @Test func brokenFramesGetATypedErrorAndTheServiceLives() throws {
            let home = try TestHome()
            let client = try home.newClient("app")
            let header = RequestHeader(
                id: 1, method: AskStatus.method, owner: local, timeoutMilliseconds: 1_000
            ).encode()
            let cases: [(header: [UInt8], body: [UInt8], code: String)] = [
                (header, Array("{}x".utf8), "bus.malformed"),
                (header, Array("{\"a\":1}".utf8), "bus.malformed"),
                (header, [], "bus.malformed"),
                (
                    replace(header, "authority.status", "authority.nothing"), Array("{}".utf8),
                    "bus.unknown_method"
                ),
                (
                    replace(header, "\"v\":1", "\"v\":2"), Array("{}".utf8),
                    "bus.unsupported_version"
                ),
                (replace(header, "local", "lo cal"), Array("{}".utf8), "bus.malformed"),
            ]
            for entry in cases {
                let reply = try client.send(
                    RequestFrames(header: entry.header, token: [], body: entry.body),
                    to: .credentialAuthority)
                #expect(refusal { try reply.answer(to: AskStatus.self) } == entry.code)
            }
            #expect(try client.call(Health<Authority>()).reply.healthy)
        }

        private func replace(_ bytes: [UInt8], _ old: String, _ new: String) -> [UInt8] {
            let text = String(decoding: bytes, as: UTF8.self)
            guard let range = text.firstRange(of: old) else { return bytes }
            return Array((text[..<range.lowerBound] + new + text[range.upperBound...]).utf8)
        }

        @Test func aDeadServiceIsReportedWithinTwoSeconds() throws {
            let home = try TestHome(starting: [.attemptLimiter])
            let client = try home.newClient("app")
            let before = home.clock.now.seconds
            #expect(refusal { try client.call(AskStatus()) } == "bus.unreachable")
            #expect(home.clock.now.seconds - before < 2)
        }
    }
}
