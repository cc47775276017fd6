import BackupShares
import Clocks
import Glibc
import Home
import TestKit
import Testing
import Wire

extension EndToEnd {
    /// A wallet is shared out among three holders and comes back, with nothing but the command.
    @Suite(.timeLimit(.minutes(5)))
    struct BackupRules {
        private static let phrase = String(repeating: "abandon ", count: 11) + "about"
        private static let identity =
            "03d902f35f560e0470c63313c7369168d9d7df2d49bf295fd9fb7cb109ccee0494"
        private static let holders = ["anna", "bert", "carl"]
        private static let code = ("--passcode-fd", "tide-lantern-4417")

        private let folder: TemporaryFolder

        init() throws { folder = try TemporaryFolder() }

        @Test func aWalletComesBackInAnEmptyHomeFromWhatHoldersRelease() throws {
            let first = try Self.installation()
            let one = CofferProcess(home: first.home)
            try prepare(one)
            let shares = try split(one)
            let listed = try one("backup", "list", "--json", secrets: [Self.code]).object()
            #expect(try listed.objects("splits").map { try $0.bool("confirmed") } == [true])

            let second = try Self.installation()
            let other = CofferProcess(home: second.home)
            try Self.succeeds(
                other(
                    "backup", "request", "--out", folder.path(of: "request"),
                    secrets: [Self.code]))
            let released = try zip(Self.holders, shares).map { holder, share in
                try release(holder, share)
            }
            let restored = try other.run(
                [
                    "backup", "restore", released[2], released[0], released[1], "--expect",
                    Self.identity, "--label", "back", "--json",
                ], secrets: [Self.code])
            try Self.succeeds(restored)
            #expect(try restored.object().string("result") == "installed")
            #expect(
                try restored.object().object("wallet").string("identity") == Self.identity)
            #expect(try reveal("back", other) == Self.phrase)
            // The restoration is over, and its key with it.
            let requests = try other("backup", "requests", "--json", secrets: [Self.code])
            #expect(try requests.object().objects("restorations").isEmpty)
        }

        @Test func sharesAndKeysRestoreInOneRun() throws {
            let home = try Self.installation()
            let coffer = CofferProcess(home: home.home)
            try prepare(coffer)
            let shares = try split(coffer)
            let line = ["backup", "restore"] + oneRun(shares)
            let secrets = [Self.code] + Self.holders.map { ("--passphrase-fd", $0) }
            // The wallet is there: nothing comes in twice.
            let twice = try coffer.run(line, secrets: secrets)
            #expect(twice.status == 7)
            #expect(twice.complaint.contains("vault.wallet_exists"))
            try Self.succeeds(
                coffer("wallet", "remove", "savings", "--yes", secrets: [Self.code]))
            // This home has a confirmed split, so nobody is asked for the identity.
            try Self.succeeds(coffer.run(line, secrets: secrets))
            let wallets = try coffer("wallet", "list", "--json", secrets: [Self.code]).object()
            #expect(
                try wallets.objects("wallets").map { try $0.string("identity") }
                    == [Self.identity])
            let requests = try coffer("backup", "requests", "--json", secrets: [Self.code])
            #expect(try requests.object().objects("restorations").isEmpty)
        }

        @Test func anIdentityThatNobodyNamedIsNotInstalledUnasked() throws {
            let first = try Self.installation()
            let one = CofferProcess(home: first.home)
            try prepare(one)
            let shares = try split(one)
            let second = try Self.installation()
            let other = CofferProcess(home: second.home)
            let line = ["backup", "restore"] + oneRun(shares)
            let secrets = [Self.code] + Self.holders.map { ("--passphrase-fd", $0) }
            // There is no terminal to ask on.
            let asked = try other.run(line, secrets: secrets)
            #expect(asked.status == 2)
            let wallets = try other("wallet", "list", "--json", secrets: [Self.code]).object()
            #expect(try wallets.objects("wallets").isEmpty)
            let wrong = try other.run(
                line + ["--expect", String(repeating: "02", count: 33)], secrets: secrets)
            #expect(wrong.status == 7)
            #expect(wrong.complaint.contains("shares.unexpected_identity"))
            try Self.succeeds(other.run(line + ["--yes"], secrets: secrets))
        }

        @Test func aDamagedShareIsNamedWithItsHolder() throws {
            let home = try Self.installation()
            let coffer = CofferProcess(home: home.home)
            try prepare(coffer)
            let shares = try split(coffer)
            var bytes = try content(of: shares[1])
            // Another digit of the code.
            let place = bytes.count - 10
            bytes[place] = bytes[place] == UInt8(ascii: "0") ? UInt8(ascii: "1") : UInt8(ascii: "0")
            let file = open(shares[1], O_WRONLY | O_TRUNC | O_CLOEXEC)
            _ = Glibc.write(file, bytes, bytes.count)
            close(file)
            let ended = try coffer.run(
                ["backup", "restore"] + oneRun(shares),
                secrets: [Self.code] + Self.holders.map { ("--passphrase-fd", $0) })
            #expect(ended.status == 9)
            #expect(ended.complaint.contains("\(shares[1]) (holder bert)"))
        }

        /// A check that is not answered in time may have been counted: it is not made again.
        @Test func oneWrongPasscodeIsOneGuessWhereItsCheckIsNotAwaited() throws {
            let home = try Self.installation(derivation: 400)
            let coffer = CofferProcess(home: home.home)
            try prepare(coffer)
            let line = ["backup", "restore", "--timeout", "0.25"] + oneRun(try split(coffer))
            var isSent = false
            // On a busy machine the time may be over before the passcode is sent.
            for _ in 0..<20 where !isSent {
                let ended = try coffer.run(
                    line,
                    secrets: [("--passcode-fd", "wrong-lantern-1")]
                        + Self.holders.map { ("--passphrase-fd", $0) })
                #expect(ended.status != 0)
                isSent = ended.complaint.contains("The passcode was not checked in time.")
            }
            try #require(isSent)
            var failed: UInt64 = 0
            for _ in 0..<200 where failed == 0 {
                usleep(50_000)
                failed = try Self.failedAttempts(coffer)
            }
            // Time for all that there could be beside it.
            usleep(2_000_000)
            failed = try Self.failedAttempts(coffer)
            #expect(failed == 1)
        }

        /// Whenever the command is killed, a file is whole or not there; the next run cleans up.
        @Test func aKilledSplitLeavesNoPartialFile() throws {
            let home = try Self.installation()
            let coffer = CofferProcess(home: home.home)
            try prepare(coffer)
            let begun = home.clock.now.nanoseconds
            try Self.succeeds(
                coffer(
                    "backup", "split", "savings", "--out", folder.path(of: "first"),
                    secrets: [Self.code]))
            let whole = UInt32(clamping: (home.clock.now.nanoseconds - begun) / 1_000)
            var written = 0
            var killed = 0
            for round in 0..<60 {
                let out = folder.path(of: round % 2 == 0 ? "out" : "out\(round)")
                let ended = try coffer.run(
                    ["backup", "split", "savings", "--out", out], secrets: [Self.code],
                    killAfterMicroseconds: UInt32.random(in: whole / 3...whole / 10 * 13))
                if ended.status != 0 { killed += 1 }
                let shares = TemporaryFolder.names(in: out).filter { $0.hasSuffix(".share") }
                for name in shares {
                    #expect(throws: Never.self) {
                        _ = try ShareFile(content(of: "\(out)/\(name)"))
                    }
                }
                #expect(TemporaryFolder.names(in: out).allSatisfy(Self.isShareOrPart))
                if round % 2 == 1 { #expect([0, 3].contains(shares.count)) }
                written += shares.count
            }
            #expect(killed > 0)
            try Self.succeeds(
                coffer(
                    "backup", "split", "savings", "--out", folder.path(of: "out"),
                    secrets: [Self.code]))
            try Self.succeeds(
                coffer(
                    "backup", "split", "savings", "--out", folder.path(of: "last"),
                    secrets: [Self.code]))
            #expect(
                !TemporaryFolder.names(in: folder.path).contains { $0.hasPrefix(".coffer-part-") })
            let left = TemporaryFolder.names(in: folder.path(of: "out"))
            #expect(left.allSatisfy { !$0.hasPrefix(".coffer-part-") })
            #expect(written > 0)
        }

        private static func isShareOrPart(_ name: String) -> Bool {
            name.hasSuffix(".share") || name.hasPrefix(".coffer-part-")
                || name.hasPrefix("README-")
        }

        // MARK: Steps

        private static func failedAttempts(_ coffer: CofferProcess) throws -> UInt64 {
            try coffer("status", "--json").object().object("credential").uint64("failed")
        }

        /// An installation with a passcode, in which the command is let in.
        private static func installation(derivation: UInt64 = 1) throws -> TestHome {
            let home = try TestHome(derivation: derivation)
            try home.admitCommand()
            try succeeds(
                CofferProcess(home: home.home)("passcode", "set", secrets: [code]))
            return home
        }

        /// A wallet and three holders.
        private func prepare(_ coffer: CofferProcess) throws {
            try Self.succeeds(
                coffer(
                    "wallet", "import", "--label", "savings",
                    secrets: [Self.code, ("--phrase-fd", Self.phrase)]))
            for holder in Self.holders {
                try Self.succeeds(
                    CofferProcess(home: Home(path: "/nowhere"))(
                        "holder", "keygen", "--out", key(holder),
                        secrets: [("--passphrase-fd", holder)]))
                try Self.succeeds(
                    coffer(
                        "holder", "add", holder, "--key", key(holder) + ".pub",
                        secrets: [Self.code]))
            }
        }

        private func key(_ holder: String) -> String { folder.path(of: "\(holder).pem") }

        /// The paths of the three share files.
        private func split(_ coffer: CofferProcess) throws -> [String] {
            let ended = try coffer(
                "backup", "split", "savings", "--out", folder.path(of: "shares"), "--json",
                secrets: [Self.code])
            try Self.succeeds(ended)
            let shares = try ended.object().objects("shares")
            #expect(try shares.map { try $0.string("holder") } == Self.holders)
            return try shares.map { try $0.string("file") }
        }

        /// On a machine without an installation.
        private func release(_ holder: String, _ share: String) throws -> String {
            let out = folder.path(of: "\(holder).released")
            try Self.succeeds(
                CofferProcess(home: Home(path: "/nowhere"))(
                    "holder", "release", "--share", share, "--key", key(holder), "--request",
                    folder.path(of: "request"), "--out", out, "--yes",
                    secrets: [("--passphrase-fd", holder)]))
            return out
        }

        private func oneRun(_ shares: [String]) -> [String] {
            zip(Self.holders, shares).flatMap { ["--share", $1, "--key", key($0)] }
        }

        private func reveal(_ wallet: String, _ coffer: CofferProcess) throws -> String {
            let path = folder.path(of: "phrase")
            let file = open(path, O_RDWR | O_CREAT | O_TRUNC, 0o600)
            defer { close(file) }
            try Self.succeeds(
                coffer(
                    "wallet", "reveal", wallet, "--phrase-out-fd", "\(file)",
                    secrets: [Self.code]))
            return String(decoding: try content(of: path).dropLast(), as: UTF8.self)
        }

        private static func succeeds(_ ended: CofferProcess.Ended) throws {
            guard ended.status == 0 else {
                throw TestError("ended with \(ended.status): \(ended.complaint)\(ended.output)")
            }
        }
    }
}
