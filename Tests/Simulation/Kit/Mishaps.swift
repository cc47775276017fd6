/// How often what goes wrong in a run; drawn anew for every seed, so that some runs are nearly calm
/// and some are nothing but trouble.
struct Mishaps: Sendable {
    /// Of ten thousand steps, those at which something breaks.
    var perTenThousand = 0
    /// Of ten thousand turns, those in whose commit the process is killed.
    var killInCommitPerTenThousand = 0
    /// Of ten thousand messages, those at whose arrival one of the two processes is killed.
    var killAtMessagePerTenThousand = 0
    /// Of a thousand messages, those that get lost.
    var lostPerThousand = 0
    /// Of a thousand messages, those that arrive twice.
    var repeatedPerThousand = 0
    /// Of a thousand messages, those that are held up.
    var delayedPerThousand = 0
    /// Of a thousand turns, those that end late.
    var latePerThousand = 0
    /// How often time passes though there is something to do.
    var hastePercent = 0
    /// Simulated time of a key derivation.
    var kdfMilliseconds: UInt64 = 0
    /// Of a hundred changes of a credential, those in whose midst something breaks.
    var mutationsBrokenPercent = 0
    /// Of ten thousand turns while a credential is changed, those in whose commit the process is
    /// killed, beside the others.
    var killInCommitOfMutationPerTenThousand = 0

    /// Within how many steps of a change's beginning it breaks: about as many as one takes.
    static let mutationSteps = 90

    static let none = Mishaps()
}

/// A kind of trouble that a run meets.
public enum Trouble: String, CaseIterable, Sendable {
    /// A process is killed between two steps.
    case killInStep = "kills_in_a_step"
    /// One is killed when a message of its own arrives somewhere, or one for it.
    case killAtMessage = "kills_at_a_message"
    /// One is killed at some write or sync of a commit.
    case killInCommit = "kills_in_a_commit"
    /// Authority or limiter ends, by itself or with the machine, while a credential is changed.
    case killInMutation = "kills_in_a_mutation"
    /// One ends because its disk failed it.
    case endByDisk = "ends_by_a_disk"
    case failedStart = "failed_starts"
    /// The power fails on the whole machine.
    case boot = "boots"
    /// A sector that was written, not synced, and lost with the power.
    case lostSector = "torn_sectors"
    case sleep = "sleeps"
    case fullDisk = "writes_to_a_full_disk"
    case failedWrite = "failed_writes"
    case failedSync = "failed_syncs"
    case lateTurn = "late_turns"
    case lost = "messages_lost"
    case repeated = "messages_repeated"
    case delayed = "messages_delayed"
    /// A message overtakes older ones.
    case reordered = "messages_reordered"
    /// A count of tries that something else has changed.
    case damagedTries = "damaged_counts_of_tries"
    /// A service's whole store, gone with the power.
    case lostStore = "lost_stores"
    /// Somebody sets the calendar, up to ten years either way.
    case wallClockJump = "wall_clock_jumps"
    case tokenAbsent = "tokens_absent"
    case tokenSlow = "tokens_slow"
    case tokenFull = "tokens_full"
    case tokenFailed = "tokens_failed"
    /// A token did it, and its answer is lost.
    case tokenSilent = "tokens_silent"
    case tokenCleared = "tokens_cleared"
    case tokenPINChanged = "token_pins_changed"
    /// The authority ends while a token is at work for it.
    case killInTokenUse = "kills_in_a_token_use"
}

/// What was injected into a run, or into several.
public struct Injected: Sendable, Equatable {
    private var counts: [Trouble: Int] = [:]

    public init() {}

    public subscript(trouble: Trouble) -> Int {
        get { counts[trouble] ?? 0 }
        set { counts[trouble] = newValue }
    }

    public mutating func add(_ other: Injected) {
        for (trouble, count) in other.counts { self[trouble] += count }
    }
}

/// What a run got done: a run in which everything is refused keeps every promise.
public enum Deed: String, CaseIterable, Sendable {
    case passcode = "passcodes_set"
    case session = "sessions_opened"
    case wallet = "wallets_made"
    case removal = "wallets_removed"
    case phrase = "phrases_shown"
    case signature = "signatures_made"
    case split = "splits_confirmed"
    case restoration = "restorations_installed"
    case migration = "migrations_finished"
    case verification = "migrations_verified"
    case disabling = "passcodes_disabled"
    case protection = "protections_set"
    case imported = "credentials_imported"
    case enrolment = "device_keys_enrolled"
    case routeRemoval = "device_keys_removed"
    case deviceSession = "device_sessions_opened"
    case unprotectedSession = "unprotected_sessions_opened"
    case ownerManaged = "owner_managed_sessions_opened"
    case suspension = "sessions_suspended_and_resumed"
    case reset = "owners_reset"
    case ownerRemoval = "owners_removed"
    case freshReset = "owners_reset_as_strangers"
    case refusedFreshReset = "resets_refused_of_owners_who_are_known"
    case holder = "holders_taken_in"
    case unconfirmedSplit = "splits_before_a_removal"

    /// What is done where credentials are changed.
    public static let ofCredentials: [Deed] = [
        .passcode, .session, .disabling, .protection, .imported, .enrolment, .routeRemoval,
        .deviceSession, .unprotectedSession, .ownerManaged, .suspension, .reset, .ownerRemoval,
        .freshReset, .refusedFreshReset, .holder,
    ]
}

/// How often each was done.
public struct Deeds: Sendable, Equatable {
    private var counts: [Deed: Int] = [:]

    public init() {}

    public subscript(deed: Deed) -> Int {
        get { counts[deed] ?? 0 }
        set { counts[deed] = newValue }
    }

    public mutating func add(_ other: Deeds) {
        for (deed, count) in other.counts { self[deed] += count }
    }
}
