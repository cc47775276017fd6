import TestKit

/// The formats in which a test makes a keychain.
enum FileForm: String, CaseIterable, Codable {
    case binary
    case xml
    case lines

    func bytes(of file: LegacyKeychainFile) -> [UInt8] {
        switch self {
        case .binary: file.binary()
        case .xml: file.xml()
        case .lines: file.jsonLines()
        }
    }
}
