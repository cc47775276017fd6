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
}
