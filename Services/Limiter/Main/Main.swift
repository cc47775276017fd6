import Hosting
import LimiterCore

@main
struct Main {
    static func main() {
        ServiceProgram<LimiterService>(arriving: LimiterService.raiseCounts) { parts in
            LimiterService(
                group: parts.group, clock: parts.clock, random: parts.random,
                metrics: parts.metrics)
        }.main()
    }
}
