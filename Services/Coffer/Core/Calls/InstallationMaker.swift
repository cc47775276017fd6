internal import Bus
internal import Glibc
internal import Home
internal import Wire

/// Makes an installation, or what is missing of one, and overwrites nothing.
struct InstallationMaker {
    let home: Home
    /// What was made, in order.
    private(set) var made: [String] = []

    init(home: Home) { self.home = home }

    /// - Parameter runPath: where the sockets are to be, for a new `coffer.conf`.
    mutating func make(runPath: String?) throws(CommandFailure) {
        try makeParents(of: home.path)
        try makeFolder(home.path)
        try HomeLock.holding(home) { () throws(CommandFailure) in
            try makeSettings(runPath: runPath)
            try makeFolders()
            try makeKeys()
        }
    }

    // MARK: Folders

    private mutating func makeFolders() throws(CommandFailure) {
        let settings = try readSettings()
        for service in KnownServices.names {
            // The longest path of each is refused now, not when the service starts.
            for text in [settings.endpoint(of: service), settings.eventsEndpoint(of: service)] {
                do throws(EndpointError) {
                    _ = try Endpoint(checking: text)
                } catch {
                    throw CommandFailure(
                        .installation,
                        "\(text): \(error). Set `run` in \(home.settingsPath) to a shorter path, "
                            + "such as /run/user/UID/coffer.")
                }
            }
        }
        var paths = [home.keysPath, home.peersPath, settings.runPath]
        paths += ["state", "log"].flatMap { folder in
            ["\(home.path)/\(folder)"]
                + KnownServices.names.map { "\(home.path)/\(folder)/\($0.text)" }
        }
        for path in paths { try makeFolder(path) }
    }

    /// A folder that is there is used only where a service would use it: nobody else may enter it,
    /// or root owns it and lets a group in, as in the packaged deployment.
    private mutating func makeFolder(_ path: String) throws(CommandFailure) {
        if mkdir(path, 0o700) == 0 {
            made.append(path)
            return
        }
        let code = errno
        guard code == EEXIST else {
            throw CommandFailure(
                .installation, "\(path) cannot be made: \(String(cString: strerror(code))).")
        }
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
            throw CommandFailure(.installation, "\(path) is no folder.")
        }
        let isShared = status.st_uid == 0 && status.st_mode & 0o7777 == Self.sharedRunMode
        let loose: mode_t = status.st_uid == 0 ? 0o027 : 0o077
        guard isShared || status.st_mode & loose == 0 else {
            throw CommandFailure(
                .installation,
                "\(path) has mode 0\(String(status.st_mode & 0o7777, radix: 8)); wanted is 0700: "
                    + "`chmod 700 \(path)`.")
        }
    }

    /// Of root's run folder for a group.
    private static let sharedRunMode: mode_t = 0o3770

    private func makeParents(of path: String) throws(CommandFailure) {
        var end = path.startIndex
        while let slash = path[end...].firstIndex(of: "/") {
            end = path.index(after: slash)
            let parent = String(path[..<slash])
            guard !parent.isEmpty, mkdir(parent, 0o700) != 0, errno != EEXIST else { continue }
            // A parent that cannot be made is told by what cannot be made in it.
            guard access(parent, F_OK) != 0 else { continue }
            throw CommandFailure(.installation, "\(parent) cannot be made.")
        }
    }

    // MARK: Settings

    private mutating func makeSettings(runPath: String?) throws(CommandFailure) {
        if let runPath, !runPath.hasPrefix("/") { throw .usage("--run wants an absolute path.") }
        let path = home.settingsPath
        let file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard file >= 0 else {
            if errno == EEXIST { return }
            throw CommandFailure(.installation, "\(path) cannot be made.")
        }
        defer { close(file) }
        let text = Array(settingsText(runPath: runPath).utf8)
        let count = text.withUnsafeBytes { write(file, $0.baseAddress, $0.count) }
        guard count == text.count, fsync(file) == 0 else {
            unlink(path)
            throw CommandFailure(.installation, "\(path) cannot be written.")
        }
        made.append(path)
    }

    /// Every setting with its default, each a comment until somebody changes it.
    private func settingsText(runPath: String?) -> String {
        let defaults = Settings(home: home)
        return """
            # Settings of this installation: lines `name = value`; `#` begins a comment.
            # A service reads them when it starts.

            # Where the sockets are; the path of each may have 107 bytes.
            \(runPath.map { "run = \($0)" } ?? "# run = \(defaults.runPath)")

            # What a passcode check should take, in milliseconds of key derivation.
            # kdf_target_ms = \(defaults.kdfTargetMilliseconds)

            # The PKCS #11 module of hardware tokens: a path, or what p11-kit is set up with.
            # device_module = \(defaults.deviceModule)

            # Whose wallets are locked with the screen and before sleep: owners, with commas.
            # login.owners = (nobody)

            # What a service takes before it answers `bus.busy`.
            # limits.in_flight_per_peer = \(defaults.inFlightPerPeer)
            # limits.in_flight = \(defaults.inFlight)
            # limits.unsettled_per_peer = \(defaults.unsettledPerPeer)
            # limits.sessions = \(defaults.sessions)
            # limits.kdf_queue = \(defaults.kdfQueue)

            """
    }

    private func readSettings() throws(CommandFailure) -> Settings {
        do throws(SettingsError) {
            return try Settings.read(of: home)
        } catch {
            throw CommandFailure(.installation, error.sentence)
        }
    }

    // MARK: Keys and peers

    private mutating func makeKeys() throws(CommandFailure) {
        for service in KnownServices.names {
            try makePeer(service.text, role: .service(service), owners: .all, mayDestroy: false)
        }
        guard let local = Owner("local") else { throw CommandFailure(.internalError) }
        try makePeer(
            ClientInstallation.name, role: .app, owners: .some([local]), mayDestroy: true)
    }

    private mutating func makePeer(
        _ name: String, role: Role, owners: OwnerSet, mayDestroy: Bool
    ) throws(CommandFailure) {
        let folder = home.keysPath
        let pair = try CommandFailure.naming(.installation) { () throws(CertificateError) in
            try KeyPairFiles.keep(name: name, in: folder)
        }
        made += pair.made
        try enter(
            PeerEntry(name: name, key: pair.key, role: role, owners: owners, mayDestroy: mayDestroy)
        )
    }

    /// Enters a peer; an entry that stands there stays as it is, whatever it allows.
    private mutating func enter(_ entry: PeerEntry) throws(CommandFailure) {
        let folder = PeerFolder(path: home.peersPath)
        let file = "\(entry.name).key"
        let listing = try CommandFailure.naming(.installation) { () throws(PeerFolderError) in
            try folder.list()
        }
        if let problem = listing.problems.first(where: { $0.file == file }) {
            throw CommandFailure(.installation, "\(problem).")
        }
        if let standing = listing.entries.first(where: { $0.name == entry.name }) {
            guard standing.key == entry.key else {
                throw CommandFailure(
                    .installation,
                    "\(home.peersPath)/\(file) has another key than "
                        + "`\(home.publicKeyPath(of: entry.name))`.")
            }
            return
        }
        try CommandFailure.naming(.installation) { () throws(PeerFolderError) in
            try folder.add(entry)
        }
        made.append("\(home.peersPath)/\(file)")
    }
}
