import Glibc
import Loop
import Simulation

@main
struct Main {
    static func main() {
        guard let request = SimulateRequest(Array(CommandLine.arguments.dropFirst())) else {
            print(SimulateRequest.usage)
            exit(2)
        }
        ServiceLoop.queue.claim {}
        let begun = ContinuousClock.now
        var report = SimulationReport(of: request.seeds)
        for seed in request.seeds {
            let result = Simulation(seed: seed, request.workload).run()
            report.add(result, of: seed)
            for sentence in result.broken { print("seed \(seed), \(sentence)") }
            if !result.broken.isEmpty {
                print(
                    "again: deploy/simulate --workload \(request.workload.rawValue) "
                        + "--seeds \(seed)..\(seed)")
                // Whoever reads along is to see it now.
                fflush(nil)
                if request.endsAtFirst { break }
            }
            if let limit = request.minutes, milliseconds(since: begun) >= limit * 60_000 { break }
        }
        let milliseconds = milliseconds(since: begun)
        print(report.lines(milliseconds: milliseconds).joined(separator: "\n"))
        if let path = request.reportPath {
            write(report.json(milliseconds: milliseconds), to: path)
        }
        exit(report.broken.isEmpty ? 0 : 1)
    }

    private static func milliseconds(since moment: ContinuousClock.Instant) -> UInt64 {
        UInt64(moment.duration(to: .now) / .milliseconds(1))
    }

    private static func write(_ bytes: [UInt8], to path: String) {
        guard let file = fopen(path, "w"), fwrite(bytes, 1, bytes.count, file) == bytes.count,
            fclose(file) == 0
        else {
            print("\(path) cannot be written")
            exit(3)
        }
    }
}
