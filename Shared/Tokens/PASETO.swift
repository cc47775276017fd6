public import Crypto
internal import Wire

/// PASETO version 4, purpose public: an Ed25519 signature over a message, a footer and an implicit
/// assertion (the PASETO specification, Version4 and Common).
public enum PASETO {
    static let header = Array("v4.public.".utf8)

    /// Signs a message; the implicit assertion is signed and not part of the token.
    public static func sign(
        payload: [UInt8], footer: [UInt8] = [], implicit: [UInt8] = [],
        key: borrowing Ed25519SigningKey
    ) -> [UInt8] {
        let signed = preAuthenticationEncoding([header, payload, footer, implicit])
        var token = header + Base64.url.encode(payload + key.sign(signed))
        if !footer.isEmpty { token += [0x2E] + Base64.url.encode(footer) }
        return token
    }

    /// Gives message and footer where the signature is the key's; nothing of another token comes
    /// out.
    public static func verify(
        _ token: [UInt8], implicit: [UInt8] = [], publicKey: [UInt8]
    ) throws(TokenError) -> (payload: [UInt8], footer: [UInt8]) {
        let parts = try PASETOParts(token)
        return (try parts.verified(implicit: implicit, publicKey: publicKey), parts.footer)
    }

    /// PAE of the specification: the number of pieces and each piece's length as 64-bit
    /// little-endian numbers, so that no two lists of pieces give the same bytes.
    static func preAuthenticationEncoding(_ pieces: [[UInt8]]) -> [UInt8] {
        pieces.reduce(into: littleEndian(pieces.count)) { encoded, piece in
            encoded += littleEndian(piece.count) + piece
        }
    }

    private static func littleEndian(_ count: Int) -> [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: count >> (8 * $0)) }
    }
}

/// The parts of a token whose signature has not been checked.
struct PASETOParts {
    /// Unsigned until `verified` says otherwise; it may choose a key and nothing else.
    let footer: [UInt8]
    private let payload: [UInt8]
    private let signature: [UInt8]

    init(_ token: [UInt8]) throws(TokenError) {
        guard token.starts(with: PASETO.header) else { throw .malformed }
        let parts = token.dropFirst(PASETO.header.count)
            .split(separator: 0x2E, maxSplits: 2, omittingEmptySubsequences: false)
        guard (1...2).contains(parts.count), let body = Base64.url.decode(Array(parts[0])),
            body.count >= Ed25519.signatureBytes
        else { throw .malformed }
        payload = Array(body.dropLast(Ed25519.signatureBytes))
        signature = Array(body.suffix(Ed25519.signatureBytes))
        guard parts.count == 2 else {
            footer = []
            return
        }
        guard let footer = Base64.url.decode(Array(parts[1])), !footer.isEmpty else {
            throw .malformed
        }
        self.footer = footer
    }

    /// The message, where the signature is the key's for all parts.
    func verified(implicit: [UInt8], publicKey: [UInt8]) throws(TokenError) -> [UInt8] {
        let signed = PASETO.preAuthenticationEncoding([PASETO.header, payload, footer, implicit])
        guard Ed25519.verify(signature, signed, publicKey: publicKey) else {
            throw .authenticationFailed
        }
        return payload
    }
}
