import Crypto
import Tokens
import Wire

let tokenOperations: [String: Operation] = [
    "pasetoSign": Operation(inputs: ["seed", "message", "footer", "implicit"]) { inputs in
        let key = try Ed25519SigningKey(seed: inputs.secretHex("seed"))
        let token = try PASETO.sign(
            payload: inputs.text("message"), footer: inputs.text("footer"),
            implicit: inputs.text("implicit"), key: key)
        return .ok(.string(String(decoding: token, as: UTF8.self)))
    },
    "pasetoVerify": Operation(inputs: ["publicKey", "token", "implicit"]) { inputs in
        let publicKey = try inputs.hex("publicKey")
        let token = try inputs.text("token")
        let implicit = try inputs.text("implicit")
        do {
            let (message, footer) = try PASETO.verify(
                token, implicit: implicit, publicKey: publicKey)
            return .ok(.object(["message": .hex(message), "footer": .hex(footer)]))
        } catch is TokenError {
            return .error(.other)
        }
    },
]

extension JSONObject {
    fileprivate func text(_ key: String) throws -> [UInt8] { Array(try string(key).utf8) }
}
