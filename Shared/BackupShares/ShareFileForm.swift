internal import Crypto
internal import Wire

/// The one form of a share file: a JSON object without blanks, its members in this order.
extension ShareFile {
    private static let format = "coffer.share.v1"
    private static let macMember = Array(#","mac":""#.utf8)
    private static let ending = Array(#""}"#.utf8)

    /// Reads a file, and checks all that can be checked without a key.
    ///
    /// Total: any bytes give a file, or ``ShareFileError/damaged``. A file that is read gives the
    /// same bytes again.
    public init(_ bytes: [UInt8]) throws(ShareFileError) {
        let file: ShareFile
        do {
            file = try ShareFile(
                from: JSONDocument(bytes, limit: Self.byteCountMax).object())
        } catch {
            throw .damaged
        }
        guard file.head.isInForm, file.bytes == bytes else { throw .damaged }
        self = file
    }

    /// The file as it is written.
    public var bytes: [UInt8] {
        Self.document(head, envelope) + Self.macMember + Array(Hex.encode(mac).utf8) + Self.ending
    }

    /// The document without the code and the bracket after it.
    static func document(_ head: Head, _ envelope: ShareEnvelope) -> [UInt8] {
        var writer = JSONWriter()
        writer.string("format", format)
        writer.string("state", head.restoration == nil ? "sealed" : "released")
        writer.hex("split", head.split.id)
        writer.integer("index", head.index)
        writer.string("holder", head.holder)
        writer.hex("recipient", head.recipient)
        writer.optionalHex("restoration", head.restoration)
        writer.object("wallet") { writer in
            let wallet = head.split.wallet
            writer.string("kind", wallet.kind)
            writer.optionalString("network", wallet.network)
            writer.hex("identity", wallet.identity)
            writer.integer("words", wallet.words)
        }
        writer.uint64("made", head.split.made)
        writer.strings("digests", head.split.digests.map { Hex.encode($0) })
        writer.base64("envelope", envelope.bytes)
        return writer.finish().dropLast()
    }

    /// Members of other names, another order and blanks show when the file is written again.
    private init(from object: JSONObject) throws {
        guard try object.string("format") == Self.format else { throw ShareFileError.damaged }
        let wallet = try object.object("wallet")
        let facts = ShareFacts(
            id: try object.hex("split"),
            wallet: ShareFacts.Wallet(
                kind: try wallet.string("kind"), network: try wallet.optionalString("network"),
                identity: try wallet.hex("identity"), words: try wallet.integer("words")),
            made: try object.uint64("made"),
            digests: try object.strings("digests").map { Hex.decode($0) ?? [] })
        let head = Head(
            split: facts, index: try object.integer("index"),
            holder: try object.string("holder"), recipient: try object.hex("recipient"),
            restoration: try object.optionalHex("restoration"))
        let envelope = try object.base64("envelope")
        guard envelope.count == ShareEnvelope.byteCount else { throw ShareFileError.damaged }
        self.init(
            head, envelope: try ShareEnvelope(envelope),
            mac: try object.hex("mac", count: SHA256.byteCount))
    }
}
