internal import Secrets
public import Wire

/// Key pairs in the certificate format that CZMQ and pyzmq share.
///
/// A public certificate (`name.key`) has a public key and metadata, a secret one
/// (`name.key_secret`) both keys. Keys are quoted Z85.
public enum CertificateFile {
    /// Reads a public certificate.
    ///
    /// Refused: a file that others may change, a symbolic link, a line that is not in the format,
    /// a name that stands twice, and a file that holds a secret key.
    public static func readPublic(
        _ path: String
    ) throws(CertificateError) -> (key: PeerKey, metadata: [String: String]) {
        try readPublic(path, rule: .anchor)
    }

    static func readPublic(
        _ path: String, rule: KeyFile.Rule
    ) throws(CertificateError) -> (key: PeerKey, metadata: [String: String]) {
        let content = try KeyFile.read(path, rule: rule)
        return try content.withBytes {
            text throws(CertificateError) -> (key: PeerKey, metadata: [String: String]) in
            let fields = try fields(of: text, path: path)
            if let secret = fields.first(where: { $0.section == "curve" && $0.name == secretName })
            {
                throw .malformed(path: path, line: secret.line)
            }
            return (
                try publicKey(in: fields, of: text, path: path),
                try metadata(in: fields, of: text, path: path)
            )
        }
    }

    /// Reads a secret certificate.
    ///
    /// Refused: a file that anybody but this user owns or may read or write (wanted: 0600), and
    /// two keys that are not a pair.
    public static func readSecret(_ path: String) throws(CertificateError) -> CurveKeyPair {
        let content = try KeyFile.read(path, rule: .secret)
        return try content.withBytes { text throws(CertificateError) -> CurveKeyPair in
            let fields = try fields(of: text, path: path)
            let publicKey = try publicKey(in: fields, of: text, path: path)
            guard
                let field = fields.first(where: { $0.section == "curve" && $0.name == secretName })
            else { throw .noSecretKey(path: path) }
            let letters = UnsafeRawBufferPointer(rebasing: text[field.value])
            guard letters.count == Z85Key.letterCount, let secret = Z85Key.decode(letters),
                let pair = CurveKeyPair.deriving(from: secret)
            else { throw .malformed(path: path, line: field.line) }
            guard pair.publicKey == publicKey else { throw .keysDiffer(path: path) }
            return pair
        }
    }

    /// Writes a public certificate, replacing what stood there, readable by all (0644).
    ///
    /// - Parameter metadata: names of `A-Z a-z 0-9 . _ -`; values without control characters and
    ///   double quotes.
    public static func writePublic(
        _ key: PeerKey, metadata: [String: String] = [:], to path: String
    ) throws(CertificateError) {
        let header = try metadataText(metadata, path: path)
        let text = """
            # ZeroMQ CURVE public certificate of Coffer

            metadata
            \(header)curve
                public-key = "\(key.z85)"

            """
        try KeyFile.replace(path, mode: 0o644, with: SecretBytes(copying: Array(text.utf8)))
    }

    /// Writes a secret certificate, replacing what stood there, for this user alone (0600).
    public static func writeSecret(
        _ pair: CurveKeyPair, metadata: [String: String] = [:], to path: String
    ) throws(CertificateError) {
        let header = try metadataText(metadata, path: path)
        let before = Array(
            """
            # ZeroMQ CURVE secret certificate of Coffer: give it to nobody

            metadata
            \(header)curve
                public-key = "\(pair.publicKey.z85)"
                secret-key = "
            """.utf8)
        let after = Array("\"\n".utf8)
        let letters = Z85Key.encode(pair.secret)
        let text = SecretBytes(count: before.count + Z85Key.letterCount + after.count) { text in
            text.copyBytes(from: before)
            let rest = UnsafeMutableRawBufferPointer(rebasing: text[before.count...])
            letters.withBytes { rest.copyBytes(from: $0.prefix(Z85Key.letterCount)) }
            UnsafeMutableRawBufferPointer(rebasing: rest[Z85Key.letterCount...])
                .copyBytes(from: after)
        }
        try KeyFile.replace(path, mode: 0o600, with: text)
    }

    private static let secretName = "secret-key"

    private static func fields(
        of text: UnsafeRawBufferPointer, path: String
    ) throws(CertificateError) -> [CertificateText.Field] {
        let fields: [CertificateText.Field]
        do throws(CertificateText.Malformed) {
            fields = try CertificateText.fields(of: text)
        } catch {
            throw .malformed(path: path, line: error.line)
        }
        var seen: Set<String> = []
        for field in fields where !seen.insert("\(field.section) \(field.name)").inserted {
            throw .malformed(path: path, line: field.line)
        }
        return fields
    }

    private static func publicKey(
        in fields: [CertificateText.Field], of text: UnsafeRawBufferPointer, path: String
    ) throws(CertificateError) -> PeerKey {
        guard let field = fields.first(where: { $0.section == "curve" && $0.name == "public-key" })
        else { throw .noPublicKey(path: path) }
        guard let key = PeerKey(String(decoding: text[field.value], as: UTF8.self)) else {
            throw .malformed(path: path, line: field.line)
        }
        return key
    }

    private static func metadata(
        in fields: [CertificateText.Field], of text: UnsafeRawBufferPointer, path: String
    ) throws(CertificateError) -> [String: String] {
        var metadata: [String: String] = [:]
        for field in fields where field.section == "metadata" {
            guard let value = String(validating: text[field.value], as: UTF8.self),
                isPlain(value)
            else { throw .malformed(path: path, line: field.line) }
            metadata[field.name] = value
        }
        return metadata
    }

    private static func metadataText(
        _ metadata: [String: String], path: String
    ) throws(CertificateError) -> String {
        var text = ""
        for (name, value) in metadata.sorted(by: { $0.key < $1.key }) {
            guard PeerName.accepts(name), isPlain(value), !value.utf8.contains(0x22) else {
                throw .unwritable(path: path)
            }
            text += "    \(name) = \"\(value)\"\n"
        }
        return text
    }

    private static func isPlain(_ value: String) -> Bool {
        value.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
    }
}
