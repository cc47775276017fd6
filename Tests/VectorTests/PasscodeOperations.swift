import AuthorityMessages
import Crypto
import Secrets
import UnicodeText
import Wire

/// How a typed passcode becomes a key, from the primitives that limiter and authority use for it.
let passcodeOperations: [String: Operation] = [
    "normalize": Operation(inputs: ["code", "kind"]) { inputs in
        .ok(.hex(try PasscodeKind(inputs).normalize(inputs.secretText("code"))))
    },
    "setupCode": Operation(inputs: ["code", "kind"]) { inputs in
        let kind = try PasscodeKind(inputs)
        let code = try kind.normalize(inputs.secretText("code"))
        return kind.admits(code) ? .ok(.hex(code)) : .error(.invalidCode)
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
        guard try inputs.optionalHex("deviceSecret")?.count == 32, salt.count == 16,
            600_000...3_000_000 ~= iterations
        else { return .error(.other) }
        let key = try PBKDF2.sha256(
            password: passcodeCode(inputs), salt: salt, iterations: iterations, count: 32)
        return .ok(.hex(key))
    },
]

/// What PBKDF2 takes as its password.
private func passcodeCode(_ inputs: JSONObject) throws -> SecretBytes {
    let code = try PasscodeKind(inputs).normalize(inputs.secretText("code"))
    return HMAC.sha256(
        key: try inputs.secretHex("deviceSecret"), prefix: Array("telegram.passcode.v1\0".utf8),
        message: code)
}

private enum PasscodeKind: String {
    case digits4
    case digits6
    case alphanumeric

    init(_ inputs: JSONObject) throws {
        guard let kind = PasscodeKind(rawValue: try inputs.string("kind")) else {
            throw VectorProblem("unknown kind of passcode")
        }
        self = kind
    }

    func normalize(_ code: borrowing SecretBytes) throws -> SecretBytes {
        self == .alphanumeric ? try UnicodeText.nfc(code) : try UnicodeText.digitsMapped(code)
    }

    func admits(_ code: borrowing SecretBytes) -> Bool {
        code.withBytes { bytes in
            let isNumber = bytes.allSatisfy { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
            return switch self {
            case .digits4: isNumber && bytes.count == 4
            case .digits6: isNumber && bytes.count == 6
            case .alphanumeric: !bytes.isEmpty
            }
        }
    }
}
