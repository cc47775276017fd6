import Crypto
import Secrets
import Wire

@testable import VaultCore

/// Wallet envelopes, from the access key on; the vault itself gets the wrapping key.
let envelopeOperations: [String: Operation] = [
    "sealEnvelope": Operation(
        inputs: [
            "accessKey", "namespace", "vaultId", "secretId", "secret", "dek", "dekNonce",
            "secretNonce",
        ]
    ) { inputs in
        guard let namespace = Namespace(try inputs.string("namespace")) else {
            return .error(.other)
        }
        let parts = EnvelopeV1.Ingredients(
            secretID: try inputs.string("secretId"), dataKey: try inputs.secretHex("dek"),
            keyNonce: try inputs.hex("dekNonce"), secretNonce: try inputs.hex("secretNonce"))
        do {
            let envelope = try EnvelopeV1.seal(
                inputs.secretHex("secret"), namespace: namespace,
                vaultID: inputs.string("vaultId"), wrappingKey: wrappingKey(inputs), parts: parts)
            return .ok(.object(try Value.members(of: JSONDocument(envelope.encoded()).object())))
        } catch is EnvelopeError {
            return .error(.other)
        }
    },
    "openEnvelope": Operation(
        inputs: ["accessKey", "namespace", "vaultId", "envelope"]
    ) { inputs in
        guard let namespace = Namespace(try inputs.string("namespace")) else {
            return .error(.other)
        }
        do {
            let secret = try EnvelopeV1(decoding: document(inputs)).open(
                namespace: namespace, vaultID: inputs.string("vaultId"),
                wrappingKey: wrappingKey(inputs))
            return .ok(.hex(secret))
        } catch is EnvelopeError {
            return .error(.other)
        }
    },
]

private func wrappingKey(_ inputs: JSONObject) throws -> SecretBytes {
    try HKDF.sha256(
        key: inputs.secretHex("accessKey"), salt: Array(inputs.string("namespace").utf8),
        info: Array(KeyDomain.envelopes.rawValue.utf8), count: 32)
}

/// The envelope's bytes, which a vector gives as text or as hexadecimal.
private func document(_ inputs: JSONObject) throws -> [UInt8] {
    let envelope = try inputs.object("envelope")
    if let text = try envelope.optionalString("text") { return Array(text.utf8) }
    return try envelope.hex("hex")
}
