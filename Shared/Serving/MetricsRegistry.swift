public import Loop

/// What a service counted, as Prometheus text.
///
/// Labels are names of methods and codes of errors: never an owner, a wallet or a peer.
@ServiceLoop
public final class MetricsRegistry {
    private struct Duration {
        var count: UInt64 = 0
        var nanoseconds: UInt64 = 0
        var buckets = [UInt64](repeating: 0, count: MetricsRegistry.bounds.count)

        mutating func add(_ more: UInt64) {
            count += 1
            nanoseconds += more
            let seconds = Double(more) / 1e9
            for (index, bound) in MetricsRegistry.bounds.enumerated() where seconds <= bound {
                buckets[index] += 1
            }
        }
    }

    /// Upper bounds of the duration buckets, in seconds.
    private nonisolated static let bounds: [Double] = [
        0.000_1, 0.000_3, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10,
    ]

    private var requests: [String: [String: UInt64]] = [:]
    private var durations: [String: Duration] = [:]
    private var counters: [String: UInt64] = [:]
    private var sources: [@ServiceLoop () -> [Counter]] = []

    public init() {}

    /// Counts a request by its method and what came of it (`ok` or an error's code).
    func count(method: String, result: String, nanoseconds: UInt64) {
        requests[method, default: [:]][result, default: 0] += 1
        durations[method, default: Duration()].add(nanoseconds)
    }

    /// Counts an event, by a name such as `kdf_runs`.
    public func count(_ name: String) { counters[name, default: 0] += 1 }

    /// How often an event was counted.
    public func value(of name: String) -> UInt64 { counters[name] ?? 0 }

    /// Has counters that are kept elsewhere read whenever the metrics are asked for.
    public func add(source: @escaping @ServiceLoop () -> [Counter]) { sources.append(source) }

    func text(gauges: [Gauge]) -> String {
        var lines: [String] = []
        lines.append("# HELP coffer_requests_total Requests by method and result.")
        lines.append("# TYPE coffer_requests_total counter")
        for (method, results) in requests.sorted(by: { $0.key < $1.key }) {
            for (result, count) in results.sorted(by: { $0.key < $1.key }) {
                lines.append(
                    "coffer_requests_total{method=\"\(method)\",result=\"\(result)\"} \(count)")
            }
        }
        lines.append("# HELP coffer_request_seconds Time from receipt to answer.")
        lines.append("# TYPE coffer_request_seconds histogram")
        for (method, duration) in durations.sorted(by: { $0.key < $1.key }) {
            lines += durationLines(method, duration)
        }
        for (name, count) in counters.sorted(by: { $0.key < $1.key }) {
            lines.append("# TYPE coffer_\(name)_total counter")
            lines.append("coffer_\(name)_total \(count)")
        }
        for counter in sources.flatMap({ $0() }) {
            lines.append("# HELP coffer_\(counter.name)_total \(counter.help)")
            lines.append("# TYPE coffer_\(counter.name)_total counter")
            lines.append("coffer_\(counter.name)_total \(counter.value)")
        }
        for gauge in gauges {
            lines.append("# HELP coffer_\(gauge.name) \(gauge.help)")
            lines.append("# TYPE coffer_\(gauge.name) gauge")
            lines.append("coffer_\(gauge.name) \(gauge.value)")
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private func durationLines(_ method: String, _ duration: Duration) -> [String] {
        let name = "coffer_request_seconds"
        var lines = zip(Self.bounds, duration.buckets).map { bound, count in
            "\(name)_bucket{method=\"\(method)\",le=\"\(bound)\"} \(count)"
        }
        lines.append("\(name)_bucket{method=\"\(method)\",le=\"+Inf\"} \(duration.count)")
        lines.append("\(name)_sum{method=\"\(method)\"} \(Double(duration.nanoseconds) / 1e9)")
        lines.append("\(name)_count{method=\"\(method)\"} \(duration.count)")
        return lines
    }
}

/// A number that only goes up, kept outside the registry.
public struct Counter: Sendable, Equatable {
    /// Without the prefix and suffix that every counter's name gets.
    public var name: String
    public var help: String
    public var value: UInt64

    public init(_ name: String, _ value: UInt64, help: String) {
        self.name = name
        self.help = help
        self.value = value
    }
}
