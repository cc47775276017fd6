import Crypto
import HDKeys
import Wire

let hierarchicalKeyOperations: [String: Operation] = [
    "bip32": Operation(inputs: ["seed", "path"]) { inputs in
        try refusing {
            let path = try DerivationPath(inputs.string("path"))
            let key = try BIP32.derive(seed: inputs.secretHex("seed"), path: path)
            return .object([
                "private": .hex(key.privateKey), "public": .hex(try key.publicKey()),
                "chainCode": .hex(key.chainCode), "xprv": .text(key.xprv()),
                "xpub": .string(try key.xpub()),
            ])
        }
    },
    "slip10Ed25519": Operation(inputs: ["seed", "path"]) { inputs in
        try refusing {
            let path = try DerivationPath(inputs.string("path"))
            let key = try SLIP10Ed25519.derive(seed: inputs.secretHex("seed"), path: path)
            return .object([
                "private": .hex(key.privateKey), "public": .hex(try key.publicKey()),
                "chainCode": .hex(key.chainCode),
            ])
        }
    },
    "dashAddress": Operation(inputs: ["publicKey", "testnet"]) { inputs in
        let network: PayToKeyHash.Network = try inputs.bool("testnet") ? .dashTest : .dash
        let publicKey = try inputs.hex("publicKey")
        return .ok(.string(PayToKeyHash.address(ofPublicKey: publicKey, on: network)))
    },
    "edPublicKey": Operation(inputs: ["privateKey"]) { inputs in
        .ok(.hex(try Ed25519.publicKey(seed: inputs.secretHex("privateKey"))))
    },
]

/// The answer, or a refusal where the library refuses.
private func refusing(_ body: () throws -> Value) throws -> Outcome {
    do {
        return .ok(try body())
    } catch is HDKeyError {
        return .error(.other)
    }
}
