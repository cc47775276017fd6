internal import Glibc

/// Why a file was not written; nothing of it is left.
public enum WholeFileError: Error, Equatable, Sendable, CustomStringConvertible {
    /// Something has this name already, and nothing is replaced.
    case exists(path: String)
    /// The operating system refused, with this error number.
    case notWritten(path: String, code: Int32)
    /// What was read back is not what was written.
    case differs(path: String)

    /// A sentence without a full stop.
    public var description: String {
        switch self {
        case .exists(let path): "\(path) exists already and is not replaced"
        case .notWritten(let path, let code):
            "\(path) cannot be written: \(String(cString: strerror(code)))"
        case .differs(let path): "\(path) does not read back as it was written"
        }
    }

    /// The same, with a folder named as the caller knows it where its unfinished one is meant.
    func naming(_ folder: String, for part: String) -> WholeFileError {
        func named(_ path: String) -> String {
            guard path == part || path.hasPrefix("\(part)/") else { return path }
            return folder + path.dropFirst(part.count)
        }
        return switch self {
        case .exists(let path): .exists(path: named(path))
        case .notWritten(let path, let code): .notWritten(path: named(path), code: code)
        case .differs(let path): .differs(path: named(path))
        }
    }
}
