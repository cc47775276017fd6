internal import Glibc

/// A private folder that goes, with all that is in it, when the last holder lets go.
public final class TemporaryFolder: Sendable {
    /// Where the system refuses a folder.
    public struct Refused: Error {}

    public let path: String

    /// - Parameter inMemory: whether it may lie in a memory file system, where a sync costs
    ///   nothing: for tests of many small commits.
    public init(inMemory: Bool = false) throws(Refused) {
        let parent = inMemory && access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp"
        var template = Array("\(parent)/coffer-test-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw Refused() }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit { removeTree(path) }

    /// The path of an entry of the folder.
    public func path(of name: String) -> String { "\(path)/\(name)" }

    /// The names in a folder, sorted; none where there is no folder.
    public static func names(in path: String) -> [String] {
        guard let list = opendir(path) else { return [] }
        defer { closedir(list) }
        var names: [String] = []
        while let entry = readdir(list) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names.sorted()
    }
}

/// Links are removed, not followed.
private func removeTree(_ path: String) {
    for name in TemporaryFolder.names(in: path) {
        let entry = "\(path)/\(name)"
        if unlink(entry) != 0 { removeTree(entry) }
    }
    rmdir(path)
}
