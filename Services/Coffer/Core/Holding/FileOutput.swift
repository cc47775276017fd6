internal import WholeFiles

/// Writes files that a command line names, whole or not at all.
extension CommandRun {
    /// Refuses a file that could not be written in the end, before anything is asked or sent.
    func checkNew(_ path: String) throws(CommandFailure) {
        do throws(WholeFileError) {
            try WholeFiles.check(path)
        } catch {
            throw CommandFailure(error)
        }
    }

    func write(_ bytes: [UInt8], to path: String) throws(CommandFailure) {
        do throws(WholeFileError) {
            try WholeFiles.write(bytes, to: path, random: parts.random)
        } catch {
            throw CommandFailure(error)
        }
    }
}

extension CommandFailure {
    init(_ error: WholeFileError) {
        switch error {
        case .exists: self.init(.fileExists, "\(error).")
        case .notWritten, .differs: self.init(.fileNotWritten, "\(error).")
        }
    }
}
