internal import Wire

/// What a command has to say when it is done.
struct Report {
    /// For people; without a line feed at the end, empty for nothing.
    var text: String
    /// The members of the one object that `--json` shows.
    var members: (inout JSONWriter) -> Void
    /// Other than ``ExitCode/done`` where the answer itself is bad news.
    var exitCode: ExitCode

    init(
        _ text: String, exitCode: ExitCode = .done,
        members: @escaping (inout JSONWriter) -> Void = { _ in }
    ) {
        self.text = text
        self.exitCode = exitCode
        self.members = members
    }

    /// A report whose JSON form is a message as it came.
    init(_ text: String, _ message: some Message) {
        self.init(text) { message.write(to: &$0) }
    }

    /// The one JSON object, with what was noted on the way.
    func json(notes: [String]) -> [UInt8] {
        var writer = JSONWriter()
        members(&writer)
        if !notes.isEmpty { writer.strings("notes", notes) }
        return writer.finish()
    }
}
