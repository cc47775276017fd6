internal import LegacyKeychain
internal import Loop
internal import MigrationMessages
internal import PropertyLists

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

/// Opens sources, and remembers the index of the one that was read last.
///
/// A file is known again by device, inode, size and times, so that going through a plan page by
/// page reads it once. No file is held open here: a source that is deleted is gone.
@ServiceLoop
final class SourceShelf {
    private let pool: WorkerPool
    private var last: Indexed?
    private var isReading = false
    /// How often a source was read through.
    private(set) var readings = 0
    private var waiting: [CheckedContinuation<Void, Never>] = []

    private struct Indexed: Sendable {
        let mark: FileMark
        let index: SourceIndex
    }

    init(pool: WorkerPool) { self.pool = pool }

    /// Opens a source; one is read at a time.
    func open(_ path: SourcePath) async throws(MigrationFault) -> OpenSource {
        await takeTurn()
        defer { giveTurnBack() }
        let last = last
        let source = try await pool.run {
            Result { () throws(MigrationFault) in try Self.read(path, last) }
        }.get()
        if last?.mark != source.mark { readings += 1 }
        self.last = Indexed(mark: source.mark, index: source.index)
        return source
    }

    private nonisolated static func read(
        _ path: SourcePath, _ last: Indexed?
    ) throws(MigrationFault) -> OpenSource {
        let file: FileSource
        do throws(ByteSourceError) { file = try FileSource(path: path.text) } catch {
            throw MigrationFault(error)
        }
        let mark = try file.mark
        if let last, last.mark == mark { return try OpenSource(file, last.index, mark) }
        let index = try SourceReader.index(file)
        guard try file.mark == mark else { throw .sourceChanged }
        return try OpenSource(file, index, mark)
    }

    private func takeTurn() async {
        guard isReading else {
            isReading = true
            return
        }
        await withCheckedContinuation { waiting.append($0) }
    }

    private func giveTurnBack() {
        guard !waiting.isEmpty else {
            isReading = false
            return
        }
        waiting.removeFirst().resume()
    }
}
