public import Wire

/// The attempt limiter: counts every use of an owner's device secret before it answers.
public enum Limiter: ServiceTag {
    public static var service: ServiceName { .attemptLimiter }
}

extension Callers {
    /// Only the authority: the limiter has one caller.
    static var authority: Callers { Callers(services: [.credentialAuthority]) }
}

/// What the limiter calls a thing that it made: 16 random bytes, in lower-case hexadecimal.
public struct RandomID<Named>: TextIdentifier {
    public static var byteCount: Int { 16 }

    public let bytes: [UInt8]

    public init?(_ bytes: [UInt8]) {
        guard bytes.count == Self.byteCount else { return nil }
        self.bytes = bytes
    }

    public init?(_ text: String) {
        guard let bytes = Hex.decode(text) else { return nil }
        self.init(bytes)
    }

    public var text: String { Hex.encode(bytes) }
}

/// One enrolment of an owner: drawn when the device secret is made.
public typealias EnrolmentID = RandomID<Enrol>
/// One charged attempt.
public typealias AttemptID = RandomID<Begin>
