internal import Glibc

extension ShownText {
    /// A moment of the wall clock, in UTC, as in "2026-10-03 12:05:00".
    ///
    /// - Parameter seconds: since 1970.
    static func moment(_ seconds: UInt64) -> String {
        var time = time_t(clamping: seconds)
        var parts = tm()
        guard gmtime_r(&time, &parts) != nil else { return "unknown" }
        let fields = [
            Int(parts.tm_year) + 1_900, Int(parts.tm_mon) + 1, Int(parts.tm_mday),
            Int(parts.tm_hour), Int(parts.tm_min), Int(parts.tm_sec),
        ].map { $0 < 10 ? "0\($0)" : String($0) }
        return fields[..<3].joined(separator: "-") + " " + fields[3...].joined(separator: ":")
    }
}
