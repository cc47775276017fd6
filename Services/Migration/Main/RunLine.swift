import Hosting
import MigrationCore
import MigrationMessages

extension RunSummary {
    /// Writes the one line that a run leaves: how it ended, and numbers.
    func write(to log: Log) {
        let end: (word: StaticString, code: String)
        switch ending {
        case .finished: end = ("finished", "")
        case .stopped: end = ("stopped", "")
        case .failed(let code): end = ("failed", code)
        }
        log.info(
            "run",
            [
                "aim": .word(isVerification ? "verify" : "apply"),
                "ending": .word(end.word), "code": .code(end.code),
                "total": .number(Int(clamping: total)),
                "done": .number(Int(clamping: done)),
                "succeeded": .number(Int(clamping: succeeded)),
                "again": .number(Int(clamping: again)),
                "failed": .number(Int(clamping: failed)),
                "in_ledger": .number(Int(clamping: counts.inLedger)),
                "missing": .number(Int(clamping: counts.missing)),
                "listed": .number(Int(clamping: counts.listed)),
                "orphaned": .number(Int(clamping: counts.orphaned)),
                "undetermined": .number(Int(clamping: counts.undetermined)),
                "unknown_chain": .number(Int(clamping: counts.unknownChain)),
                "damaged": .number(Int(clamping: counts.damaged)),
                "phraseless": .number(Int(clamping: counts.phraseless)),
                "settled": .word(isSettled ? "yes" : "no"),
            ])
    }
}
