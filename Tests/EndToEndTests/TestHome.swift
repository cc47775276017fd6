import Bus
import Clocks
import Glibc
import Home
import Secrets
import TestKit
import Wire

/// A throw-away installation with real services in it.
final class TestHome {
    static let services: [ServiceName] = [
        .attemptLimiter, .credentialAuthority, .walletVault, .backupShares, .migration,
    ]

    let home: Home
    let clock: SystemBootClock
    /// What services find in their environment beside that of the tests: `NAME=value`.
    var environment: [String] = []
    private let folder: TemporaryFolder
    private let context: Context
    private var processes: [ServiceName: ServiceProcess] = [:]

    /// Makes folders, keys and entries, and starts the services.
    ///
    /// - Parameter derivation: how long the check of a passcode takes, in milliseconds.
    init(
        starting services: [ServiceName] = TestHome.services, derivation: UInt64 = 1
    ) throws {
        folder = try TemporaryFolder()
        home = Home(path: folder.path + "/home")
        context = try Context()
        clock = try known(SystemBootClock())
        for path in ["", "/keys", "/peers", "/state", "/run"] {
            guard mkdir(home.path + path, 0o700) == 0 else { throw TestError("mkdir") }
        }
        for service in ServiceName.allCases {
            let pair = try known(CurveKeyPair.generate())
            try CertificateFile.writePublic(
                pair.publicKey, to: home.publicKeyPath(of: service.text))
            try CertificateFile.writeSecret(pair, to: home.secretKeyPath(of: service.text))
            try peers.add(
                PeerEntry(
                    name: service.text, key: pair.publicKey, role: .service(service),
                    owners: .all, mayDestroy: false))
        }
        try write("kdf_target_ms = \(derivation)\n", to: home.settingsPath)
        for service in services { try start(service) }
    }

    deinit { for process in processes.values { process.kill(SIGKILL) } }

    var peers: PeerFolder { PeerFolder(path: home.peersPath) }

    // MARK: Services

    /// Starts a service and waits until it is healthy.
    func start(_ service: ServiceName) throws {
        let process = try ServiceProcess(service, home: home, environment: environment)
        processes[service] = process
        let client = try self.client(as: service)
        for _ in 0..<200 {
            if process.hasEnded { throw TestError("\(service.text) ended at its start") }
            if client.isHealthy(service) { return }
            usleep(20_000)
        }
        throw TestError("\(service.text) is not healthy")
    }

    func kill(_ service: ServiceName, _ signal: Int32 = SIGKILL) {
        processes.removeValue(forKey: service)?.kill(signal)
    }

    /// Kills a service after a while, from another process.
    func killSoon(_ service: ServiceName, milliseconds: Int) throws {
        try processes[service]?.killSoon(milliseconds: milliseconds)
    }

    /// Starts a service again when ``killSoon(_:milliseconds:)`` has killed it.
    func restartKilled(_ service: ServiceName) throws {
        processes.removeValue(forKey: service)?.awaitKill()
        try start(service)
    }

    /// The most memory that a service ever had, in KiB.
    func peakMemory(of service: ServiceName) throws -> Int {
        try known(processes[service]).peakMemory()
    }

    func restart(_ service: ServiceName, by signal: Int32 = SIGKILL) throws {
        kill(service, signal)
        try start(service)
    }

    // MARK: Peers

    /// Enters a new peer and connects it.
    func newClient(
        _ name: String, role: Role = .app, owners: OwnerSet = .some([local]),
        mayDestroy: Bool = true
    ) throws -> Client {
        let pair = try known(CurveKeyPair.generate())
        try peers.add(
            PeerEntry(
                name: name, key: pair.publicKey, role: role, owners: owners,
                mayDestroy: mayDestroy))
        return Client(pair, self)
    }

    /// Makes the command's key pair and lets it speak for the owner of the tests.
    func admitCommand() throws {
        let pair = try known(CurveKeyPair.generate())
        try CertificateFile.writePublic(pair.publicKey, to: home.publicKeyPath(of: "coffer"))
        try CertificateFile.writeSecret(pair, to: home.secretKeyPath(of: "coffer"))
        try peers.add(
            PeerEntry(
                name: "coffer", key: pair.publicKey, role: .app, owners: .some([local]),
                mayDestroy: true))
    }

    /// Another connection of the same peer.
    func again(_ client: Client) -> Client { Client(client.identity, self) }

    /// A client that holds a service's own key.
    func client(as service: ServiceName) throws -> Client {
        Client(try CertificateFile.readSecret(home.secretKeyPath(of: service.text)), self)
    }

    /// A client whose key nobody entered.
    func stranger() throws -> Client { Client(try known(CurveKeyPair.generate()), self) }

    func link(to service: ServiceName, as identity: CurveKeyPair) throws -> BlockingLink {
        let settings = try Settings.read(of: home)
        return BlockingLink(
            context: context, endpoint: try Endpoint(checking: settings.endpoint(of: service)),
            serverKey: try CertificateFile.readPublic(home.publicKeyPath(of: service.text)).key,
            identity: identity, clock: clock)
    }

    /// Owners whose kernel namespaces differ are not needed: a second program reads the store.
    func query(_ sql: String, in service: ServiceName) throws -> String {
        try run("/usr/bin/sqlite3", ["-readonly", home.storePath(of: service), sql])
    }
}

let local = Owner("local") ?? { preconditionFailure("the name is in the form") }()

struct TestError: Error {
    let what: String
    init(_ what: String) { self.what = what }
}

func known<T>(_ value: T?) throws -> T {
    guard let value else { throw TestError("nothing there") }
    return value
}

func write(_ text: String, to path: String) throws {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw TestError("open \(path)") }
    defer { close(descriptor) }
    let bytes = Array(text.utf8)
    guard Glibc.write(descriptor, bytes, bytes.count) == bytes.count else {
        throw TestError("write \(path)")
    }
}
