import AuthorityMessages
import Crypto
import Glibc
import Home
import Secrets
import TestKit
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

        /// The two stores that a passcode needs say nothing of what it opens.
        @Test func nothingOfAWalletIsInTheTwoStoresOfThePasscode() throws {
            let phrase =
                "letter advice cage absurd amount doctor acoustic avoid letter advice cage above"
            let home = try TestHome()
            let client = try home.newClient("app")
            try client.setPasscode("4821")
            let wallet = try use(phrase, client)
            let passcodeStores = [ServiceName.credentialAuthority, .attemptLimiter].map {
                home.home.statePath(of: $0)
            }
            // While the services run, with their logs, and when they have ended.
            var kept = passcodeStores.map(files)
            for service in TestHome.services { home.kill(service, SIGTERM) }
            kept += passcodeStores.map(files)
            let stored = try rows(ofWalletsIn: home.home.storePath(of: .walletVault))
            #expect(stored.contains(Array(wallet.wallet.text.utf8)))
            let inVault = files(home.home.statePath(of: .walletVault))
            #expect(stored.filter { !inVault.holds($0) } == [])
            let words = phrase.split(separator: " ").map(String.init)
            let traces =
                stored
                + (words + [main.text, Hex.encode(wallet.identity)]).map { Array($0.utf8) }
            for bytes in kept {
                #expect(bytes.count > 4_096)
                #expect(traces.filter { bytes.holds($0) } == [])
            }
            // The same search finds what is put there.
            for folder in passcodeStores {
                TestFile.write(Array(traces.joined(separator: [0])), to: "\(folder)/planted")
                let spoilt = files(folder)
                #expect(traces.filter { !spoilt.holds($0) } == [])
            }
        }

        /// Takes a wallet in, checks it, shows it and signs with it.
        private func use(_ phrase: String, _ client: Client) throws -> WalletDescription {
            let token = try client.resourceToken("4821")
            let bring = ImportWallet(
                namespace: main, label: "a label of no other wallet", walletKind: .bip39,
                expected: nil)
            let made = try client.call(bring, token: token, secrets: [secret(phrase)]).reply
            let wallet = made.wallet
            _ = try client.call(CheckWallet(namespace: main, wallet: wallet), token: token)
            _ = try client.call(
                RevealWallet(namespace: main, wallet: wallet),
                token: known(client.unlock("4821", scope: .reveal(main, wallet))))
            let sign = SignWithWallet(
                namespace: main, wallet: wallet, scheme: .ed25519, path: "m/44'/0'")
            _ = try client.call(
                sign, token: known(client.unlock("4821", scope: .sign(main, wallet))),
                secrets: [secret("message")])
            return made
        }

        /// What the vault has of its wallets: the ends of all values that are long enough to be
        /// theirs alone.
        private func rows(ofWalletsIn path: String) throws -> [[UInt8]] {
            let tables = [
                "wallets": ["wallet", "label", "identity", "mac"],
                "envelopes": ["ref", "document"],
            ]
            return try tables.flatMap { table, columns in
                try columns.flatMap { column in
                    try sqlite(path, "SELECT hex(\(column)) FROM \(table)").map {
                        Array(try known(Hex.decode($0.lowercased())).suffix(64))
                    }
                }
            }.filter { $0.count >= 16 }
        }

        /// All that stands in the files of a folder.
        private func files(_ folder: String) -> [UInt8] {
            TemporaryFolder.names(in: folder).flatMap {
                TestFile.contents(of: "\(folder)/\($0)")
            }
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
