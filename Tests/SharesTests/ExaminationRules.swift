import AuthorityDouble
import BackupShares
import Secrets
import SharesMessages
import Testing
import VaultMessages
import Wire

@testable import SharesCore

/// Which of three files cannot be used, by what each of them says.
@Suite struct ExaminationRules {
    /// Three files in a few letters each, and what is wrong with them.
    struct Row: CustomTestStringConvertible, Sendable {
        let files: [String]
        let problems: [ShareProblem?]
        /// The facts that a confirmed manifest has of split `a`.
        var known: Character?

        init(_ files: String, _ problems: ShareProblem?..., known: Character? = nil) {
            self.files = files.split(separator: " ").map(String.init)
            self.problems = problems
            self.known = known
        }

        var testDescription: String { files.joined(separator: " ") }
    }

    /// The letters: `a0` is the first share of split `a`.
    ///
    /// `a0'` says other facts of `a`, `a0"` others again.
    /// Before it may stand what is wrong with the file itself: `s` sealed, `r` for another
    /// restoration, `w` with another share than it says. `-` is no share file. `b1` is a bare
    /// envelope with payload 1, `w7.1` a wrapped one of set 7 at place 1.
    static let rows = [
        Row("a0 a1 a2", nil, nil, nil),
        Row("a2 a0 a1", nil, nil, nil),
        // Another split.
        Row("a0 a1 c2", nil, nil, .otherSplit),
        Row("c0 a1 a2", .otherSplit, nil, nil),
        Row("a0 c0 a1", nil, .otherSplit, nil),
        Row("a0 c1 d2", .otherSplit, .otherSplit, .otherSplit),
        Row("a0 c1 -", .otherSplit, .otherSplit, .damaged),
        // The same share.
        Row("a0 a0 a1", nil, .duplicate, nil),
        Row("a1 a0 a0", nil, nil, .duplicate),
        Row("a0 a0 a0", nil, .duplicate, .duplicate),
        Row("a0 a0 c0", nil, .duplicate, .otherSplit),
        // By itself.
        Row("- - -", .damaged, .damaged, .damaged),
        Row("a0 a1 -", nil, nil, .damaged),
        Row("sa0 a1 a2", .sealed, nil, nil),
        Row("sa0 sa1 sa2", .sealed, .sealed, .sealed),
        Row("sa0 a0 a1", .sealed, nil, nil),
        Row("ra0 a1 a2", .otherRestoration, nil, nil),
        Row("ra0 ra1 ra2", .otherRestoration, .otherRestoration, .otherRestoration),
        Row("wa0 a1 a2", .wrong, nil, nil),
        Row("- sa1 ra2", .damaged, .sealed, .otherRestoration),
        Row("- wa1 c2", .damaged, .wrong, .otherSplit),
        Row("sc0 a1 a2", .sealed, nil, nil),
        Row("sa0 ra1 c2", .sealed, .otherRestoration, .otherSplit),
        Row("sa0 a1 c2", .sealed, nil, .otherSplit),
        // Whole, and not what was handed out.
        Row("a0' a1 a2", .wrong, nil, nil),
        Row("a0 a1' a2", nil, .wrong, nil),
        Row("a0 a1 a2\"", nil, nil, .wrong),
        Row("a0 a1' a2\"", .wrong, .wrong, .wrong),
        Row("a0 a1' -", .wrong, .wrong, .damaged),
        Row("a0' a1' a2'", nil, nil, nil),
        Row("a0' a0 a0", .wrong, nil, .duplicate),
        Row("a0 a1' c2", .wrong, .wrong, .otherSplit),
        // This home knows better.
        Row("a0 a1 a2", nil, nil, nil, known: " "),
        Row("a0' a1' a2", .wrong, .wrong, nil, known: " "),
        Row("a0' a1' a2'", .wrong, .wrong, .wrong, known: " "),
        Row("a0 a1' -", nil, .wrong, .damaged, known: " "),
        Row("c0 c1 c2", nil, nil, nil, known: " "),
        // Other programs.
        Row("b0 b1 b2", nil, nil, nil),
        Row("b0 b1 b0", nil, nil, .duplicate),
        Row("b0 b1 -", nil, nil, .damaged),
        Row("w7.0 w7.2 w7.1", nil, nil, nil),
        Row("w7.0 w7.1 w7.1", nil, nil, .duplicate),
        Row("w7.0 w7.1 w8.2", nil, nil, .otherSplit),
        Row("w7.0 w8.1 w9.2", .otherSplit, .otherSplit, .otherSplit),
        Row("b0 b1 w7.2", nil, nil, .otherSplit),
        Row("b0 w7.1 w7.2", .otherSplit, nil, nil),
        Row("a0 a1 b2", nil, nil, .otherSplit),
        Row("a0 b1 b2", .otherSplit, nil, nil),
        Row("a0 b1 w7.2", .otherSplit, .otherSplit, .otherSplit),
        Row("sa0 b1 b2", .sealed, nil, nil),
    ]

    @Test(arguments: rows) func theOddOneIsNamed(_ row: Row) throws {
        let shares = row.files.map(Self.share)
        let known = row.known.map { [Self.name("a"): Self.facts("a", $0)] } ?? [:]
        #expect(ShareExamination.problems(of: shares, known: known) == row.problems)
    }

    /// What stands first does not decide.
    @Test(arguments: rows) func theOrderNamesNoOtherFiles(_ row: Row) throws {
        let known = row.known.map { [Self.name("a"): Self.facts("a", $0)] } ?? [:]
        let counts = [[0, 1, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0], [0, 2, 1], [1, 0, 2]].map {
            ShareExamination.problems(of: $0.map { Self.share(row.files[$0]) }, known: known)
                .compactMap { $0?.text }.sorted()
        }
        #expect(Set(counts).count == 1)
    }

    // MARK: Reading the letters

    private static func share(_ letters: String) -> ReadShare {
        var rest = Substring(letters)
        if rest == "-" { return ReadShare(problem: .damaged) }
        if rest.first == "b" { return foreign(.bare, place: nil, rest.dropFirst()) }
        if rest.first == "w", rest.contains(".") {
            let parts = rest.dropFirst().split(separator: ".")
            let set = parts.first.flatMap { UInt32($0) } ?? 0
            return foreign(
                .wrapped(set: set), place: parts.last.flatMap { Int($0) }, parts.last ?? "")
        }
        let problems: [Character: ShareProblem] = [
            "s": .sealed, "r": .otherRestoration, "w": .wrong,
        ]
        let problem = rest.first.flatMap { problems[$0] }
        if problem != nil { rest.removeFirst() }
        let split = rest.removeFirst()
        let place = rest.popFirst()?.wholeNumberValue
        return ReadShare(
            origin: .split(name(split)), facts: problem == nil ? facts(split, rest.first) : nil,
            place: place, problem: problem,
            payload: problem == nil ? secret(name(split) + [UInt8(place ?? 9)]) : nil)
    }

    private static func foreign(
        _ origin: ReadShare.Origin, place: Int?, _ payload: Substring
    ) -> ReadShare {
        ReadShare(origin: origin, place: place, payload: secret(Array(payload.utf8)))
    }

    private static func name(_ split: Character) -> [UInt8] {
        [UInt8](repeating: split.asciiValue ?? 0, count: 16)
    }

    private static func facts(_ split: Character, _ mark: Character?) -> ShareFacts {
        let digest = [UInt8](repeating: mark.flatMap(\.asciiValue) ?? 0x20, count: 32)
        return ShareFacts(
            id: name(split),
            wallet: ShareFacts.Wallet(kind: "bip39", network: nil, identity: [1], words: 12),
            made: 1, digests: [digest, digest, digest])
    }
}

/// What is done with a phrase, by whose it was found to be.
@Suite struct VerdictRules {
    static let found = SharedWallet(
        kind: .bip39, network: nil, identity: [UInt8](repeating: 2, count: 33), words: 12)
    static let right = ShareFacts.Wallet(found)
    static let other: ShareFacts.Wallet = {
        var other = right
        other.identity[5] ^= 1
        return other
    }()
    static let otherWords: ShareFacts.Wallet = {
        var other = right
        other.words = 24
        return other
    }()
    static let otherKind: ShareFacts.Wallet = {
        var other = right
        other.kind = "ton"
        return other
    }()

    struct Row: Sendable {
        var stated: ShareFacts.Wallet?
        var known: ShareFacts.Wallet?
        var expected: [UInt8]?
        var verdict: IdentityVerdict
    }

    static let rows = [
        Row(verdict: .askPerson),
        Row(stated: right, verdict: .askPerson),
        Row(expected: found.identity, verdict: .install),
        Row(stated: right, expected: found.identity, verdict: .install),
        Row(stated: right, known: right, verdict: .install),
        Row(stated: right, known: right, expected: found.identity, verdict: .install),
        Row(expected: other.identity, verdict: .refuse),
        Row(expected: [], verdict: .refuse),
        Row(expected: Array(found.identity.dropLast()), verdict: .refuse),
        Row(stated: right, expected: other.identity, verdict: .refuse),
        Row(stated: right, known: right, expected: other.identity, verdict: .refuse),
        Row(stated: other, verdict: .refuse),
        Row(stated: other, expected: found.identity, verdict: .refuse),
        Row(stated: other, known: other, verdict: .refuse),
        Row(stated: other, expected: other.identity, verdict: .refuse),
        Row(stated: otherWords, expected: found.identity, verdict: .refuse),
        Row(stated: otherKind, verdict: .refuse),
        Row(stated: right, known: other, expected: found.identity, verdict: .refuse),
    ]

    @Test(arguments: rows) func onlyTheExpectedWalletIsInstalled(_ row: Row) {
        let verdict = IdentityVerdict(
            of: Self.found, stated: row.stated, known: row.known, expected: row.expected)
        #expect(verdict == row.verdict)
    }
}

/// What a refusal on the way to the vault means.
@Suite struct VaultAnswerRules {
    @Test(arguments: VaultFault.allCases.map(\.refusal)) func theVaultsOwnPassThrough(
        _ refusal: Refusal
    ) {
        #expect(VaultAnswer.refusal(of: refusal) == refusal)
    }

    /// What may have happened is never told as what did not, nor the other way round.
    @Test(arguments: BusFault.allCases) func theWayThereSaysWhetherItMayHaveHappened(
        _ fault: BusFault
    ) {
        let told = VaultAnswer.refusal(of: fault.refusal)
        #expect(told.outcome == fault.refusal.outcome)
    }
}
