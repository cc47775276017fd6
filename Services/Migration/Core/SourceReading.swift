internal import Clocks
internal import LegacyKeychain
internal import MigrationMessages
internal import PropertyLists
internal import Synchronization

/// A source that is being read, a slice at a time, so that one which takes long holds up nobody but
/// who wants it.
final class SourceReading: Sendable {
    private let reader: Mutex<SourceReader>

    init(_ file: FileSource, _ leave: ReadingLeave) throws(ReadingTrouble) {
        reader = Mutex(try SourceReader(file, leave))
    }

    /// Reads some more; nil where that was not all.
    ///
    /// A reading that failed is over.
    func advance() throws(ReadingTrouble) -> SourceIndex? {
        try reader.withLock { (reader) throws(ReadingTrouble) in try reader.advance() }
    }
}

/// Until when somebody wants a source to be read.
struct ReadingLeave: Sendable {
    let clock: any BootClock
    /// In nanoseconds on the boot clock.
    let deadline: UInt64

    var isOver: Bool { clock.now.nanoseconds >= deadline }
}

/// Why a source gave no index.
enum ReadingTrouble: Error, Equatable {
    case fault(MigrationFault)
    /// Nobody wants to know any longer.
    case abandoned

    init(_ error: KeychainError) {
        if case .source(let error) = error {
            self.init(error)
        } else {
            self = .fault(MigrationFault(error))
        }
    }

    init(_ error: ByteSourceError) {
        self = error == .abandoned ? .abandoned : .fault(MigrationFault(error))
    }
}

/// A file that is read as long as somebody wants it.
///
/// One row can be as long as the file, so that it is not enough to look between rows.
struct LeasedSource: ByteSource {
    let file: FileSource
    let leave: ReadingLeave

    var count: Int { file.count }

    func read(
        at offset: Int, into buffer: UnsafeMutableRawBufferPointer
    ) throws(ByteSourceError) {
        guard !leave.isOver else { throw .abandoned }
        try file.read(at: offset, into: buffer)
    }
}
