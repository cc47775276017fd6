internal import Glibc
public import Wire

/// The folder of one installation, and where everything of it lies.
///
///     coffer.conf                     settings
///     keys/<name>.key[_secret]        CURVE key pairs of the services and of the command
///     peers/<name>.key                who may connect, and what for
///     state/<service>/                what a service keeps
///     run/                            sockets
///     log/<service>/                  logs, kept by the supervisor
public struct Home: Sendable, Equatable {
    public let path: String

    public init(path: String) { self.path = path }

    /// `$COFFER_HOME`, else `$XDG_DATA_HOME/coffer`, else `~/.local/share/coffer`.
    public static func fromEnvironment() -> Home? {
        if let path = variable("COFFER_HOME") { return Home(path: path) }
        if let data = variable("XDG_DATA_HOME") { return Home(path: data + "/coffer") }
        if let user = variable("HOME") { return Home(path: user + "/.local/share/coffer") }
        return nil
    }

    public var settingsPath: String { path + "/coffer.conf" }
    public var peersPath: String { path + "/peers" }
    public var keysPath: String { path + "/keys" }

    public func publicKeyPath(of name: String) -> String { "\(keysPath)/\(name).key" }
    public func secretKeyPath(of name: String) -> String { "\(keysPath)/\(name).key_secret" }
    /// Holds a folder for each service's state.
    public var statesPath: String { path + "/state" }
    /// Holds a folder for each service's log, where a supervisor keeps them in the home.
    public var logsPath: String { path + "/log" }
    public func statePath(of service: ServiceName) -> String { "\(statesPath)/\(service.text)" }
    public func storePath(of service: ServiceName) -> String {
        "\(statePath(of: service))/\(Self.storeName)"
    }
    /// What a service's store is called in its folder.
    public static let storeName = "store.sqlite"

    private static func variable(_ name: String) -> String? {
        guard let value = getenv(name), value.pointee != 0 else { return nil }
        return String(cString: value)
    }
}
