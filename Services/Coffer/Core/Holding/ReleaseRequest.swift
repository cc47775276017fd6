internal import SharesMessages
internal import Wire

/// What an owner sends to the holders: the key to release their shares for.
///
/// A file has one form only: a JSON object without blanks, its members in this order. The
/// fingerprint is told anew from the key, and the holder compares it with what the owner says by
/// another way.
struct ReleaseRequest: Equatable {
    let restoration: RestorationID
    /// Ed25519, 32 bytes.
    let publicKey: [UInt8]

    static let byteCountMax = 1_024
    private static let format = "coffer.request.v1"

    init(restoration: RestorationID, publicKey: [UInt8]) {
        self.restoration = restoration
        self.publicKey = publicKey
    }

    /// Nil for what is no request, or was changed.
    init?(_ bytes: [UInt8]) {
        do throws(JSONError) {
            let object = try JSONDocument(bytes, limit: Self.byteCountMax).object()
            restoration = try object.identifier("restoration")
            publicKey = try object.hex("public_key", count: HolderDescription.publicKeyBytes)
        } catch {
            return nil
        }
        guard self.bytes == bytes else { return nil }
    }

    var bytes: [UInt8] {
        var writer = JSONWriter()
        writer.string("format", Self.format)
        writer.identifier("restoration", restoration)
        writer.hex("public_key", publicKey)
        writer.string("fingerprint", KeyFingerprint.text(of: publicKey))
        return writer.finish()
    }
}
