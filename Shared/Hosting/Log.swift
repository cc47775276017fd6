internal import Glibc
public import Wire

/// A line of a service's log: structured, on standard error, for a supervisor to keep.
///
/// Values are numbers, codes of errors and words of the program's own text. No type here takes
/// bytes or a text that came from a peer, so no secret, token, owner or wallet can be written by
/// mistake.
public struct Log: Sendable {
    /// How grave a line is.
    public enum Level: String, Sendable {
        case info
        case warning
        case error
    }

    /// What may stand in a line.
    public enum Value: Sendable {
        case number(Int)
        case word(StaticString)
        /// The code of an error, as `docs/errors.md` lists them.
        case code(String)
        /// A path or sentence of this installation, for the start only.
        case place(String)
    }

    private let service: ServiceName

    public init(service: ServiceName) { self.service = service }

    public func info(_ event: StaticString, _ fields: KeyValuePairs<StaticString, Value> = [:]) {
        write(.info, event, fields)
    }

    public func warning(
        _ event: StaticString, _ fields: KeyValuePairs<StaticString, Value> = [:]
    ) {
        write(.warning, event, fields)
    }

    public func error(_ event: StaticString, _ fields: KeyValuePairs<StaticString, Value> = [:]) {
        write(.error, event, fields)
    }

    private func write(
        _ level: Level, _ event: StaticString, _ fields: KeyValuePairs<StaticString, Value>
    ) {
        var writer = JSONWriter()
        writer.string("time", Self.timestamp())
        writer.string("level", level.rawValue)
        writer.string("service", service.text)
        writer.string("event", event.description)
        for (name, value) in fields {
            switch value {
            case .number(let number): writer.integer(name.description, number)
            case .word(let word): writer.string(name.description, word.description)
            case .code(let text), .place(let text): writer.string(name.description, text)
            }
        }
        let line = writer.finish() + [0x0A]
        _ = line.withUnsafeBytes { Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }

    /// RFC 3339, UTC, milliseconds.
    private static func timestamp() -> String {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        var parts = tm()
        gmtime_r(&now.tv_sec, &parts)
        let fields = [
            (Int(parts.tm_year) + 1_900, 4), (Int(parts.tm_mon) + 1, 2), (Int(parts.tm_mday), 2),
            (Int(parts.tm_hour), 2), (Int(parts.tm_min), 2), (Int(parts.tm_sec), 2),
            (now.tv_nsec / 1_000_000, 3),
        ].map { value, width in
            let digits = String(value)
            return String(repeating: "0", count: max(0, width - digits.count)) + digits
        }
        return "\(fields[0])-\(fields[1])-\(fields[2])T"
            + "\(fields[3]):\(fields[4]):\(fields[5]).\(fields[6])Z"
    }
}
