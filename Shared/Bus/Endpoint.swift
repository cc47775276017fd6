public import Wire

/// Where a service listens: `ipc:///path` or `tcp://host:port`.
public struct Endpoint: TextIdentifier {
    /// The longest path of a socket file, in bytes: `sun_path` of unix(7) without its zero byte.
    public static let pathByteLimit = 107

    public let text: String

    /// Nil where ``check(_:)`` finds a fault.
    public init?(_ text: String) {
        guard Self.check(text) == nil else { return nil }
        self.text = text
    }

    /// An endpoint, or what is wrong with it.
    public init(checking text: String) throws(EndpointError) {
        if let fault = Self.check(text) { throw fault }
        self.text = text
    }

    /// The path of the socket file; nil for TCP.
    public var path: String? {
        text.hasPrefix(Self.ipc) ? String(text.dropFirst(Self.ipc.count)) : nil
    }

    private static let ipc = "ipc://"
    private static let tcp = "tcp://"

    private static func check(_ text: String) -> EndpointError? {
        guard text.utf8.allSatisfy({ (0x20...0x7E).contains($0) || $0 >= 0x80 }) else {
            return .malformed
        }
        if text.hasPrefix(ipc) { return checkPath(text.dropFirst(ipc.count)) }
        if text.hasPrefix(tcp) { return checkHost(text.dropFirst(tcp.count)) }
        return .unknownTransport
    }

    private static func checkPath(_ path: Substring) -> EndpointError? {
        // Anything else is relative, or abstract: a name without a file has no mode.
        guard path.hasPrefix("/"), !path.hasSuffix("/") else { return .notAbsolute }
        let count = path.utf8.count
        return count > pathByteLimit ? .pathTooLong(byteCount: count) : nil
    }

    private static func checkHost(_ place: Substring) -> EndpointError? {
        guard let colon = place.lastIndex(of: ":"), colon > place.startIndex,
            !place.utf8.contains(0x20)
        else { return .malformed }
        let port = place[place.index(after: colon)...]
        // The star lets the system choose; the socket tells which it chose.
        guard port == "*" || UInt16(port).map({ $0 > 0 }) == true else { return .malformed }
        return nil
    }
}

/// Why a text is no endpoint.
public enum EndpointError: Error, Equatable, Sendable {
    case unknownTransport
    case malformed
    /// A socket file's path begins with `/` and names a file.
    case notAbsolute
    /// At most ``Endpoint/pathByteLimit`` bytes.
    case pathTooLong(byteCount: Int)
}

extension EndpointError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .unknownTransport: "an endpoint begins with ipc:// or tcp://"
        case .malformed: "an endpoint is ipc:///path or tcp://host:port"
        case .notAbsolute: "the path of a socket file begins with / and names a file"
        case .pathTooLong(let count):
            "the path of the socket file has \(count) bytes, at most "
                + "\(Endpoint.pathByteLimit) are possible"
        }
    }
}
