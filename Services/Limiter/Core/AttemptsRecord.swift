public import Clocks
public import Wire

/// The attempts record of version 1, as the passcode document has it: a JSON object with `count`,
/// `boot` and `deadline`.
public struct AttemptsRecord: Equatable, Sendable {
    /// Why bytes are not a record that can be true now.
    public enum Invalid: Error, Equatable, Sendable {
        /// No JSON object with these members.
        case malformed(JSONError)
        /// The count is not within 0 and ``countLimit``.
        case count
        /// The deadline is negative.
        case deadline
        /// The deadline is of this boot and more than 60 s ahead.
        case tooFarAhead
    }

    /// Where counting stops.
    public static let countLimit = 1_000_000
    /// How far a deadline may lie ahead, in seconds.
    public static let cooldownSeconds = 60.0
    /// How long a record may be, in bytes.
    static let sizeLimit = 4_096

    /// Attempts charged since the count was last lowered.
    public var count: Int
    /// The boot whose clock the deadline is on.
    public var boot: BootID
    /// Seconds of that clock until which nothing is tried; 0 for none.
    public var deadline: Double

    public init(count: Int, boot: BootID, deadline: Double) {
        self.count = count
        self.boot = boot
        self.deadline = deadline
    }

    /// Reads a record as it must be to be believed at a moment.
    ///
    /// A deadline that is null counts as none; one that is absent is an error. Members that the
    /// record does not define are ignored.
    public init(decoding bytes: [UInt8], at now: BootMoment) throws(Invalid) {
        do throws(JSONError) {
            let object = try JSONDocument(bytes, limit: Self.sizeLimit).object()
            count = try object.integer("count")
            boot = BootID(try object.string("boot"))
            guard object.keys.contains("deadline") else { throw .missing("deadline") }
            deadline = try object.optionalNumber("deadline") ?? 0
        } catch {
            throw .malformed(error)
        }
        guard (0...Self.countLimit).contains(count) else { throw .count }
        guard deadline >= 0 else { throw .deadline }
        // Compared in this form the record's own fresh deadlines always pass: rounding is monotone.
        guard boot != now.bootID || deadline <= now.seconds + Self.cooldownSeconds else {
            throw .tooFarAhead
        }
    }

    /// The record's bytes.
    public func encoded() -> [UInt8] {
        var writer = JSONWriter()
        writer.integer("count", count)
        writer.string("boot", boot.text)
        writer.number("deadline", deadline)
        return writer.finish()
    }

    /// The count of a record that cannot be believed otherwise; nil where it cannot be read.
    static func salvagedCount(of bytes: [UInt8]) -> Int? {
        let object = try? JSONDocument(bytes, limit: sizeLimit).object()
        return try? object?.integer("count")
    }
}
