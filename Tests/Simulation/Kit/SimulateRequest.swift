/// What the program is asked for on its command line.
public struct SimulateRequest: Equatable, Sendable {
    public private(set) var seeds: ClosedRange<UInt64> = 1...1
    public private(set) var endsAtFirst = false
    public private(set) var workload = Workload.life
    /// After how many minutes no further seed is begun; nil for never.
    public private(set) var minutes: UInt64?
    /// Where the report goes as JSON.
    public private(set) var reportPath: String?

    public static let usage =
        """
        usage: simulate --seeds A..B [--workload life|credential] [--until-broken] [--minutes N] \
        [--json FILE]
        """

    /// Nil where the arguments are not as ``usage`` has them.
    public init?(_ arguments: [String]) {
        var hasSeeds = false
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            switch argument {
            case "--seeds":
                let ends = (rest.popFirst() ?? "").split(separator: ".").compactMap { UInt64($0) }
                guard ends.count == 2, ends[0] <= ends[1] else { return nil }
                seeds = ends[0]...ends[1]
                hasSeeds = true
            case "--minutes":
                guard let count = rest.popFirst().flatMap({ UInt64($0) }) else { return nil }
                minutes = count
            case "--workload":
                guard let one = rest.popFirst().flatMap({ Workload(rawValue: $0) }) else {
                    return nil
                }
                workload = one
            case "--json":
                guard let path = rest.popFirst() else { return nil }
                reportPath = path
            case "--until-broken": endsAtFirst = true
            default: return nil
            }
        }
        guard hasSeeds else { return nil }
    }
}
