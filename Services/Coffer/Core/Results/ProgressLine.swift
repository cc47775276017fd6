internal import Glibc

/// Tells how far something is: on a terminal as one line that is written anew, elsewhere with a
/// line for each tenth of it but the last, of which the report tells.
struct ProgressLine {
    private let descriptor: Int32
    private let isTerminal: Bool
    private let isSilent: Bool
    private var shown = ""
    private var lastPart = -1

    private static let parts = 10.0

    /// - Parameters:
    ///   - descriptor: where it goes.
    ///   - isSilent: whether nothing is told, as for `--json`.
    init(to descriptor: Int32, isSilent: Bool) {
        self.descriptor = descriptor
        self.isSilent = isSilent
        isTerminal = isatty(descriptor) == 1
    }

    /// Tells where things stand now.
    mutating func show(_ text: String, done: UInt64, of total: UInt64) {
        guard !isSilent, text != shown else { return }
        guard isTerminal else { return showPart(text, done, total) }
        let blanks = String(repeating: " ", count: max(0, shown.count - text.count))
        put("\r\(text)\(blanks)")
        shown = text
    }

    /// Takes the line off the terminal, before something else is written there.
    mutating func clear() {
        guard isTerminal, !shown.isEmpty else { return }
        put("\r\(String(repeating: " ", count: shown.count))\r")
        shown = ""
    }

    private mutating func showPart(_ text: String, _ done: UInt64, _ total: UInt64) {
        guard done < total else { return }
        let part = Int(Double(done) / Double(total) * Self.parts)
        // What is begun again says nothing that was said before.
        guard part > lastPart else { return }
        lastPart = part
        Output.line(text, to: descriptor)
        shown = text
    }

    private func put(_ text: String) { Output.text(text, to: descriptor) }
}
