internal import Wire

/// Says how a command went: as text, or as one JSON object on standard output.
struct Printer {
    let wantsJSON: Bool
    let output: Int32
    let complaints: Int32

    /// - Returns: whether the output was taken; where it was not, that is complained of.
    func show(_ report: Report, notes: [String]) -> Bool {
        guard !wantsJSON else { return put(report.json(notes: notes)) }
        show(notes)
        return report.text.isEmpty || put(Array(report.text.utf8))
    }

    /// What was noted stands whether the command succeeds or not: tries that failed before a right
    /// passcode are told once and never again.
    func show(_ failure: CommandFailure, notes: [String]) {
        guard !wantsJSON else {
            // Where the object is lost, its sentence is not.
            if !put(failure.json(notes: notes)) { complain(failure) }
            return
        }
        show(notes)
        complain(failure)
    }

    private func put(_ bytes: [UInt8]) -> Bool {
        if Output.line(bytes, to: output) { return true }
        complain(CommandFailure(.outputFailed))
        return false
    }

    private func complain(_ failure: CommandFailure) {
        let message = ShownText.printable(failure.refusal.message)
        Output.line("coffer: \(message) (\(failure.code))", to: complaints)
    }

    private func show(_ notes: [String]) {
        for note in notes { Output.line("coffer: \(note)", to: complaints) }
    }

    /// Makes ready what a signal leaves behind.
    ///
    /// - Parameter open: what the signal leaves open; nil where that is nothing.
    func announceInterruption(leaving open: LeftOpen? = nil) {
        var failure = CommandFailure(.interrupted)
        if let open {
            failure.refusal.outcome = .unknown
            failure.refusal.message += " \(open.sentence)"
        }
        if wantsJSON {
            Interruption.announce(failure.json(), to: output)
        } else {
            Interruption.announce(
                Array("coffer: \(failure.refusal.message)".utf8), to: complaints)
        }
    }
}
