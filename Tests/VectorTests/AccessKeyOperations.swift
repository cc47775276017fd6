import AuthorityMessages
import Crypto
import Wire

@testable import AuthorityCore

/// How the access key is wrapped under a passcode's key, and what is derived from it.
let accessKeyOperations: [String: Operation] = [
    "wrap": Operation(
        inputs: ["kek", "nonce", "accessKey", "credentialId", "kind"]
    ) { inputs in
        let wrapped = try PasscodeWrapper.seal(
            inputs.secretHex("accessKey"), under: inputs.secretHex("kek"),
            nonce: inputs.hex("nonce"), credential: inputs.string("credentialId"),
            kind: inputs.identifier("kind"))
        return .ok(.hex(wrapped))
    },
    "unwrap": Operation(inputs: ["kek", "wrappedKey", "credentialId", "kind"]) { inputs in
        let key = try inputs.secretHex("kek")
        let wrapped = try inputs.hex("wrappedKey")
        let credential = try inputs.string("credentialId")
        let kind = try inputs.identifier("kind", as: PasscodeKind.self)
        do throws(PasscodeWrapperError) {
            return .ok(
                .hex(
                    try PasscodeWrapper.open(
                        wrapped, under: key, credential: credential, kind: kind)))
        } catch {
            return .error(error == .wrongKey ? .invalidCode : .other)
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
