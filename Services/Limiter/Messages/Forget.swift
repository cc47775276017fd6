public import Wire

/// Destroys all that the limiter has of an owner's enrolment, and voids open challenges.
///
/// It does nothing to another enrolment, so a late copy harms nobody.
public struct Forget: Request, Equatable {
    public static var method: String { "limiter.forget" }
    public static var kind: MethodKind { .repeatable }
    public static var callers: Callers { .authority }
    public static var erases: Bool { true }

    public var enrolment: EnrolmentID

    public init(enrolment: EnrolmentID) { self.enrolment = enrolment }

    public init(from object: JSONObject) throws(JSONError) {
        try object.refuseUnknownKeys(["enrolment"])
        enrolment = try object.identifier("enrolment")
    }

    public func write(to writer: inout JSONWriter) { writer.identifier("enrolment", enrolment) }

    public typealias Reply = Empty
}
