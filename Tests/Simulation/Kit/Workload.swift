/// What the clients of a run do.
public enum Workload: String, CaseIterable, Sendable {
    /// Owners with their wallets, backups and legacy keychains.
    case life
    /// One owner whose credential is changed all the time, in short runs.
    case credential
}
