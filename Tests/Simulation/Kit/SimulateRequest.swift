/// What the program is asked for on its command line.
public struct SimulateRequest: Equatable, Sendable {
    public let seeds: ClosedRange<UInt64>
    public let endsAtFirst: Bool

    /// Nil where the arguments are not `--seeds A..B`, with or without `--until-broken`.
    public init?(_ arguments: [String]) {
        var seeds: ClosedRange<UInt64>?
        var endsAtFirst = false
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            switch argument {
            case "--seeds":
                let ends = (rest.popFirst() ?? "").split(separator: ".").compactMap { UInt64($0) }
                guard ends.count == 2, ends[0] <= ends[1] else { return nil }
                seeds = ends[0]...ends[1]
            case "--until-broken": endsAtFirst = true
            default: return nil
            }
        }
        guard let seeds else { return nil }
        self.seeds = seeds
        self.endsAtFirst = endsAtFirst
    }
}
