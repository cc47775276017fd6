internal import Glibc
public import Wire

/// The folder of certificates that says who may connect: one `name.key` a peer.
///
/// Metadata of a certificate: `role` (as `Role` reads it), `owners` (`*`, or owners with a comma
/// between each two; none where it is missing), `destroy` (`yes` or `no`; no where it is missing).
/// Others may stand there and mean nothing. The name of the file is the name of the peer.
public struct PeerFolder: Sendable {
    public let path: String

    public init(path: String) { self.path = path }

    /// Enters a peer, whole or not at all.
    ///
    /// Refused: a name that is taken, and a key that another entry has, because both would then be
    /// refused.
    public func add(_ entry: PeerEntry) throws(PeerFolderError) {
        guard PeerName.accepts(entry.name) else { throw .invalidName }
        let listing = try list()
        guard !listing.names.contains(entry.name) else { throw .nameTaken(entry.name) }
        if let other = listing.entries.first(where: { $0.key == entry.key }) {
            throw .keyTaken(by: other.name)
        }
        do throws(CertificateError) {
            try CertificateFile.writePublic(
                entry.key, metadata: PeerMetadata.write(entry), to: filePath(entry.name))
        } catch {
            throw .certificate(error)
        }
    }

    /// Removes a peer; his open connections are refused from then on.
    public func remove(_ name: String) throws(PeerFolderError) {
        guard PeerName.accepts(name) else { throw .invalidName }
        let path = filePath(name)
        guard unlink(path) == 0 else {
            throw errno == ENOENT ? .noSuchPeer(name) : .unreadable(path: path, code: errno)
        }
        guard KeyFile.syncFolder(of: path) else {
            throw .unreadable(path: self.path, code: errno)
        }
    }

    /// Reads every entry.
    ///
    /// An entry that is damaged or that others may change is a problem and not an entry; two
    /// entries of one key are two problems.
    public func list() throws(PeerFolderError) -> PeerListing {
        try checkFolder()
        var listing = PeerListing()
        for file in try fileNames() {
            guard file.hasSuffix(Self.suffix) else { continue }
            let name = String(file.dropLast(Self.suffix.count))
            listing.names.insert(name)
            do throws(PeerProblem.Reason) {
                listing.entries.append(try read(name))
            } catch {
                listing.problems.append(PeerProblem(file: file, reason: error))
            }
        }
        listing.refuseSharedKeys()
        return listing
    }

    private static let suffix = ".key"

    private func filePath(_ name: String) -> String { "\(path)/\(name)\(Self.suffix)" }

    private func read(_ name: String) throws(PeerProblem.Reason) -> PeerEntry {
        guard PeerName.accepts(name) else { throw .invalidName }
        let certificate: (key: PeerKey, metadata: [String: String])
        do throws(CertificateError) {
            certificate = try CertificateFile.readPublic(filePath(name), rule: .admission)
        } catch {
            throw .certificate(error)
        }
        guard
            let entry = PeerMetadata.read(
                certificate.metadata, name: name, key: certificate.key)
        else { throw .invalidMetadata }
        return entry
    }

    /// Whoever may write to the folder decides who is admitted.
    private func checkFolder() throws(PeerFolderError) {
        var status = stat()
        guard stat(path, &status) == 0 else { throw .unreadable(path: path, code: errno) }
        guard status.st_mode & S_IFMT == S_IFDIR else {
            throw .unreadable(path: path, code: ENOTDIR)
        }
        let mode = status.st_mode & 0o7777
        guard mode & 0o022 == 0 else { throw .tooOpen(path: path, mode: mode) }
        guard status.st_uid == geteuid() || status.st_uid == 0 else {
            throw .foreignOwner(path: path)
        }
    }

    private func fileNames() throws(PeerFolderError) -> [String] {
        guard let stream = opendir(path) else { throw .unreadable(path: path, code: errno) }
        defer { closedir(stream) }
        var names: [String] = []
        while true {
            errno = 0
            guard let item = readdir(stream) else { break }
            names.append(
                withUnsafeBytes(of: item.pointee.d_name) { bytes in
                    String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
                })
        }
        guard errno == 0 else { throw .unreadable(path: path, code: errno) }
        return names.sorted()
    }
}

/// What a folder of peers holds.
public struct PeerListing: Equatable, Sendable {
    /// The peers that are admitted, in the order of their names.
    public internal(set) var entries: [PeerEntry] = []
    /// The files that admit nobody, and why.
    public internal(set) var problems: [PeerProblem] = []
    /// The names of all files, good or not.
    var names: Set<String> = []

    fileprivate mutating func refuseSharedKeys() {
        let holders = Dictionary(grouping: entries, by: \.key).values.filter { $0.count > 1 }
        for entry in holders.joined() {
            problems.append(PeerProblem(file: "\(entry.name).key", reason: .sharedKey))
        }
        let refused = Set(holders.joined().map(\.key))
        entries.removeAll { refused.contains($0.key) }
    }
}

/// A file in the folder of peers that admits nobody.
public struct PeerProblem: Equatable, Sendable {
    public let file: String
    public let reason: Reason

    public enum Reason: Error, Equatable, Sendable {
        case certificate(CertificateError)
        /// The file's name is not 1 to 64 of `A-Z a-z 0-9 . _ -`, or begins with a dot.
        case invalidName
        /// `role` is missing, or a value is none that is known.
        case invalidMetadata
        /// Another entry has the same key; neither counts.
        case sharedKey
    }
}

extension PeerProblem: CustomStringConvertible {
    public var description: String {
        switch reason {
        case .certificate(let error): "\(error)"
        case .invalidName: "\(file): is not a name for a peer"
        case .invalidMetadata: "\(file): role, owners or destroy are missing or unknown"
        case .sharedKey: "\(file): another entry has the same key, so neither is admitted"
        }
    }
}

/// Why a folder of peers could not be read or changed.
public enum PeerFolderError: Error, Equatable, Sendable {
    case unreadable(path: String, code: Int32)
    /// Others may write to the folder; wanted is 0700, or 0750 of root.
    case tooOpen(path: String, mode: UInt32)
    case foreignOwner(path: String)
    case invalidName
    case nameTaken(String)
    case keyTaken(by: String)
    case noSuchPeer(String)
    case certificate(CertificateError)
}

extension PeerFolderError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .unreadable(let path, let code):
            "\(path): cannot be read or changed: \(String(cString: strerror(code)))"
        case .tooOpen(let path, let mode):
            "\(path): has mode 0\(String(mode, radix: 8)), wanted 0700"
        case .foreignOwner(let path): "\(path): belongs to another user"
        case .invalidName: "a peer's name is 1 to 64 of A-Z a-z 0-9 . _ -, without a leading dot"
        case .nameTaken(let name): "there is a peer of the name \(name)"
        case .keyTaken(let name): "the peer \(name) has this key"
        case .noSuchPeer(let name): "there is no peer of the name \(name)"
        case .certificate(let error): "\(error)"
        }
    }
}

/// Which names peers and their metadata may have.
enum PeerName {
    static func accepts(_ name: String) -> Bool {
        (1...64).contains(name.utf8.count) && name.utf8.first != 0x2E
            && name.utf8.allSatisfy { byte in
                switch byte {
                case 0x41...0x5A, 0x61...0x7A, 0x30...0x39, 0x2E, 0x5F, 0x2D: true
                default: false
                }
            }
    }
}

/// A peer's rights as the metadata of his certificate.
enum PeerMetadata {
    /// Nil where a value is not known: rights are never guessed.
    static func read(_ metadata: [String: String], name: String, key: PeerKey) -> PeerEntry? {
        guard let role = metadata["role"].flatMap({ Role($0) }) else { return nil }
        guard let owners = readOwners(metadata["owners"]) else { return nil }
        guard let mayDestroy = ["yes": true, "no": false][metadata["destroy"] ?? "no"] else {
            return nil
        }
        return PeerEntry(
            name: name, key: key, role: role, owners: owners, mayDestroy: mayDestroy)
    }

    private static func readOwners(_ text: String?) -> OwnerSet? {
        guard let text else { return OwnerSet.some([]) }
        return OwnerSet(text)
    }

    static func write(_ entry: PeerEntry) -> [String: String] {
        var metadata = [
            "name": entry.name, "role": entry.role.text,
            "destroy": entry.mayDestroy ? "yes" : "no",
        ]
        if entry.owners != .some([]) { metadata["owners"] = entry.owners.text }
        return metadata
    }
}
