import Glibc
import Loop
import Simulation

@main
struct Main {
    static func main() {
        guard let request = SimulateRequest(Array(CommandLine.arguments.dropFirst())) else {
            print("usage: simulate --seeds A..B [--until-broken]")
            exit(2)
        }
        ServiceLoop.queue.claim {}
        var injected = Injected()
        var broken = 0
        var acts = 0
        var steps = 0
        for seed in request.seeds {
            let result = Simulation(seed: seed).run()
            injected.add(result.injected)
            acts += result.acts
            steps += result.steps
            guard !result.broken.isEmpty else { continue }
            broken += 1
            for sentence in result.broken {
                print("seed \(seed), \(result.steps) steps: \(sentence)")
            }
            print("again: deploy/simulate --seeds \(seed)..\(seed)")
            if request.endsAtFirst { break }
        }
        print("\(request.seeds.count) seeds, \(broken) broken, \(acts) acts, \(steps) steps")
        print(injected.lines.joined(separator: "\n"))
        exit(broken == 0 ? 0 : 1)
    }
}
