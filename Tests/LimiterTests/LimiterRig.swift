import Clocks
import Crypto
import Glibc
import LimiterCore
import LimiterMessages
import Loop
import Secrets
import Serving
import Storage
import TestKit
import Wire

/// A limiter on a store of its own, with a clock that can be turned.
///
/// Each call is a turn of the loop by itself: what it wrote is committed before the caller sees the
/// answer, as the host does it.
@ServiceLoop
final class LimiterRig {
    let clock = FakeBootClock()
    let random: SeededRandom
    let database: Database
    let metrics = MetricsRegistry()
    private let folder: TemporaryFolder
    private(set) var service: LimiterService

    init(seed: UInt64 = 1) throws {
        random = SeededRandom(seed: seed)
        folder = try TemporaryFolder(inMemory: true)
        database = try Database(
            path: folder.path(of: "limiter.sqlite"), schema: LimiterService.schema)
        service = Self.service(database, clock, random, metrics)
    }

    private static func service(
        _ database: Database, _ clock: FakeBootClock, _ random: SeededRandom,
        _ metrics: MetricsRegistry
    ) -> LimiterService {
        LimiterService(
            group: CommitGroup(store: database, clock: clock), clock: clock, random: random,
            metrics: metrics)
    }

    /// A new process on the same store; what was not committed is lost.
    func restart(reopening: Bool = true) throws {
        if reopening { try database.reopen() } else { database.abandonBatch() }
        service = Self.service(database, clock, random, metrics)
        try service.rebuild()
        try database.commitBatch()
    }

    /// One turn: a refusal too leaves only after the commit.
    func turn<T>(_ body: (LimiterService) throws -> T) throws -> T {
        let result = Result { try body(service) }
        try database.commitBatch()
        return try result.get()
    }

    // MARK: Requests as an authority sends them

    func challenge(_ owner: Owner) throws -> [UInt8] {
        try turn { try $0.drawChallenge(of: owner).challenge }
    }

    func enrol(_ owner: Owner, _ key: AccessKey) throws -> EnrolmentID {
        let challenge = try challenge(owner)
        return try turn {
            try $0.enrol(
                Enrol(
                    challenge: challenge, confirmKey: key.publicKey,
                    signature: key.sign(.enrol, owner, challenge)), of: owner
            ).enrolment
        }
    }

    func begin(
        _ owner: Owner, _ enrolment: EnrolmentID, lastCharge: UInt64 = 0, nonce: [UInt8]? = nil,
        code: String = "1234"
    ) throws -> Answer<Begin> {
        let nonce = nonce ?? random.bytes(16)
        return try turn {
            try $0.begin(
                Begin(enrolment: enrolment, nonce: nonce, lastCharge: lastCharge), of: owner,
                code: secret(code))
        }
    }

    /// An attempt that must be taken.
    func charge(_ owner: Owner, _ enrolment: EnrolmentID) throws -> (AttemptID, UInt64) {
        guard case .charged(let attempt, let charge) = try begin(owner, enrolment).reply else {
            throw Unexpected()
        }
        return (attempt, charge)
    }

    func confirm(_ owner: Owner, _ attempt: AttemptID, _ key: AccessKey) throws -> UInt64 {
        try turn {
            try $0.confirm(
                Confirm(attempt: attempt, signature: key.sign(.confirm, owner, attempt.bytes)),
                of: owner
            ).failedBefore
        }
    }

    func prove(
        _ owner: Owner, _ enrolment: EnrolmentID, _ key: AccessKey, code: String?
    ) throws -> Answer<Prove> {
        let challenge = try challenge(owner)
        let statement: SignedStatement = code == nil ? .proveRemoval : .provePasscode
        return try turn {
            try $0.prove(
                Prove(
                    enrolment: enrolment, challenge: challenge,
                    signature: key.sign(statement, owner, challenge)), of: owner,
                code: code.map(secret))
        }
    }

    func standing(_ owner: Owner) throws -> Standing { try turn { try $0.standing(of: owner) } }

    // MARK: The store, past the service

    /// A store with the same content, as a copy of the file gives it.
    func copiedStore(_ name: String) throws -> Database {
        database.close()
        TestFile.write(
            TestFile.contents(of: folder.path(of: "limiter.sqlite")), to: folder.path(of: name))
        try restart()
        return try Database(path: folder.path(of: name), schema: LimiterService.schema)
    }

    /// Goes on with another store.
    func move(to store: Database, named name: String) throws {
        store.close()
        database.close()
        TestFile.write(
            TestFile.contents(of: folder.path(of: name)), to: folder.path(of: "limiter.sqlite"))
        try restart()
    }

    /// Whether any file of the store holds these bytes.
    func filesHold(_ bytes: [UInt8]) throws -> Bool {
        let name = "limiter.sqlite"
        return try [name, name + "-wal"].contains { name in
            let file = try readFile(folder.path(of: name))
            return file.indices.dropLast(bytes.count - 1).contains { start in
                file[start] == bytes[0] && file[start..<start + bytes.count].elementsEqual(bytes)
            }
        }
    }

    func record(of owner: Owner) throws -> [UInt8]? {
        try database.firstRow("SELECT record FROM ledgers WHERE owner = ?1", .text(owner.text)) {
            row throws(StorageError) in try row.blob(0)
        }
    }

    func setRecord(_ record: [UInt8], of owner: Owner) throws {
        try database.write {
            try database.run(
                "UPDATE ledgers SET record = ?2 WHERE owner = ?1", .text(owner.text),
                .blob(record))
        }
        try database.commitBatch()
    }

    func deviceSecret(of owner: Owner) throws -> [UInt8]? {
        try database.firstRow(
            "SELECT device_secret FROM owners WHERE owner = ?1", .text(owner.text)
        ) { row throws(StorageError) in try row.blob(0) }
    }
}

extension LimiterService {
    /// Repairs as an authority asks that has seen a charge; nil for one whose number is past its
    /// end.
    func repair(_ owner: Owner, seen lastCharge: UInt64?) throws -> RepairAttempts.Reply {
        try repair(RepairAttempts(lastCharge: lastCharge), of: owner)
    }
}

/// Something that the test's own preparation rests on did not come about.
struct Unexpected: Error {}

/// An owner's confirm key, as the authority derives it from the access key.
final class AccessKey: Sendable {
    private let key: Ed25519SigningKey

    init(from random: SeededRandom) throws { key = try Ed25519SigningKey(seed: random.secret(32)) }

    var publicKey: [UInt8] { key.publicKey }

    func sign(_ statement: SignedStatement, _ owner: Owner, _ drawn: [UInt8]) -> [UInt8] {
        key.sign(statement.bytes(owner: owner, drawn: drawn))
    }
}

func secret(_ text: String) -> SharedSecret {
    SharedSecret(SecretBytes(copying: Array(text.utf8)))
}

extension SharedSecret {
    var plain: [UInt8] { bytes.withBytes { Array($0) } }
}

extension Owner {
    /// A name that a test writes out.
    init(named name: String) throws {
        guard let owner = Owner(name) else { throw Unexpected() }
        self = owner
    }
}

/// How many rows a table of the limiter has.
@ServiceLoop
func rows(of table: String, in rig: LimiterRig) throws -> Int64? {
    let sql: StaticString =
        switch table {
        case "owners": "SELECT count(*) FROM owners"
        case "ledgers": "SELECT count(*) FROM ledgers"
        case "attempts": "SELECT count(*) FROM attempts"
        case "nonces": "SELECT count(*) FROM nonces"
        default: throw Unexpected()
        }
    return try rig.database.firstRow(sql) { row throws(StorageError) in try row.integer(0) }
}

private func readFile(_ path: String) throws -> [UInt8] {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw Unexpected() }
    defer { close(descriptor) }
    var content: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
        let count = read(descriptor, &buffer, buffer.count)
        guard count > 0 else { return content }
        content += buffer[..<count]
    }
}
