internal import CZMQ
public import Secrets
public import Wire

/// A long-term CURVE key pair: who a process is on the bus.
public final class CurveKeyPair: Sendable {
    /// How long either key is, in bytes.
    public static let byteCount = 32

    public let publicKey: PeerKey
    /// The raw 32 bytes.
    public let secret: SecretBytes

    /// A pair whose halves are known to belong together.
    init(publicKey: PeerKey, secret: consuming SecretBytes) {
        precondition(secret.count == Self.byteCount, "a CURVE key has 32 bytes")
        self.publicKey = publicKey
        self.secret = secret
    }

    /// A new pair from libzmq's generator; nil where it has none.
    public static func generate() -> CurveKeyPair? {
        var publicText = [CChar](repeating: 0, count: Z85Key.letterCount + 1)
        var secretText = SecretBytes(count: Z85Key.letterCount + 1)
        let code = secretText.withMutableBytes { secret in
            zmq_curve_keypair(&publicText, secret.baseAddress)
        }
        guard code == 0, let publicKey = Z85Key.publicKey(publicText) else { return nil }
        guard let secret = secretText.withBytes({ Z85Key.decode($0) }) else { return nil }
        return CurveKeyPair(publicKey: publicKey, secret: secret)
    }

    /// The pair of a secret key; nil where libzmq cannot derive the public one.
    static func deriving(from secret: consuming SecretBytes) -> CurveKeyPair? {
        let text = Z85Key.encode(secret)
        var publicText = [CChar](repeating: 0, count: Z85Key.letterCount + 1)
        let code = text.withBytes { zmq_curve_public(&publicText, $0.baseAddress) }
        guard code == 0, let publicKey = Z85Key.publicKey(publicText) else { return nil }
        return CurveKeyPair(publicKey: publicKey, secret: secret)
    }
}

/// Keys in the 40 letters of Z85 (ZeroMQ RFC 32), secret ones without leaving secret memory.
///
/// Texts have a closing zero byte, as libzmq wants them.
enum Z85Key {
    static let letterCount = 40

    /// Reads the first 40 letters; nil where they are not Z85.
    static func decode(_ letters: UnsafeRawBufferPointer) -> SecretBytes? {
        guard letters.count >= letterCount else { return nil }
        // libzmq reads up to a zero byte, which the caller's bytes need not have.
        let text = SecretBytes(count: letterCount + 1) { text in
            text.copyMemory(from: UnsafeRawBufferPointer(rebasing: letters[..<letterCount]))
        }
        var decoded = false
        let key = SecretBytes(count: CurveKeyPair.byteCount) { key in
            text.withBytes { decoded = zmq_z85_decode(key.baseAddress, $0.baseAddress) != nil }
        }
        guard decoded else { return nil }
        return key
    }

    /// Writes 40 letters and a zero byte.
    static func encode(_ key: borrowing SecretBytes) -> SecretBytes {
        SecretBytes(count: letterCount + 1) { text in
            key.withBytes {
                _ = zmq_z85_encode(text.baseAddress, $0.baseAddress, $0.count)
            }
        }
    }

    static func publicKey(_ text: [CChar]) -> PeerKey? {
        PeerKey(
            String(decoding: text.prefix(letterCount).map(UInt8.init(bitPattern:)), as: UTF8.self))
    }
}
