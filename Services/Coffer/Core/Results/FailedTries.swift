internal import AuthorityMessages
internal import Glibc
internal import Wire

/// Tries that failed, as a person is told of them: a passcode was wrong, or its check broke off.
enum FailedTries {
    /// How many there were, and when and from which peers the newest came.
    static func sentence(_ count: UInt64, _ tries: [FailedTry]) -> String {
        let number = ShownText.count(count, "attempt has", "attempts have")
        var sentence = "\(number) failed since the last right passcode"
        if !tries.isEmpty {
            let newest = UInt64(tries.count) < count ? ", the newest" : ""
            sentence += "\(newest): " + tries.map(text).joined(separator: "; ")
        }
        return sentence + "."
    }

    /// How many are counted; checks that are under way are among them.
    static func counted(_ count: UInt64) -> String {
        let number = ShownText.count(count, "attempt is", "attempts are")
        return "\(number) counted since the last right one."
    }

    /// One row a try.
    static func rows(_ tries: [FailedTry]) -> [[String]] {
        tries.enumerated().map { [$0.offset == 0 ? "tried" : "", text($0.element)] }
    }

    private static func text(_ one: FailedTry) -> String {
        "\(date(one.atMilliseconds)) from \(ShownText.printable(one.peer))"
    }

    /// The second in UTC.
    private static func date(_ milliseconds: UInt64) -> String {
        var seconds = time_t(clamping: milliseconds / 1_000)
        var parts = tm()
        var text = [CChar](repeating: 0, count: 64)
        guard gmtime_r(&seconds, &parts) != nil else { return "an unknown time" }
        let count = strftime(&text, text.count, "%Y-%m-%d %H:%M:%S UTC", &parts)
        return String(decoding: text.prefix(count).map(UInt8.init), as: UTF8.self)
    }
}

extension JSONWriter {
    mutating func failedTries(_ tries: [FailedTry]) {
        objects("tries", tries) { writer, one in one.write(to: &writer) }
    }
}
