import MigrationCore
import MigrationMessages
import PropertyLists
import Wire

/// One run over a legacy keychain, and the launch decision, as the migration decides them.
let migrationOperations: [String: Operation] = [
    "dashRun": Operation(
        inputs: [
            "accounts", "items", "ledger", "importSucceeds", "done", "flagsBefore",
        ], matches: isSameRun
    ) { inputs in
        let flags = try inputs.object("flagsBefore")
        let ledger = try inputs.strings("ledger")
        guard try !inputs.bool("done") else {
            // The first step: nothing is looked at, and the flags stay as they are.
            return .ok(
                result(
                    RunVerdict(
                        done: true,
                        deferredUnknownChain: try flags.bool("deferredUnknownChain"),
                        deferredFailure: try flags.bool("deferredFailure")),
                    multiWallet: try flags.bool("deferredMultiWallet"), ledger: ledger))
        }
        guard let wallets = try wallets(inputs) else {
            return .ok(result(.unreadable, ledger: ledger))
        }
        var tally = RunTally(wallets)
        for id in ledger { tally.settle(LegacyID(id)) }
        let classes = (0..<wallets.count).map { place in
            (wallets.id(at: place).text, tally.reason(at: place).walletClass)
        }
        let succeeds = try inputs.object("importSucceeds")
        var imports: [String] = []
        var settled = ledger
        for place in tally.work() {
            let id = wallets.id(at: place).text
            imports.append(id)
            if succeeds.has(id), try !succeeds.bool(id) {
                tally.fail(at: place)
            } else {
                tally.settle(at: place)
                settled.append(id)
            }
        }
        return .ok(
            result(tally.verdict, classes: classes, imports: imports, ledger: settled))
    },
    "dashLaunchState": Operation(inputs: ["accounts", "items", "ledger"]) { inputs in
        guard let wallets = try wallets(inputs) else { return .ok(.string("unreadable")) }
        var tally = RunTally(wallets)
        if inputs.has("ledger") {
            for id in try inputs.strings("ledger") { tally.settle(LegacyID(id)) }
        }
        return .ok(.string(tally.launch.text))
    },
]

/// Nil where the accounts cannot be enumerated.
private func wallets(_ inputs: JSONObject) throws -> LegacyWallets? {
    guard let accounts = inputs.value("accounts"), accounts.kind != .null else { return nil }
    let items = try inputs.object("items")
    return LegacyWallets(accounts: try inputs.strings("accounts")) { account in
        // An account without an item is one that cannot be read.
        guard let archive = try? items.hex(account) else { return nil }
        return try? KeyedArchive.strings(in: archive)
    }
}

private func result(
    _ verdict: RunVerdict, multiWallet: Bool = false, classes: [(String, WalletClass)] = [],
    imports: [String] = [], ledger: [String]
) -> Value {
    .object([
        "done": .bool(verdict.done),
        "deferredUnknownChain": .bool(verdict.deferredUnknownChain),
        "deferredFailure": .bool(verdict.deferredFailure),
        "deferredMultiWallet": .bool(multiWallet),
        "classes": .object(
            Dictionary(uniqueKeysWithValues: classes.map { ($0, .string(name($1))) })),
        "imports": .array(imports.map { .string($0) }),
        "ledger": .array(ledger.sorted().map { .string($0) }),
    ])
}

private func name(_ walletClass: WalletClass) -> String {
    switch walletClass {
    case .inLedger: "inLedger"
    case .listed: "listed"
    case .orphaned: "orphaned"
    case .undetermined: "undetermined"
    case .unknownChain: "unknownChain"
    }
}

/// A flag that is expected to be null is one of which the document does not say.
private func isSameRun(_ expected: Value, _ answer: Value) -> Bool {
    guard case .object(let expected) = expected, case .object(var answer) = answer,
        Set(expected.keys) == Set(answer.keys)
    else { return false }
    for (key, value) in expected {
        if case .null = value { answer[key] = .null }
    }
    return Value.object(expected).matches(.object(answer))
}
