/// Why a state folder is not used.
public enum StateFolderError: Error, Equatable, Sendable {
    /// The folder that should hold it does not exist.
    case noParent(String)
    /// The path, or an entry of the folder, is a symbolic link.
    case symbolicLink(String)
    case notAFolder(String)
    case notAFile(String)
    /// It belongs to another user.
    case foreignOwner(String, found: UInt32, wanted: UInt32)
    /// Others may reach it.
    case loose(String, found: UInt32, wanted: UInt32)
    /// Another process works on it.
    case inUse(String)
    /// The system refused, by `errno`.
    case failed(String, errno: Int32)

    /// What is wrong and what to do about it, for people.
    public var sentence: String {
        switch self {
        case .noParent(let path):
            "\(path) cannot be made: the folder that should hold it does not exist."
        case .symbolicLink(let path):
            "\(path) is a symbolic link: name the place itself."
        case .notAFolder(let path):
            "\(path) is not a folder."
        case .notAFile(let path):
            "\(path) is neither a file nor a folder: take it out of the state folder."
        case .foreignOwner(let path, let found, let wanted):
            "\(path) belongs to user \(found), not to \(wanted): chown \(wanted) \(path)"
        case .loose(let path, let found, let wanted):
            "\(path) has mode 0\(octal(found)), wanted is 0\(octal(wanted)):"
                + " chmod \(octal(wanted)) \(path)"
        case .inUse(let path):
            "\(path) is in use by another process."
        case .failed(let path, let errno):
            "\(path) cannot be used (system error \(errno))."
        }
    }

    private func octal(_ mode: UInt32) -> String { String(mode, radix: 8) }
}
