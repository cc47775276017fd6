internal import Glibc

/// Moments for people.
enum ShownTime {
    /// Seconds since 1970 as a date and a time of day, both UTC.
    static func text(_ seconds: UInt64) -> String {
        var moment = time_t(clamping: seconds)
        var parts = tm()
        guard gmtime_r(&moment, &parts) != nil else { return "second \(seconds)" }
        let date = [Int(parts.tm_year) + 1_900, Int(parts.tm_mon) + 1, Int(parts.tm_mday)]
        let day = [Int(parts.tm_hour), Int(parts.tm_min), Int(parts.tm_sec)]
        return joined(date, "-") + " " + joined(day, ":") + " UTC"
    }

    private static func joined(_ numbers: [Int], _ separator: String) -> String {
        numbers.map { $0 < 10 ? "0\($0)" : String($0) }.joined(separator: separator)
    }
}
