import Bus
import Foundation
import Loop
import MigrationMessages
import Mnemonics
import Secrets
import TestKit
import Testing
import Tokens
import VaultMessages
import Wire

extension EndToEnd {
    /// How a migration's memory and time grow with the source, as ratios on the machine at hand.
    ///
    /// `COFFER_THOROUGH=1` takes 100 and 10,000 wallets in place of 30 and 300.
    @Suite(.timeLimit(.minutes(30)))
    struct MigrationFigures {
        private static let isThorough =
            ProcessInfo.processInfo.environment["COFFER_THOROUGH"] != nil
        private static let few = isThorough ? 100 : 30
        private static let many = isThorough ? 10_000 : 300
        private static let kibibytesMore = 5 * 1_024
        private static let leastShare = 0.7
        /// Imports that the vault has at a time.
        private static let inFlight = 8

        @Test func manyWalletsTakeLittleMoreMemoryThanFew() throws {
            let few = try peak(afterMigrating: Self.few)
            let many = try peak(afterMigrating: Self.many)
            report(
                "migration: \(few) KiB at most with \(Self.few) wallets, \(many) KiB with "
                    + "\(Self.many)")
            #expect(many - few <= Self.kibibytesMore)
        }

        /// The most memory that the migration ever had, in KiB.
        private func peak(afterMigrating count: Int) throws -> Int {
            var keychain = TestKeychain()
            try keychain.addListed(count, SeededRandom(seed: 61))
            let migrant = try Migrant(keychain)
            var after: String?
            repeat {
                let request = PlanMigration(source: migrant.path, after: after)
                let page = try migrant.client.call(request, timeout: 120_000).reply
                after = page.more ? page.wallets.last?.id : nil
            } while after != nil
            #expect(try migrant.applyUntilFinished().counts.inLedger == UInt64(count))
            return try migrant.home.peakMemory(of: .migration)
        }

        @Test func aMigrationIsAsFastAsItsParts() async throws {
            var keychain = TestKeychain()
            try keychain.addListed(Self.many, SeededRandom(seed: 62))
            var best = 0.0
            // A busy neighbour can slow one round down, and makes none faster.
            for _ in 0..<3 where best < Self.leastShare {
                best = max(best, try await share(of: keychain))
            }
            #expect(best >= Self.leastShare)
        }

        /// The rate of a migration, as a share of what its parts give one after the other.
        private func share(of keychain: TestKeychain) async throws -> Double {
            let migrant = try Migrant(keychain)
            // The parts before and after, so that a busy neighbour disturbs both alike.
            var parts = try await seconds(
                ofPartsFor: keychain.wallets, migrant, namespace: "before")
            let began = ContinuousClock.now
            #expect(try migrant.applyUntilFinished().succeeded > 0)
            let whole = (ContinuousClock.now - began) / .seconds(1)
            parts += try await seconds(ofPartsFor: keychain.wallets, migrant, namespace: "after")
            let share = parts / 2 / whole
            report(
                "migration: \(Int(Double(Self.many) / whole)) wallets a second, "
                    + "\(Int(share * 100)) % of what import and two derivations give")
            return share
        }

        /// How long the vault takes to import the wallets, and the machine's cores to derive each
        /// seed twice, one after the other.
        private func seconds(
            ofPartsFor wallets: [TestKeychain.Wallet], _ migrant: Migrant, namespace: String
        ) async throws -> Double {
            let namespace = try known(Namespace(namespace))
            let imports = wallets.map { wallet in
                (
                    ImportWallet(
                        namespace: namespace, label: "", walletKind: .dash, network: .mainnet,
                        expected: wallet.sdkID), [secret(wallet.phrase.text)]
                )
            }
            var began = ContinuousClock.now
            for start in stride(from: 0, to: imports.count, by: 1_000) {
                // A session lives five minutes.
                try migrant.client.changeEach(
                    Array(imports[start..<min(start + 1_000, imports.count)]),
                    token: migrant.token(.resource(namespace), audience: [.walletVault]),
                    atATime: Self.inFlight)
            }
            var seconds = (ContinuousClock.now - began) / .seconds(1)
            began = ContinuousClock.now
            await derive(wallets.map { secret($0.phrase.text) })
            seconds += (ContinuousClock.now - began) / .seconds(1)
            return seconds
        }

        /// Derives each seed twice, on all cores.
        private func derive(_ phrases: [SharedSecret]) async {
            let width = max(2, ProcessInfo.processInfo.activeProcessorCount)
            let pool = WorkerPool(width: width)
            await withTaskGroup(of: Void.self) { group in
                for lane in 0..<width {
                    group.addTask {
                        await pool.run {
                            for index in stride(from: lane, to: phrases.count, by: width) {
                                let phrase = phrases[index]
                                for _ in 0..<2 {
                                    _ = try? Mnemonic.seed(
                                        of: phrase.bytes, passphrase: SecretBytes(count: 0))
                                }
                            }
                        }
                    }
                }
            }
        }

        private func report(_ line: String) {
            FileHandle.standardOutput.write(Data("\(line)\n".utf8))
        }
    }
}
