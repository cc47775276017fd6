internal import BackupShares
internal import Secrets
internal import SharesMessages

/// Which of three files cannot be used, and why: what they say is compared with each other and with
/// what this home knows of their split.
enum ShareExamination {
    /// What is wrong with each, in their order; nil for those that nothing is wrong with.
    ///
    /// What is wrong with a file by itself comes first. Then it counts what two of them say alike:
    /// the third is the odd one. Where no two agree nobody can tell, and all are named.
    ///
    /// - Parameter known: what confirmed manifests say, by the name of the split; they outweigh any
    ///   number of files.
    static func problems(
        of shares: [ReadShare], known: [[UInt8]: ShareFacts]
    ) -> [ShareProblem?] {
        var problems = shares.map(\.problem)
        nameStrangers(among: shares, &problems)
        nameLiars(among: shares, known, &problems)
        nameDuplicates(among: shares, &problems)
        return problems
    }

    /// Those of another split than the other two.
    ///
    /// A file that is not released, or for another restoration, also says what it is of.
    private static func nameStrangers(
        among shares: [ReadShare], _ problems: inout [ShareProblem?]
    ) {
        let origins = shares.compactMap(\.origin)
        guard Set(origins).count > 1 else { return }
        let common = mostCommon(origins)
        for (index, share) in shares.enumerated() where problems[index] == nil {
            if share.origin != common { problems[index] = .otherSplit }
        }
    }

    /// Those that say something else of their split than it is.
    ///
    /// Each file was compared with its own facts. What remains is a holder who exchanged the share
    /// and what the file says of it.
    private static func nameLiars(
        among shares: [ReadShare], _ known: [[UInt8]: ShareFacts],
        _ problems: inout [ShareProblem?]
    ) {
        let told = shares.indices.filter { problems[$0] == nil }.compactMap { index in
            shares[index].facts.map { (index, $0) }
        }
        guard let split = told.first?.1.id else { return }
        let isUnanimous = told.allSatisfy { $0.1 == told[0].1 }
        let right = known[split] ?? (isUnanimous ? told[0].1 : mostCommon(told.map(\.1)))
        for (index, facts) in told where facts != right { problems[index] = .wrong }
    }

    /// Those that are there already.
    private static func nameDuplicates(
        among shares: [ReadShare], _ problems: inout [ShareProblem?]
    ) {
        for index in shares.indices where problems[index] == nil {
            let earlier = shares.indices.prefix(index).filter { problems[$0] == nil }
            if earlier.contains(where: { isSame(shares[$0], shares[index]) }) {
                problems[index] = .duplicate
            }
        }
    }

    /// Whether two shares of one origin are the same one, released twice perhaps.
    private static func isSame(_ one: ReadShare, _ other: ReadShare) -> Bool {
        if let place = one.place, place == other.place { return true }
        guard let payload = one.payload, let otherPayload = other.payload else { return false }
        return payload.bytes.isEqual(to: otherPayload.bytes)
    }

    /// What at least two say; nil where no two do.
    private static func mostCommon<T: Equatable>(_ values: [T]) -> T? {
        values.first { value in values.count { $0 == value } > 1 }
    }
}
