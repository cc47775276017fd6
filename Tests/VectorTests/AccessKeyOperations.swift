import Crypto
import Wire

/// How the access key is wrapped under a passcode's key, and what is derived from it.
let accessKeyOperations: [String: Operation] = [
    "wrap": Operation(
        inputs: ["kek", "nonce", "accessKey", "credentialId", "kind"]
    ) { inputs in
        let box = try AESGCM.seal(
            inputs.secretHex("accessKey"), key: inputs.secretHex("kek"),
            nonce: inputs.hex("nonce"), aad: wrapperContext(inputs))
        return .ok(.hex(box))
    },
    "unwrap": Operation(inputs: ["kek", "wrappedKey", "credentialId", "kind"]) { inputs in
        let box = try inputs.hex("wrappedKey")
        let key = try inputs.secretHex("kek")
        let context = try wrapperContext(inputs)
        guard box.count == 60 else { return .error(.other) }
        do {
            return .ok(.hex(try AESGCM.open(box, key: key, aad: context)))
        } catch CryptoError.authenticationFailed {
            return .error(.invalidCode)
        } catch is CryptoError {
            return .error(.other)
        }
    },
    "deriveKey": Operation(inputs: ["accessKey", "namespace", "domain"]) { inputs in
        let salt = Array(try inputs.string("namespace").utf8)
        let info = Array(try inputs.string("domain").utf8)
        guard !salt.isEmpty, !info.isEmpty else { return .error(.other) }
        let key = try HKDF.sha256(
            key: inputs.secretHex("accessKey"), salt: salt, info: info, count: 32)
        return .ok(.hex(key))
    },
]

private func wrapperContext(_ inputs: JSONObject) throws -> [UInt8] {
    Array("credential.v1:\(try inputs.string("credentialId")):\(try inputs.string("kind"))".utf8)
}
