internal import Bus
internal import Glibc
internal import Home
internal import Serving
internal import Wire

/// The settings, keys and folders that one service of an installation runs with, checked.
struct Installation {
    let home: Home
    let service: ServiceName
    let settings: Settings
    let identity: CurveKeyPair
    /// The pinned keys of the services that this one calls.
    let serverKeys: [ServiceName: PeerKey]
    let endpoint: Endpoint
    let events: Endpoint
    /// Whether services with users of their own have one run folder, and so sockets for a group.
    let sharesRunFolder: Bool

    /// Of root's run folder for a group: its members make sockets, which are the group's
    /// (set-group-id), and remove no other's (sticky).
    private static let sharedMode: mode_t = 0o3770

    init(home: Home, service: ServiceName, calls: [ServiceName]) throws(ProgramError) {
        self.home = home
        self.service = service
        do { settings = try Settings.read(of: home) } catch { throw .refused(error.sentence) }
        endpoint = try Self.endpoint(settings.endpoint(of: service))
        events = try Self.endpoint(settings.eventsEndpoint(of: service))
        for path in [home.path, home.keysPath, home.statesPath] { try Self.check(folder: path) }
        if access(home.logsPath, F_OK) == 0 { try Self.check(folder: home.logsPath) }
        sharesRunFolder = Self.isShared(folder: settings.runPath)
        if !sharesRunFolder { try Self.check(folder: settings.runPath) }
        do {
            identity = try CertificateFile.readSecret(home.secretKeyPath(of: service.text))
            var keys: [ServiceName: PeerKey] = [:]
            for name in calls + [service] {
                keys[name] = try CertificateFile.readPublic(home.publicKeyPath(of: name.text)).key
            }
            serverKeys = keys
        } catch {
            throw .refused("\(error).")
        }
    }

    var limits: Limits {
        var limits = Limits()
        limits.inFlight = settings.inFlight
        limits.inFlightPerPeer = settings.inFlightPerPeer
        limits.unsettledPerPeer = settings.unsettledPerPeer
        return limits
    }

    static func endpoint(_ text: String) throws(ProgramError) -> Endpoint {
        do { return try Endpoint(checking: text) } catch { throw .refused("\(text): \(error).") }
    }

    private static func isShared(folder path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
            && status.st_uid == 0 && status.st_mode & 0o7777 == sharedMode
    }

    /// Refuses a folder that others may enter, naming path and wanted mode.
    private static func check(folder path: String) throws(ProgramError) {
        var status = stat()
        guard lstat(path, &status) == 0 else {
            throw .refused("\(path) is missing: `mkdir -m 700 \(path)`.")
        }
        guard status.st_mode & S_IFMT == S_IFDIR else { throw .refused("\(path) is no folder.") }
        let loose = status.st_uid == 0 ? mode_t(0o027) : mode_t(0o077)
        guard status.st_uid == geteuid() || status.st_uid == 0 else {
            throw .refused("\(path) belongs to somebody else.")
        }
        guard status.st_mode & loose == 0 else {
            throw .refused("\(path) is open to others; wanted is mode 0700: `chmod 700 \(path)`.")
        }
    }
}
