internal import Glibc
public import Secrets

/// A file that is to be.
public struct NewFile: Equatable, Sendable {
    /// Within its folder.
    public let name: String
    public let bytes: [UInt8]

    public init(name: String, bytes: [UInt8]) {
        self.name = name
        self.bytes = bytes
    }
}

/// Writes files whole or not at all, for this user alone (0600), and never over another.
///
/// A file is written under a name that begins with ``WholeFiles/partPrefix``, brought to the disk,
/// read back, and only then gets its own name. What a killed writer leaves has such a name; the
/// next writer in that folder removes it, and nothing that somebody else named alike. A living
/// writer holds a lock on its parts, which keeps them.
public enum WholeFiles {
    /// What the names of unfinished files and folders begin with.
    public static let partPrefix = ".coffer-part-"

    /// Throws where a file of this path could not be written for sure: because it exists, or its
    /// folder does not.
    public static func check(_ path: String) throws(WholeFileError) {
        let place = Place(path)
        let folder = try Folder(place.folder)
        if folder.has(place.name) { throw .exists(path: path) }
    }

    /// What can be done with the path of a folder.
    public enum FolderUse: Sendable {
        /// It is there, and files can be made in it.
        case canBeFilled
        /// It is not there, and can be made.
        case canBeMade
    }

    /// Tries whether files could be written into a folder, or the folder be made with them; nothing
    /// of the trial is left.
    ///
    /// - Throws: where neither is so, as writing would.
    public static func tryFolder(
        _ path: String, random: some RandomSource
    ) throws(WholeFileError) -> FolderUse {
        let place = Place(path)
        let parent = try Folder(place.folder)
        guard !parent.has(place.name) else {
            let folder = try Folder(path)
            do throws(WholeFileError) {
                _ = try PartFile(named: place.name, in: folder, random: random)
            } catch {
                guard case .notWritten(_, let code) = error else { throw error }
                throw .notWritten(path: path, code: code)
            }
            return .canBeFilled
        }
        try PartFolder(place.name, in: parent, random: random).remove([])
        return .canBeMade
    }

    /// Writes one file into a folder that exists.
    public static func write(
        _ bytes: [UInt8], to path: String, random: some RandomSource
    ) throws(WholeFileError) {
        let place = Place(path)
        try write(
            [NewFile(name: place.name, bytes: bytes)], into: place.folder, random: random)
    }

    /// Writes one file, piece by piece, into a folder that exists.
    ///
    /// - Parameters:
    ///   - pieces: hands over the file's bytes, in order.
    ///   - check: reads what was written, from the disk, before it gets its name; throws where it
    ///     is not what it should be.
    /// - Throws: what the closures throw, or ``WholeFileError``; nothing of the file is left then.
    public static func write(
        to path: String, random: some RandomSource,
        pieces: (_ write: (UnsafeRawBufferPointer) throws(WholeFileError) -> Void) throws -> Void,
        check: (_ read: (_ count: Int, _ offset: Int) throws(WholeFileError) -> [UInt8]) throws ->
            Void
    ) throws {
        let place = Place(path)
        let folder = try Folder(place.folder)
        folder.sweep()
        if folder.has(place.name) { throw WholeFileError.exists(path: path) }
        let part = try PartFile(named: place.name, in: folder, random: random)
        try pieces { (bytes) throws(WholeFileError) in try part.write(bytes) }
        try part.flush()
        try check { (count, offset) throws(WholeFileError) in
            try part.read(count, at: offset)
        }
        do {
            try part.settle()
            try folder.flush()
        } catch {
            part.remove()
            throw error
        }
    }

    /// Gives each of two entries of a folder the other's name, at one instant and durably.
    public static func exchange(
        _ one: String, with other: String, in folder: String
    ) throws(WholeFileError) {
        let folder = try Folder(folder)
        try folder.exchange(one, other)
        try folder.flush()
    }

    /// Gives an entry of a folder a name that nothing has, durably.
    public static func rename(
        _ old: String, to new: String, in folder: String
    ) throws(WholeFileError) {
        let folder = try Folder(folder)
        try folder.rename(old, to: new)
        try folder.flush()
    }

    /// Writes a file and, beside it, one with `.pub` after its name: both or none.
    public static func write(
        _ bytes: [UInt8], beside publicBytes: [UInt8], to path: String, random: some RandomSource
    ) throws(WholeFileError) {
        let place = Place(path)
        try write(
            [
                NewFile(name: place.name, bytes: bytes),
                NewFile(name: "\(place.name).pub", bytes: publicBytes),
            ], into: place.folder, random: random)
    }

    /// Writes files into a folder that exists: one after the other gets its name when all are on
    /// the disk, and where one does not, none keeps it.
    public static func write(
        _ files: [NewFile], into path: String, random: some RandomSource
    ) throws(WholeFileError) {
        let folder = try Folder(path)
        folder.sweep()
        for file in files where folder.has(file.name) {
            throw .exists(path: folder.path(of: file.name))
        }
        var parts: [PartFile] = []
        for file in files { parts.append(try PartFile(file, in: folder, random: random)) }
        do throws(WholeFileError) {
            for part in parts { try part.settle() }
            try folder.flush()
        } catch {
            for part in parts { part.remove() }
            throw error
        }
    }

    /// Makes a folder (0700) that appears with all of these files at one instant.
    ///
    /// Throws ``WholeFileError/exists(path:)`` where something has its name by then: files that
    /// belong together do not come to stand among those of another writer.
    public static func write(
        _ files: [NewFile], asFolder path: String, random: some RandomSource
    ) throws(WholeFileError) {
        let place = Place(path)
        let parent = try Folder(place.folder)
        if parent.has(place.name) { throw .exists(path: path) }
        parent.sweep()
        let part = try PartFolder(place.name, in: parent, random: random)
        do throws(WholeFileError) {
            try write(files, into: part.path, random: random)
            try part.settle()
            try parent.flush()
        } catch {
            part.remove(files.map(\.name))
            throw error.naming(parent.path(of: place.name), for: part.path)
        }
    }
}

/// A path as a folder and a name in it.
struct Place {
    let folder: String
    let name: String

    init(_ path: String) {
        var path = path[...]
        while path.count > 1, path.last == "/" { path = path.dropLast() }
        guard path != "/" else {
            folder = "/"
            name = "."
            return
        }
        guard let slash = path.lastIndex(of: "/") else {
            folder = "."
            name = String(path)
            return
        }
        let head = path[..<slash]
        folder = head.isEmpty ? "/" : String(head)
        name = String(path[path.index(after: slash)...])
    }
}
