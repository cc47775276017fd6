internal import Glibc
public import Wire

/// Why settings cannot be used.
///
/// The sentence names file, line and what to do.
public struct SettingsError: Error, Equatable, Sendable {
    public let sentence: String
}

/// The settings of an installation: lines `name = value` in `coffer.conf`, `#` begins a comment.
///
/// A file that is missing means that every setting has its default. Unknown names are refused, so
/// that a misspelt limit is not silently the default.
public struct Settings: Sendable, Equatable {
    /// Where the sockets are.
    public var runPath: String
    /// Endpoints that take the place of sockets in the run folder, for clients elsewhere.
    public var endpoints: [ServiceName: String] = [:]
    /// What a passcode check should take, in milliseconds of key derivation.
    public var kdfTargetMilliseconds = 350
    public var inFlightPerPeer = 64
    public var inFlight = 1_024
    public var unsettledPerPeer = 1_024
    public var sessions = 10_000
    /// Passcode checks that may wait for a free thread.
    public var kdfQueue = 256
    /// The PKCS #11 module of hardware tokens: a path, or those that p11-kit is set up with.
    public var deviceModule = everyModule

    /// As ``deviceModule``: whatever the machine's p11-kit is set up with.
    public static let everyModule = "p11-kit"

    /// Whose gate follows the login manager of this machine.
    public var loginOwners: [Owner] = []

    private static let sizeLimit = 65_536

    /// The defaults for a home.
    public init(home: Home) { runPath = home.path + "/run" }

    /// Reads the settings of a home.
    public static func read(of home: Home) throws(SettingsError) -> Settings {
        var settings = Settings(home: home)
        guard let bytes = try contents(of: home.settingsPath) else { return settings }
        var number = 0
        for line in bytes.split(separator: 0x0A, omittingEmptySubsequences: false) {
            number += 1
            guard let text = String(validating: line, as: UTF8.self) else {
                throw SettingsError(sentence: "\(home.settingsPath):\(number): not UTF-8.")
            }
            try settings.take(line: text, number: number, file: home.settingsPath)
        }
        return settings
    }

    /// Where a service listens for requests.
    public func endpoint(of service: ServiceName) -> String {
        endpoints[service] ?? "ipc://\(socketPath(of: service))"
    }

    /// Where a service publishes its events; for services, so always on this machine.
    public func eventsEndpoint(of service: ServiceName) -> String {
        "ipc://\(runPath)/\(service.prefix)-events.sock"
    }

    public func socketPath(of service: ServiceName) -> String {
        "\(runPath)/\(service.prefix).sock"
    }

    private mutating func take(line: String, number: Int, file: String) throws(SettingsError) {
        let text = line.prefix { $0 != "#" }
        guard !text.allSatisfy(\.isWhitespace) else { return }
        let parts = text.split(separator: "=", maxSplits: 1).map(Self.trimmed)
        guard parts.count == 2, !parts[1].isEmpty else {
            throw SettingsError(sentence: "\(file):\(number): want `name = value`.")
        }
        guard set(parts[0], to: parts[1]) else {
            throw SettingsError(
                sentence: "\(file):\(number): unknown setting or unusable value `\(parts[0])`.")
        }
    }

    private mutating func set(_ name: String, to value: String) -> Bool {
        switch name {
        case "run":
            guard value.hasPrefix("/") else { return false }
            runPath = value
            return true
        case "device_module":
            guard value == Self.everyModule || value.hasPrefix("/") else { return false }
            deviceModule = value
            return true
        case "kdf_target_ms": return Self.read(value, 1...5_000, into: &kdfTargetMilliseconds)
        case "limits.in_flight_per_peer":
            return Self.read(value, 1...65_536, into: &inFlightPerPeer)
        case "limits.in_flight": return Self.read(value, 1...1_048_576, into: &inFlight)
        case "limits.unsettled_per_peer":
            return Self.read(value, 1...65_536, into: &unsettledPerPeer)
        case "limits.sessions": return Self.read(value, 1...1_000_000, into: &sessions)
        case "limits.kdf_queue": return Self.read(value, 1...65_536, into: &kdfQueue)
        case "login.owners":
            guard value != "(nobody)" else {
                loginOwners = []
                return true
            }
            let owners = value.split(separator: ",", omittingEmptySubsequences: false)
                .map { Owner(Self.trimmed($0)) }
            loginOwners = owners.compactMap(\.self)
            return loginOwners.count == owners.count && Set(loginOwners).count == owners.count
        default:
            guard name.hasPrefix("endpoint."), let service = ServiceName(String(name.dropFirst(9))),
                value.hasPrefix("tcp://") || value.hasPrefix("ipc:///")
            else { return false }
            endpoints[service] = value
            return true
        }
    }

    private static func read(_ text: String, _ range: ClosedRange<Int>, into value: inout Int)
        -> Bool
    {
        guard let number = Int(text), range.contains(number) else { return false }
        value = number
        return true
    }

    private static func trimmed(_ text: Substring) -> String {
        var text = text
        while text.first?.isWhitespace == true { text.removeFirst() }
        while text.last?.isWhitespace == true { text.removeLast() }
        return String(text)
    }

    /// Nil for a file that is not there.
    private static func contents(of path: String) throws(SettingsError) -> [UInt8]? {
        // Not to wait for the other end of a pipe.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            if errno == ENOENT { return nil }
            throw SettingsError(sentence: "\(path) cannot be read.")
        }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw SettingsError(sentence: "\(path) is no ordinary file.")
        }
        var bytes = [UInt8](repeating: 0, count: sizeLimit + 1)
        var filled = 0
        while filled < bytes.count {
            let got = bytes[filled...].withUnsafeMutableBytes {
                Glibc.read(descriptor, $0.baseAddress, $0.count)
            }
            guard got >= 0 else { throw SettingsError(sentence: "\(path) cannot be read.") }
            guard got > 0 else { break }
            filled += got
        }
        guard filled <= sizeLimit else {
            throw SettingsError(sentence: "\(path) is larger than \(sizeLimit) bytes.")
        }
        return Array(bytes[..<filled])
    }
}
