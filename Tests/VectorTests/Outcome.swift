import Wire

/// What a case asks for, or what the code answered.
enum Outcome: Sendable, CustomStringConvertible {
    case ok(Value)
    /// A refusal under the vectors' name for it.
    case error(Refused)

    /// `{"ok": value}` or `{"error": category}`, and no other member.
    init(_ object: JSONObject) throws {
        guard object.keys.count == 1 else { throw VectorProblem("an outcome has one member") }
        if object.keys == ["ok"] {
            self = .ok(try object.value("ok").map(Value.init) ?? .null)
        } else {
            self = .error(Refused(category: try object.string("error")))
        }
    }

    var description: String {
        switch self {
        case .ok(let value): "ok \(value)"
        case .error(let refused): "error \(refused.rawValue)"
        }
    }
}

/// Refusals that must be told apart: the vectors' other categories are names of their maker's own.
enum Refused: String, Sendable {
    /// Counts as an attempt.
    case invalidCode
    case cooldown
    /// Everything else; never counts.
    case other

    init(category: String) { self = Refused(rawValue: category) ?? .other }
}

/// Why a vector file or case cannot be run.
struct VectorProblem: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}
