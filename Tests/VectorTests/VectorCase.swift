import Wire

/// One case of a vector file; see Tests/Vectors/README.md.
struct VectorCase: Sendable {
    let area: String
    let name: String
    let op: String
    let inputs: JSONObject
    /// What is expected first, then what is acceptable too.
    let outcomes: [Outcome]
    let isNormative: Bool

    init(_ object: JSONObject, area: String) throws {
        try object.refuseUnknownKeys([
            "name", "op", "inputs", "expected", "alsoAcceptable", "normative", "note", "reason",
        ])
        self.area = area
        name = try object.string("name")
        op = try object.string("op")
        inputs = try object.object("inputs")
        let others = try object.optionalObjects("alsoAcceptable") ?? []
        outcomes = try ([object.object("expected")] + others).map(Outcome.init)
        isNormative = try object.optionalBool("normative") ?? true
        _ = try object.string("reason")
        _ = try object.optionalString("note")
    }

    /// The name that is unique among all files of an area.
    var title: String { "\(area):\(name)" }

    /// What is wrong with the answer of an operation; nil if the case holds.
    func fault(
        by operation: Operation, accepted: [String: String] = acceptedDifferences
    ) -> String? {
        do {
            try inputs.refuseUnknownKeys(operation.inputs)
            let answer = try operation.run(inputs)
            let holds = outcomes.contains { operation.holds($0, answer) }
            guard accepted[title] != nil, !isNormative else {
                return holds ? nil : "\(title) (\(op)): expected \(outcomes[0]), got \(answer)"
            }
            return holds ? "\(title) is listed as a difference and does not differ" : nil
        } catch {
            return "\(title) (\(op)) did not run: \(error)"
        }
    }
}
