internal import Glibc
internal import Secrets
internal import Wire

/// The `coffer` command.
public enum CofferCommand {
    /// Does what the command line says, and ends the process.
    public static func main() -> Never {
        ProcessHardening.apply()
        Interruption.install()
        let code = run(Array(CommandLine.arguments.dropFirst()), verbs: VerbTable.verbs)
        Interruption.restoreTerminal()
        exit(Interruption.status(of: code))
    }

    private static func run(_ line: [String], verbs: [Verb]) -> ExitCode {
        let end = line.firstIndex(of: "--") ?? line.endIndex
        let wantsJSON = line[..<end].contains(CommandOption.json.name)
        let printer = Printer(
            wantsJSON: wantsJSON, output: STDOUT_FILENO, complaints: STDERR_FILENO)
        printer.announceInterruption()
        do throws(CommandFailure) {
            switch try CommandLineParser(verbs: verbs).parse(line) {
            case .help(let topic):
                return conclude(HelpText.report(topic, verbs: verbs), printer)
            case .nothing:
                return conclude(
                    try HelpText.reportOfNothing(asJSON: wantsJSON, verbs: verbs), printer)
            case .run(let invocation):
                _ = try NamedDescriptors(of: invocation)
                NamedDescriptors.occupyStandard()
                let parts = try CommandParts.system(
                    terminalOnly: invocation.has(.noPinentry), printer: printer)
                let run = CommandRun(invocation, parts: parts, verbs: verbs)
                return finish(run, printer)
            }
        } catch {
            printer.show(error, notes: [])
            return error.exitCode
        }
    }

    /// Runs the verb, says how it went, and ends the sessions that it opened.
    ///
    /// In this order: what was said stands, and an interruption after it only ends the command.
    static func finish(_ run: CommandRun, _ printer: Printer) -> ExitCode {
        do throws(CommandFailure) {
            let report = try run.invocation.verb.run(run)
            let exitCode = conclude(report, printer, notes: run.notes)
            Interruption.conclude(with: Interruption.status(of: exitCode))
            run.endOwnSessions()
            return exitCode
        } catch {
            printer.show(error, notes: run.notes)
            Interruption.conclude(with: Interruption.status(of: error.exitCode))
            run.endOwnSessions(failed: true)
            return error.exitCode
        }
    }

    /// What cannot be said is a failure, whatever was done.
    private static func conclude(
        _ report: Report, _ printer: Printer, notes: [String] = []
    ) -> ExitCode {
        guard printer.show(report, notes: notes) else { return ClientFault.outputFailed.exitCode }
        return report.exitCode
    }
}
