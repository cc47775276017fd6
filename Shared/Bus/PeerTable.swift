// For `timespec`, which a build of the whole module finds there first.
internal import CZMQ
internal import Glibc
internal import Synchronization
public import Wire

/// The peers that are admitted now.
///
/// One table is shared by the ZAP handler's thread, which asks at each handshake, and the loop,
/// which asks at each request; so a removed peer's open connection is refused too. Each look-up
/// costs one `stat` of the folder, and a reading where the folder changed. Entries are replaced by
/// renaming (as ``PeerFolder`` does); one edited in place is seen at the folder's next change.
public final class PeerTable: Sendable {
    private struct State {
        var entries: [PeerKey: PeerEntry] = [:]
        var problems: [PeerProblem] = []
        var failure: PeerFolderError?
        var mark: FolderMark?
        var isSettled = false
        var readings = 0
    }

    private let folder: PeerFolder
    private let state = Mutex(State())

    /// A table that reads the folder at its first use.
    public init(folder: PeerFolder) { self.folder = folder }

    /// The entry of a key; nil where there is none, now.
    public func entry(for key: PeerKey) -> PeerEntry? {
        state.withLock { state in
            refresh(&state)
            return state.entries[key]
        }
    }

    /// The files that admit nobody, and why.
    public var problems: [PeerProblem] {
        state.withLock { state in
            refresh(&state)
            return state.problems
        }
    }

    /// Why the folder as a whole admits nobody; nil where it can be read.
    public var failure: PeerFolderError? {
        state.withLock { state in
            refresh(&state)
            return state.failure
        }
    }

    /// How often the folder was read.
    public var readingCount: UInt64 { UInt64(readings) }

    var readings: Int { state.withLock { $0.readings } }

    private func refresh(_ state: inout State) {
        let mark = FolderMark(of: folder.path)
        guard mark == nil || mark != state.mark || !state.isSettled else { return }
        let now = FolderMark.wallClock
        state.mark = mark
        state.isSettled = mark?.isSettled(at: now) ?? false
        state.readings += 1
        do throws(PeerFolderError) {
            let listing = try folder.list()
            state.entries = Dictionary(
                listing.entries.map { ($0.key, $0) }, uniquingKeysWith: { first, _ in first })
            state.problems = listing.problems
            state.failure = nil
        } catch {
            state.entries = [:]
            state.problems = []
            state.failure = error
        }
    }
}

/// What changes about a folder when an entry is added, removed or renamed.
private struct FolderMark: Equatable {
    private let device: UInt
    private let number: UInt
    private let changedAt: Int64
    private let modifiedAt: Int64

    /// Two changes closer than this may leave the same times: a file system's clock is coarse.
    private static let coarsestNanoseconds: Int64 = 2_000_000_000

    init?(of path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        device = UInt(status.st_dev)
        number = UInt(status.st_ino)
        changedAt = Self.nanoseconds(status.st_ctim)
        modifiedAt = Self.nanoseconds(status.st_mtim)
    }

    /// Whether a later change is sure to leave another mark.
    func isSettled(at now: Int64) -> Bool {
        now - max(changedAt, modifiedAt) > Self.coarsestNanoseconds
    }

    /// The clock that file times are from.
    static var wallClock: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return nanoseconds(time)
    }

    private static func nanoseconds(_ time: timespec) -> Int64 {
        Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
    }
}
