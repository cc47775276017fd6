internal import Glibc
internal import Secrets

/// The client's side of the Assuan protocol over two descriptors: a line out, lines back.
///
/// What comes back lies in secret memory, because one line is a passcode.
final class AssuanLink {
    /// What a server answers to one command.
    struct Reply: ~Copyable {
        /// Zero for `OK`, else the error's number.
        var error: UInt32
        /// The data lines, decoded.
        var data: SecretBytes
        /// The keywords of the status lines.
        var status: [String]
    }

    /// Why there is no answer.
    enum Failure: Error, Equatable {
        /// The server ended, or what it says is not of the protocol.
        case broken
        case timedOut
    }

    /// The longest line of the protocol, with its line feed.
    private static let lineLimit = 1_002

    private let input: Int32
    private let output: Int32
    private let timeoutMilliseconds: Int32
    private var buffer = SecretBytes(count: 4 * lineLimit)
    private var filled = 0

    /// - Parameters:
    ///   - input: where commands are written.
    ///   - output: where answers are read.
    ///   - timeoutMilliseconds: how long one line may take to come.
    init(input: Int32, output: Int32, timeoutMilliseconds: Int32) {
        self.input = input
        self.output = output
        self.timeoutMilliseconds = timeoutMilliseconds
    }

    /// Takes the greeting that a server begins with.
    func greet() throws(Failure) -> Bool { try reply().error == 0 }

    /// Sends a command and takes the answer.
    func command(_ text: String) throws(Failure) -> Reply {
        let line = Array(text.utf8) + [0x0A]
        guard line.count <= Self.lineLimit else { throw .broken }
        var sent = 0
        while sent < line.count {
            let count = line[sent...].withUnsafeBytes { write(input, $0.baseAddress, $0.count) }
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { throw .broken }
            sent += count
        }
        return try reply()
    }

    private func reply() throws(Failure) -> Reply {
        var reply = Reply(error: 0, data: SecretBytes(count: 0), status: [])
        while true {
            let line = try nextLine()
            switch keyword(of: line) {
            case "OK": return reply
            case "ERR":
                reply.error = number(after: 4, in: line)
                return reply
            case "D":
                let more = line.withBytes { bytes in
                    PercentText.decode(UnsafeRawBufferPointer(rebasing: bytes.dropFirst(2)))
                }
                guard let more, reply.data.count + more.count <= buffer.count else {
                    throw .broken
                }
                reply.data = Self.joined(reply.data, more)
            case "S": reply.status.append(word(after: 2, in: line))
            case "INQUIRE": throw .broken
            default: continue
            }
        }
    }

    private static func joined(
        _ one: borrowing SecretBytes, _ other: borrowing SecretBytes
    ) -> SecretBytes {
        let start = one.count
        return SecretBytes(count: start + other.count) { target in
            one.withBytes { target.copyMemory(from: $0) }
            other.withBytes {
                UnsafeMutableRawBufferPointer(rebasing: target[start...]).copyMemory(from: $0)
            }
        }
    }

    // MARK: Lines

    private func keyword(of line: borrowing SecretBytes) -> String { word(after: 0, in: line) }

    /// A word that is no secret: keywords of the protocol.
    private func word(after start: Int, in line: borrowing SecretBytes) -> String {
        line.withBytes { bytes in
            String(decoding: bytes.dropFirst(start).prefix { $0 != 0x20 }, as: UTF8.self)
        }
    }

    private func number(after start: Int, in line: borrowing SecretBytes) -> UInt32 {
        UInt32(word(after: start, in: line)) ?? .max
    }

    /// The next line, without its line feed.
    private func nextLine() throws(Failure) -> SecretBytes {
        while true {
            let count = filled
            let end = buffer.withBytes { $0[..<count].firstIndex(of: 0x0A) }
            if let end {
                let line = buffer.slice(0..<end)
                buffer.withMutableBytes { bytes in
                    let rest = UnsafeRawBufferPointer(rebasing: bytes[(end + 1)..<count])
                    UnsafeMutableRawBufferPointer(rebasing: bytes[..<rest.count])
                        .copyMemory(from: rest)
                    wipe(UnsafeMutableRawBufferPointer(rebasing: bytes[rest.count..<count]))
                }
                filled = count - end - 1
                return line
            }
            guard filled < buffer.count else { throw .broken }
            try fill()
        }
    }

    private func fill() throws(Failure) {
        var item = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
        let ready = poll(&item, 1, timeoutMilliseconds)
        if ready < 0 && errno == EINTR { return }
        guard ready > 0 else { throw ready == 0 ? .timedOut : .broken }
        let start = filled
        let got = buffer.withMutableBytes { bytes in
            read(output, bytes.baseAddress.map { $0 + start }, bytes.count - start)
        }
        if got < 0 && errno == EINTR { return }
        guard got > 0 else { throw .broken }
        filled += got
    }
}
