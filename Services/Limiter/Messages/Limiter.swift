public import Wire

/// The attempt limiter: counts every use of an owner's device secret before it answers.
public enum Limiter: ServiceTag {
    public static var service: ServiceName { .attemptLimiter }
}

extension Callers {
    /// Only the authority: the limiter has one caller.
    static var authority: Callers { Callers(services: [.credentialAuthority]) }
}

/// One enrolment of an owner: drawn when the device secret is made.
public typealias EnrolmentID = Identifier<Enrol>
/// One charged attempt.
public typealias AttemptID = Identifier<Begin>
