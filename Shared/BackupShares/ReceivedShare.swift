public import Secrets

/// A share as it came: a share file, or the envelope of another program.
public enum ReceivedShare: Equatable, Sendable {
    case file(ShareFile)
    case foreign(ReceivedEnvelope)

    /// Reads either; throws ``ShareFileError/damaged``.
    ///
    /// No envelope begins with these bytes but one in 2^88.
    public init(_ bytes: [UInt8]) throws(ShareFileError) {
        if bytes.starts(with: #"{"format":"#.utf8) {
            self = .file(try ShareFile(bytes))
            return
        }
        do throws(ShareError) {
            self = .foreign(try ReceivedEnvelope(bytes))
        } catch {
            throw .damaged
        }
    }
}

extension ReceivedEnvelope {
    /// The payload in a bare envelope for another recipient, with an ephemeral key of its own.
    ///
    /// Throws ``ShareError/authenticationFailed`` for a damaged envelope and for one that is meant
    /// for another key, which cannot be told apart.
    public func release(
        privateKey: borrowing SecretBytes, publicKey: [UInt8], random: some RandomSource
    ) throws(ShareError) -> ShareEnvelope {
        let payload = try envelope.open(privateKey: privateKey)
        return try ShareEnvelope.seal(payload, to: publicKey, random: random)
    }
}
