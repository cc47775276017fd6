import AuthorityMessages
import Crypto
import Glibc
import Home
import Secrets
import Testing
import Tokens
import VaultMessages
import Wire

extension EndToEnd {
    /// A thief of one store alone has nothing to try a code against.
    @Suite(.timeLimit(.minutes(3)))
    struct StolenStoreRules {
        /// What a store holds, as many ways to read it as there are.
        private struct Loot {
            var strings: Set<[UInt8]> = []

            /// Takes a value, and what stands in it where it is a document or a text of bytes.
            mutating func take(_ bytes: [UInt8]) {
                guard !bytes.isEmpty, strings.insert(bytes).inserted else { return }
                if let hex = Hex.decode(String(decoding: bytes, as: UTF8.self)) { take(hex) }
                if let plain = Base64.standard.decode(bytes) { take(plain) }
                if let document = try? JSONDocument(bytes).object() { take(document) }
                // Wrapped keys are nonce, ciphertext and tag.
                if bytes.count > 28 {
                    take(Array(bytes.prefix(12)))
                    take(Array(bytes.suffix(16)))
                    take(Array(bytes.dropFirst(12).dropLast(16)))
                }
            }

            private mutating func take(_ object: JSONObject) {
                for key in object.keys {
                    if let text = try? object.string(key) { take(Array(text.utf8)) }
                    if let number = try? object.uint64(key) { take(Array("\(number)".utf8)) }
                }
            }
        }

        @Test(arguments: [ServiceName.credentialAuthority, .attemptLimiter, .walletVault])
        func noStoreAloneTellsARightCode(service: ServiceName) throws {
            let home = try TestHome()
            let client = try home.newClient("app")
            try client.setPasscode("4821")
            let token = try client.resourceToken("4821")
            _ = try client.call(
                CreateWallet(namespace: main, label: "one", words: 12), token: token)
            _ = try client.unlock("9999", scope: .resource(main))
            for service in TestHome.services { home.kill(service, SIGTERM) }
            var loot = try loot(home.home.storePath(of: service))
            #expect(loot.strings.count > 20)
            #expect(matches(loot, code: "4821") == 0)
            // The same search finds a digest that stands there.
            loot.take(
                HMAC.sha256(key: SecretBytes(copying: [1, 2, 3]), message: Array("4821".utf8))
                    .withBytes { Array($0) })
            loot.take([1, 2, 3])
            #expect(matches(loot, code: "4821") > 0)
        }

        /// How many stored strings are a digest of the code, alone or with what a request carries,
        /// plain or keyed with any stored string.
        private func matches(_ loot: Loot, code: String) -> Int {
            let digits = Array(code.utf8)
            let label = Array("telegram.passcode.v1\0".utf8)
            let owner = Array("local".utf8)
            var messages = [digits, label + digits]
            for part in loot.strings where part.count <= 64 {
                messages += [part + digits, digits + part]
            }
            messages += [owner + digits, digits + owner]
            var found = 0
            for message in messages where loot.strings.contains(SHA256.digest(message)) {
                found += 1
            }
            for key in loot.strings {
                let key = SecretBytes(copying: key)
                for message in messages.prefix(2) + messages.suffix(2) {
                    let tag = HMAC.sha256(key: key, message: message).withBytes { Array($0) }
                    if loot.strings.contains(tag) { found += 1 }
                }
            }
            return found + (loot.strings.contains(digits) ? 1 : 0)
        }

        /// Every value of every table, by a second program.
        private func loot(_ path: String) throws -> Loot {
            var loot = Loot()
            let tables = try sqlite(path, "SELECT name FROM sqlite_master WHERE type = 'table'")
            for table in tables {
                let columns = try sqlite(path, "SELECT name FROM pragma_table_info('\(table)')")
                for column in columns {
                    for value in try sqlite(path, "SELECT hex(\"\(column)\") FROM \"\(table)\"") {
                        guard let bytes = Hex.decode(value.lowercased()) else { continue }
                        loot.take(bytes)
                    }
                }
            }
            return loot
        }

        private func sqlite(_ path: String, _ sql: String) throws -> [String] {
            try run("/usr/bin/sqlite3", ["-readonly", path, sql])
                .split(separator: "\n").map(String.init)
        }
    }
}
