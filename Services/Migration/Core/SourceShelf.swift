internal import Clocks
internal import LegacyKeychain
internal import Loop
internal import MigrationMessages
internal import PropertyLists
internal import Wire

/// A source that is open for reading, and its index.
struct OpenSource: Sendable {
    let file: FileSource
    let keychain: KeychainSource
    let index: SourceIndex
    fileprivate let mark: FileMark

    fileprivate init(
        _ file: FileSource, _ index: SourceIndex, _ mark: FileMark
    ) throws(MigrationFault) {
        self.file = file
        self.index = index
        self.mark = mark
        do throws(KeychainError) { keychain = try KeychainSource(file) } catch {
            throw MigrationFault(error)
        }
    }

    /// Throws ``MigrationFault/sourceChanged`` where the file is no longer what the index is of.
    func checkUnchanged() throws(MigrationFault) {
        guard try file.mark == mark else { throw .sourceChanged }
    }
}

/// Opens sources, and remembers the indices of those that were opened last.
///
/// A file is known again by device, inode, size and times, so that going through a plan page by
/// page reads it once. No file is held open here: a source that is deleted is gone.
///
/// One source of an owner is read at a time, in slices: between two of them the sources of other
/// owners and the runs have their turn at the worker threads.
@ServiceLoop
final class SourceShelf {
    /// Indices that are remembered.
    private nonisolated static let indexLimit = 4

    private let pool: WorkerPool
    private let clock: any BootClock
    /// The one that was opened last comes first.
    private var known: [Indexed] = []
    /// How often a source was read through.
    private(set) var readings = 0
    /// The owners of whom a source is being opened, and who waits to open another one.
    private var desks: [Owner: [CheckedContinuation<Void, Never>]] = [:]

    private struct Indexed: Sendable {
        let mark: FileMark
        let index: SourceIndex
    }

    init(pool: WorkerPool, clock: any BootClock) {
        self.pool = pool
        self.clock = clock
    }

    /// Opens a source.
    ///
    /// - Parameter deadline: when nobody waits for it any longer, in nanoseconds on the boot clock.
    /// - Throws: ``MigrationFault``, or `bus.overdue` at the deadline.
    func open(
        _ path: SourcePath, for owner: Owner, until deadline: UInt64
    ) async throws -> OpenSource {
        await takeDesk(owner)
        defer { leaveDesk(owner) }
        let leave = ReadingLeave(clock: clock, deadline: deadline)
        guard !leave.isOver else { throw BusFault.overdue }
        let (file, mark) = try await pool.run { Self.find(path) }.get()
        let index: SourceIndex
        if let found = known.first(where: { $0.mark == mark }) {
            index = found.index
        } else {
            index = try await read(file, leave)
            readings += 1
        }
        let source = try OpenSource(file, index, mark)
        try source.checkUnchanged()
        known.removeAll { $0.mark == mark }
        known.insert(Indexed(mark: mark, index: index), at: 0)
        known.removeLast(max(0, known.count - Self.indexLimit))
        return source
    }

    private nonisolated static func find(
        _ path: SourcePath
    ) -> Result<(FileSource, FileMark), MigrationFault> {
        do throws(ByteSourceError) {
            let file = try FileSource(path: path.text)
            return .success((file, try file.currentMark()))
        } catch {
            return .failure(MigrationFault(error))
        }
    }

    private func read(_ file: FileSource, _ leave: ReadingLeave) async throws -> SourceIndex {
        do {
            let reading = try await pool.run {
                Result { () throws(ReadingTrouble) in try SourceReading(file, leave) }
            }.get()
            while !leave.isOver {
                let slice = await pool.run {
                    Result { () throws(ReadingTrouble) in try reading.advance() }
                }
                if let index = try slice.get() { return index }
            }
        } catch ReadingTrouble.fault(let fault) {
            throw fault
        } catch ReadingTrouble.abandoned {}
        throw BusFault.overdue
    }

    /// Whether a source of an owner is being opened.
    func isReading(of owner: Owner) -> Bool { desks[owner] != nil }

    private func takeDesk(_ owner: Owner) async {
        guard desks[owner] != nil else {
            desks[owner] = []
            return
        }
        await withCheckedContinuation { desks[owner]?.append($0) }
    }

    private func leaveDesk(_ owner: Owner) {
        guard let waiting = desks[owner], !waiting.isEmpty else {
            desks[owner] = nil
            return
        }
        desks[owner]?.removeFirst().resume()
    }
}
