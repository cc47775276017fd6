internal import Glibc
internal import Secrets

/// Reads what a person handed over on an open descriptor.
enum DescriptorInput {
    /// How long a secret may be, in bytes.
    static let byteLimit = 4_096

    /// Reads a secret to the end and closes the descriptor.
    ///
    /// One trailing line feed is removed and nothing else.
    static func secret(
        _ descriptor: Int32, named option: CommandOption
    ) throws(CommandFailure) -> SecretBytes {
        defer { close(descriptor) }
        guard isatty(descriptor) == 0 else {
            throw .usage(
                "\(option.name) \(descriptor) is a terminal, which would show what is typed. "
                    + "Leave \(option.name) out to be asked without echo.")
        }
        var buffer = SecretBytes(count: byteLimit + 2)
        var count = 0
        while count < buffer.count {
            let got = buffer.withMutableBytes { bytes in
                read(descriptor, bytes.baseAddress.map { $0 + count }, bytes.count - count)
            }
            if got < 0 && errno == EINTR { continue }
            guard got >= 0 else {
                throw .usage("\(option.name) \(descriptor) is not open for reading.")
            }
            guard got > 0 else { break }
            count += got
        }
        return try trimmed(buffer.slice(0..<count), named: option)
    }

    /// Reads a file that holds a secret, as it is, of at most ``byteLimit`` bytes.
    static func secretFile(
        _ path: String, named option: CommandOption
    ) throws(CommandFailure) -> SecretBytes {
        let bytes = try FileInput.secret(path, limit: byteLimit)
        guard bytes.count > 0 else { throw .usage("\(option.name) \(path) is empty.") }
        guard bytes.count <= byteLimit else {
            throw .usage("\(option.name) \(path) is longer than \(byteLimit) bytes.")
        }
        return bytes
    }

    /// Removes one trailing line feed; refuses what is empty or too long.
    static func trimmed(
        _ bytes: consuming SecretBytes, named option: CommandOption
    ) throws(CommandFailure) -> SecretBytes {
        let endsLine = bytes.withBytes { $0.last == 0x0A }
        let count = endsLine ? bytes.count - 1 : bytes.count
        guard count > 0 else { throw .usage("What \(option.name) gives is empty.") }
        guard count <= byteLimit else {
            throw .usage("What \(option.name) gives is longer than \(byteLimit) bytes.")
        }
        return endsLine ? bytes.slice(0..<count) : bytes
    }

    /// Reads a file, or standard input where the path is `-`, of at most `limit` bytes.
    static func file(
        _ path: String, limit: Int, named option: CommandOption
    ) throws(CommandFailure) -> [UInt8] {
        let bytes =
            try path == "-"
            ? FileInput.bytes(of: STDIN_FILENO, named: "Standard input", limit: limit)
            : FileInput.bytes(path, limit: limit)
        guard bytes.count <= limit else {
            throw .usage("\(option.name) \(path) is longer than \(limit) bytes.")
        }
        return bytes
    }
}
