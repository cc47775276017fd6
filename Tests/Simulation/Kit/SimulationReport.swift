internal import Wire

/// What came of many runs, for people and as JSON.
public struct SimulationReport: Sendable {
    public let seeds: ClosedRange<UInt64>
    /// How many of them were run.
    public private(set) var runs = 0
    /// Those that broke a promise, with the first sentence about each.
    public private(set) var broken: [(seed: UInt64, sentence: String)] = []
    private var injected = Injected()
    private var deeds = Deeds()
    private var acts = 0
    private var steps = 0

    public init(of seeds: ClosedRange<UInt64>) { self.seeds = seeds }

    public mutating func add(_ result: Simulation.Result, of seed: UInt64) {
        runs += 1
        injected.add(result.injected)
        deeds.add(result.deeds)
        acts += result.acts
        steps += result.steps
        if let sentence = result.broken.first { broken.append((seed, sentence)) }
    }

    /// For people, a line each.
    public func lines(milliseconds: UInt64) -> [String] {
        ["\(runs) seeds, \(broken.count) broken, \(acts) acts, \(steps) steps, \(milliseconds) ms"]
            + ["done:"] + Deed.allCases.map { "  \(words($0.rawValue)) \(deeds[$0])" }
            + ["injected:"] + Trouble.allCases.map { "  \(words($0.rawValue)) \(injected[$0])" }
    }

    /// One JSON object.
    public func json(milliseconds: UInt64) -> [UInt8] {
        var writer = JSONWriter()
        writer.uint64("first_seed", seeds.lowerBound)
        writer.integer("seeds", runs)
        writer.uint64("milliseconds", milliseconds)
        writer.integer("acts", acts)
        writer.integer("steps", steps)
        writer.objects("broken", broken) { writer, entry in
            writer.uint64("seed", entry.seed)
            writer.string("sentence", entry.sentence)
        }
        writer.object("done") { writer in
            for deed in Deed.allCases { writer.integer(deed.rawValue, deeds[deed]) }
        }
        writer.object("injected") { writer in
            for trouble in Trouble.allCases { writer.integer(trouble.rawValue, injected[trouble]) }
        }
        return writer.finish() + [0x0A]
    }

    private func words(_ name: String) -> String {
        name.split(separator: "_").joined(separator: " ")
    }
}
