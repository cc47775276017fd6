import LegacyKeychain
import PropertyLists
import Secrets
import Synchronization

/// What a keychain gave, and that it kept its promises while it did.
struct KeychainReading {
    private var rows: [KeychainRow] = []
    /// Nil where the rows were read to their end.
    private var error: KeychainError?

    init(_ source: some ByteSource, _ format: KeychainSource.Format) {
        do throws(KeychainError) {
            let keychain = try KeychainSource(source)
            guard keychain.format == format else { return }
            let rows = try keychain.rows()
            try read(rows, of: keychain)
        } catch {
            self.error = error
        }
    }

    private mutating func read(
        _ rows: KeychainRows, of keychain: KeychainSource
    ) throws(KeychainError) {
        while true {
            let row: KeychainRow?
            do throws(KeychainError) {
                row = try rows.next()
            } catch {
                promise(ending(of: rows) == .failure(error), "an error was forgotten")
                throw error
            }
            guard let row else { break }
            try check(row, of: keychain)
            self.rows.append(row)
        }
        promise(ending(of: rows) == .success(nil), "there are rows after the last one")
    }

    /// What comes after the end.
    private func ending(of rows: KeychainRows) -> Result<KeychainRow?, KeychainError> {
        do throws(KeychainError) {
            return .success(try rows.next())
        } catch {
            return .failure(error)
        }
    }

    /// A row has its number, and what is told as whole can be read.
    private func check(_ row: KeychainRow, of keychain: KeychainSource) throws(KeychainError) {
        switch row {
        case .item(let item):
            promise(item.index == rows.count)
            for text in [item.service, item.account, item.group] {
                promise(text.utf8.count <= ListText.bytesMax)
            }
            let first: UInt8?
            do throws(KeychainError) {
                let value = try keychain.value(at: item.value)
                first = value.withBytes { $0.first }
            } catch {
                promise(error != .noValue, "a value of a whole row cannot be read")
                throw error
            }
            plantedTrap(0x28..<0xFF ~= (first ?? 0) && first != 0x61)
        case .damaged(let item):
            promise(item.index == rows.count)
        }
    }

    /// Whether it is the other one, or ended before that with the failure of its source.
    ///
    /// A failure never looks like damage, or like the end.
    func isBeginning(of other: KeychainReading, _ hasFailed: Bool) -> Bool {
        guard other.rows.starts(with: rows) else { return false }
        guard hasFailed else { return rows == other.rows && error == other.error }
        return error == .source(.failed(errno: FailingSource.failure))
    }
}

/// A source that cannot be read any more after some reads, how many depends on its bytes.
final class FailingSource: ByteSource {
    static let failure: Int32 = 5

    private let source: MemorySource
    private let readsLeft: Mutex<Int>

    init(_ bytes: [UInt8]) {
        source = MemorySource(copying: bytes)
        readsLeft = Mutex(bytes.reduce(0) { $0 &+ Int($1) } % 24)
    }

    var count: Int { source.count }

    var hasFailed: Bool { readsLeft.withLock { $0 < 0 } }

    func read(
        at offset: Int, into buffer: UnsafeMutableRawBufferPointer
    ) throws(ByteSourceError) {
        let isOver = readsLeft.withLock { left in
            if left >= 0 { left -= 1 }
            return left < 0
        }
        if isOver { throw .failed(errno: Self.failure) }
        try source.read(at: offset, into: buffer)
    }
}
