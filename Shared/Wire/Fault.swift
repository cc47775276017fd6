/// An error that can leave a service.
///
/// A fault with values of its own gives its refusal and its catalogue itself; one that is a plain
/// list of codes conforms to `NamedFault`.
public protocol Fault: Error, Sendable {
    /// What the caller is told.
    var refusal: Refusal { get }
    /// All that this type can be, for the list of errors in the documentation.
    static var catalogue: [FaultDescription] { get }
}

/// One line of the list of errors.
public struct FaultDescription: Equatable, Sendable {
    public let code: String
    /// What it means and what a person can do about it.
    public let meaning: String
    public let outcome: Outcome

    public init(code: String, meaning: String, outcome: Outcome) {
        self.code = code
        self.meaning = meaning
        self.outcome = outcome
    }
}

/// A fault that is one of a list of codes, which are its raw values.
public protocol NamedFault: Fault, CaseIterable, RawRepresentable where RawValue == String {
    /// What it means and what a person can do about it.
    var meaning: String { get }
    /// By default nothing happened.
    var outcome: Outcome { get }
    /// By default waiting does not help.
    var retryAfterMilliseconds: UInt64? { get }
}

extension NamedFault {
    public var outcome: Outcome { .rejected }
    public var retryAfterMilliseconds: UInt64? { nil }

    public var refusal: Refusal {
        Refusal(
            code: rawValue, message: meaning, outcome: outcome,
            retryAfterMilliseconds: retryAfterMilliseconds)
    }

    public static var catalogue: [FaultDescription] {
        allCases.map {
            FaultDescription(code: $0.rawValue, meaning: $0.meaning, outcome: $0.outcome)
        }
    }
}
