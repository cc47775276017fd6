internal import Wire

/// Says how a command went: as text, or as one JSON object on standard output.
struct Printer {
    let wantsJSON: Bool
    let output: Int32
    let complaints: Int32

    func show(_ report: Report, notes: [String]) {
        guard !wantsJSON else { return Output.line(report.json(notes: notes), to: output) }
        for note in notes { Output.line("coffer: \(note)", to: complaints) }
        if !report.text.isEmpty { Output.line(report.text, to: output) }
    }

    func show(_ failure: CommandFailure) {
        guard !wantsJSON else { return Output.line(failure.json(), to: output) }
        let message = ShownText.printable(failure.refusal.message)
        Output.line("coffer: \(message) (\(failure.code))", to: complaints)
    }

    /// Makes ready what a signal leaves behind.
    ///
    /// - Parameter change: the service and the key of a change under way, whose outcome the signal
    ///   leaves open.
    func announceInterruption(
        of change: (service: ServiceName, key: IdempotencyKey)? = nil
    ) {
        var failure = CommandFailure(.interrupted)
        if let (service, key) = change {
            failure.refusal.outcome = .unknown
            failure.refusal.message +=
                " `coffer outcome \(service.prefix) \(key.text)` tells whether the change was "
                + "made."
        }
        if wantsJSON {
            Interruption.announce(failure.json(), to: output)
        } else {
            Interruption.announce(
                Array("coffer: \(failure.refusal.message)".utf8), to: complaints)
        }
    }
}
