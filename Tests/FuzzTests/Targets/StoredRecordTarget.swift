import Clocks
import Secrets
import Wire

@testable import AuthorityCore
@testable import LimiterCore
@testable import VaultCore

extension FuzzTarget {
    /// The first byte says what the others are: a credential record, which may come from
    /// elsewhere, an attempts record, or an envelope.
    static let storedRecord = FuzzTarget(
        name: "stored-record",
        seeds: {
            let sixteen = "AAAAAAAAAAAAAAAAAAAAAA=="
            let key = String(repeating: "A", count: 43) + "="
            let wrapped = String(repeating: "A", count: 80)
            let locked = """
                {"version":1,"id":"a","revision":2,"managedPasscode":true,"kind":"digits4",\
                "salt":"\(sixteen)","iterations":600000,"wrappedKey":"\(wrapped)",\
                "walletProtection":true,"biometricAccount":"b","biometricCleanup":["c"]}
                """
            let open = """
                {"version":1,"id":"a","revision":1,"managedPasscode":true,\
                "unprotectedKey":"\(key)","walletProtection":false,"biometricCleanup":[]}
                """
            let envelope = """
                {"version":1,"vaultId":"a","secretId":"b","wrappedDek":"\(wrapped)",\
                "ciphertext":"\(wrapped)"}
                """
            return [
                [0] + Array(locked.utf8), [0] + Array(open.utf8),
                [1] + Array(#"{"count":6,"boot":"boot","deadline":61.5}"#.utf8),
                [1] + Array(#"{"count":0,"boot":"","deadline":null}"#.utf8),
                [2] + Array(envelope.utf8),
            ]
        },
        run: { input in
            guard let mode = input.first else { return }
            let rest = Array(input.dropFirst())
            switch mode {
            case 0: readCredential(rest)
            case 1: readAttempts(rest)
            default: readEnvelope(rest)
            }
        })

    private static func readCredential(_ document: [UInt8]) {
        guard let record = try? CredentialRecord(decoding: SecretBytes(copying: document)) else {
            return
        }
        promise(!record.protection || record.unprotectedKey == nil, "an open key is protected")
        promise(record.nextRevision > 0)
        let written = record.encode()
        guard let again = try? CredentialRecord(decoding: written) else {
            fatalError("a record that was read cannot be written")
        }
        promise(again.encode().isEqual(to: written), "a record changes as it is written")
        plantedTrap(record.pendingBiometricAccount != nil || record.biometricCleanup.count > 1)
    }

    private static func readAttempts(_ document: [UInt8]) {
        let now = BootMoment(bootID: BootID("boot"), nanoseconds: 2_000_000_000)
        guard let record = try? AttemptsRecord(decoding: document, at: now) else { return }
        promise(0...AttemptsRecord.countLimit ~= record.count && record.deadline >= 0)
        promise(record.boot != now.bootID || record.deadline <= now.seconds + 60)
        promise((try? AttemptsRecord(decoding: record.encoded(), at: now)) == record)
    }

    private static func readEnvelope(_ document: [UInt8]) {
        guard let envelope = try? EnvelopeV1(decoding: document) else { return }
        promise((try? EnvelopeV1(decoding: envelope.encoded())) == envelope)
        guard let namespace = Namespace("a") else { return }
        let key = SecretBytes(copying: [UInt8](repeating: 0, count: 32))
        promise(
            (try? envelope.open(namespace: namespace, wrappingKey: key)) == nil,
            "an envelope opens with a key that nobody sealed it with")
    }
}
