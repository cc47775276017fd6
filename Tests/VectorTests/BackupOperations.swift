import Mnemonics
import Secrets
import TestKit
import Wire

@testable import BackupShares

/// The phrase codec, the split, and a restoration from three messages.
let backupOperations: [String: Operation] = [
    "encodePhrase": Operation(inputs: ["words"]) { inputs in
        try refusing { .hex(try PhraseBlock.encode(inputs.words("words"))) }
    },
    "decodePhrase": Operation(inputs: ["block"]) { inputs in
        try refusing { .words(try PhraseBlock.decode(inputs.secretHex("block"))) }
    },
    "splitBackup": Operation(
        inputs: ["words", "random1", "random2", "interim"]
    ) { inputs in
        try refusing {
            let block = try PhraseBlock.encode(inputs.words("words"))
            let random = GivenRandom(try inputs.hex("random1") + inputs.hex("random2"))
            let payloads =
                try inputs.bool("interim")
                ? ShareSplit.shares(of: prefixed(block), random: random)
                : ShareSplit.split(block, random: random)
            guard random.isExhausted else { throw VectorProblem("random bytes are left") }
            return .array(payloads.map { .hex($0.bytes) })
        }
    },
    "combineBackup": Operation(inputs: ["payloads"]) { inputs in
        try refusing {
            let payloads = try inputs.hexStrings("payloads").map {
                SharedSecret(SecretBytes(copying: $0))
            }
            return .words(try PhraseBlock.decode(ShareSplit.combine(payloads)))
        }
    },
    "backupExport": Operation(
        inputs: ["clientPrivateKey", "expectedPublicKey", "shares"]
    ) { inputs in
        let clientKey = try inputs.secretHex("clientPrivateKey")
        let identity = try inputs.hex("expectedPublicKey")
        return try refusing {
            var payloads: [SharedSecret] = []
            for share in try inputs.objects("shares") {
                let envelope = try ShareEnvelope(
                    ephemeralKey: share.hex("peerPublicKey"), message: share.hex("message"))
                payloads.append(SharedSecret(try envelope.open(privateKey: clientKey)))
            }
            let phrase = try PhraseBlock.decode(ShareSplit.combine(payloads))
            guard try TONMnemonic.publicKey(of: phrase) == identity else {
                throw ShareError.notOneSet
            }
            return .words(phrase)
        }
    },
]

/// Keys and messages of tde2e.
let messageOperations: [String: Operation] = [
    "tde2eSharedSecret": Operation(inputs: ["privateKey", "publicKey"]) { inputs in
        let privateKey = try inputs.secretHex("privateKey")
        let publicKey = try inputs.hex("publicKey")
        return try refusing {
            let key = try MessageKey(privateKey: privateKey, publicKey: publicKey)
            return .hex(key.bytes)
        }
    },
    "tde2eEncrypt": Operation(inputs: ["secret", "payload", "prefixRandom"]) { inputs in
        let payload = try inputs.secretHex("payload")
        let random = GivenRandom(try inputs.hex("prefixRandom"))
        let key = try MessageKey(inputs.secretHex("secret"))
        return try refusing {
            let message = try MessageBox.seal(payload, key: key, random: random)
            guard random.isExhausted else { throw VectorProblem("random bytes are left") }
            return .hex(message)
        }
    },
    "tde2eDecrypt": Operation(inputs: ["secret", "message"]) { inputs in
        let message = try inputs.hex("message")
        let key = try MessageKey(inputs.secretHex("secret"))
        return try refusing { .hex(try MessageBox.open(message, key: key)) }
    },
    "tde2eDecryptFrom": Operation(
        inputs: ["privateKey", "peerPublicKey", "message"]
    ) { inputs in
        let privateKey = try inputs.secretHex("privateKey")
        let peer = try inputs.hex("peerPublicKey")
        let message = try inputs.hex("message")
        return try refusing {
            .hex(try MessageBox.open(message, privateKey: privateKey, from: peer))
        }
    },
    "tde2eDecryptMany": Operation(
        inputs: ["privateKey", "peerPublicKey", "header", "message"]
    ) { inputs in
        let privateKey = try inputs.secretHex("privateKey")
        let peer = try inputs.hex("peerPublicKey")
        let header = try inputs.hex("header")
        let message = try inputs.hex("message")
        return try refusing {
            let key = try MessageKey(privateKey: privateKey, publicKey: peer)
            return .hex(try MessageBox.open(message, header: header, key: key))
        }
    },
]

/// The answer, or a refusal where the library refuses.
private func refusing(_ body: () throws -> Value) throws -> Outcome {
    do {
        return .ok(try body())
    } catch is ShareError {
        return .error(.other)
    }
}

/// What an interim writer split.
private func prefixed(_ block: borrowing SecretBytes) -> SecretBytes {
    SecretBytes(copying: ShareSplit.prefix + block.withBytes { Array($0) })
}
