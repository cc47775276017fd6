internal import BackupShares
internal import SharesMessages
internal import Wire

/// A share that cannot be used, as a person knows it: by its file and its holder.
struct UnusableShare: Equatable {
    let path: String
    /// Nil where the file does not say so in a form that can be read.
    let holder: String?
    let problem: Problem

    /// What is wrong with it: what backup-shares finds, and what only a holder's side can find.
    enum Problem: Equatable {
        case found(ShareProblem)
        /// It is sealed for another key than the one that was given with it.
        case otherKey
        /// The same, or it was changed: an envelope of another program does not tell which.
        case unopened
        /// It was released already.
        case released

        var text: String {
            switch self {
            case .found(let problem): problem.text
            case .otherKey: "other_key"
            case .unopened: "unopened"
            case .released: "released"
            }
        }

        /// What follows the name of the file.
        var sentence: String {
            switch self {
            case .found(.damaged): "is no share, or was changed"
            case .found(.sealed):
                "is still sealed for its holder, who releases it with `coffer holder release`"
            case .found(.otherRestoration): "was released for another restoration"
            case .found(.otherSplit): "is of another split than the other two"
            case .found(.duplicate): "is the same share as another of the three"
            case .found(.wrong): "is whole, and not the share that was handed out"
            case .otherKey: "is not sealed for the key that was given with it"
            case .unopened: "was changed, or is not sealed for the key that was given with it"
            case .released: "was released already, and only for the key of its restoration"
            }
        }
    }

    /// A sentence without a full stop.
    var sentence: String {
        let holder = holder.map { " (holder \($0))" } ?? ""
        return "\(path)\(holder) \(problem.sentence)"
    }

    func write(to writer: inout JSONWriter) {
        writer.string("file", path)
        writer.optionalString("holder", holder)
        writer.string("problem", problem.text)
    }
}

extension UnusableShare.Problem {
    /// What a share file's own check found; nil where the library failed.
    init?(_ error: ShareFileError) {
        switch error {
        case .damaged, .invalid, .notThreeHolders: self = .found(.damaged)
        case .sealed: self = .found(.sealed)
        case .released: self = .released
        case .otherRecipient: self = .otherKey
        case .wrong: self = .found(.wrong)
        case .invalidKey, .failed: return nil
        }
    }
}

extension CommandFailure {
    /// Names every share that cannot be used.
    init(_ shares: [UnusableShare]) {
        self.init(
            .unusableShares, shares.map { "\($0.sentence)." }.joined(separator: " "))
        self.shares = shares
    }
}
