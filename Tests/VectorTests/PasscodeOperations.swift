import AuthorityMessages
import Crypto
import Secrets
import Wire

@testable import AuthorityCore

/// How a typed passcode becomes a key: the authority's rules, and the limiter's step between.
let passcodeOperations: [String: Operation] = [
    "normalize": Operation(inputs: ["code", "kind"]) { inputs in
        .ok(.hex(try normalized(inputs)))
    },
    "setupCode": Operation(inputs: ["code", "kind"]) { inputs in
        let typed = try inputs.secretText("code")
        let kind = try inputs.identifier("kind", as: PasscodeKind.self)
        do throws(CredentialFault) {
            return .ok(.hex(try PasscodeText.ofSetup(typed, kind)))
        } catch {
            return .error(.invalidCode)
        }
    },
    "legacyKind": Operation(inputs: ["challenge", "code"]) { inputs in
        guard let challenge = LegacyChallenge(rawValue: try inputs.string("challenge")) else {
            throw VectorProblem("unknown challenge")
        }
        let count = try inputs.string("code").count
        return .ok(.string(challenge.kind(characterCount: count).rawValue))
    },
    "passcodeHmac": Operation(inputs: ["deviceSecret", "code", "kind"]) { inputs in
        .ok(.hex(try passcodeCode(inputs)))
    },
    "deriveKek": Operation(
        inputs: ["deviceSecret", "code", "kind", "salt", "iterations"]
    ) { inputs in
        let iterations = try inputs.integer("iterations")
        let salt = try inputs.hex("salt")
        guard try inputs.optionalHex("deviceSecret")?.count == 32,
            salt.count == CredentialRecord.Passcode.saltBytes,
            PasscodeWrapper.iterationsAllowed.contains(iterations)
        else { return .error(.other) }
        let key = try PBKDF2.sha256(
            password: passcodeCode(inputs), salt: salt, iterations: iterations,
            count: PasscodeWrapper.keyBytes)
        return .ok(.hex(key))
    },
]

/// What PBKDF2 takes as its password.
private func passcodeCode(_ inputs: JSONObject) throws -> SecretBytes {
    HMAC.sha256(
        key: try inputs.secretHex("deviceSecret"), prefix: Array("telegram.passcode.v1\0".utf8),
        message: try normalized(inputs))
}

private func normalized(_ inputs: JSONObject) throws -> SecretBytes {
    try PasscodeText.normalize(inputs.secretText("code"), inputs.identifier("kind"))
}
