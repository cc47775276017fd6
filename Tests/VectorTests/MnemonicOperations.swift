import Mnemonics
import Wire

let mnemonicOperations: [String: Operation] = [
    "bip39Valid": Operation(inputs: ["phrase"]) { inputs in
        let phrase = try Mnemonic.normalize(inputs.secretText("phrase"))
        return .ok(.bool(Mnemonic.isValid(phrase)))
    },
    "bip39Seed": Operation(inputs: ["phrase", "passphrase"]) { inputs in
        let phrase = try Mnemonic.normalize(inputs.secretText("phrase"))
        let seed = try Mnemonic.seed(of: phrase, passphrase: inputs.secretText("passphrase"))
        return .ok(.hex(seed))
    },
    "tonValid": Operation(inputs: ["words"]) { inputs in
        let phrase = try Mnemonic.normalize(inputs.words("words"))
        return .ok(.bool(TONMnemonic.isValid(phrase)))
    },
    "tonKey": Operation(inputs: ["words"]) { inputs in
        let phrase = try Mnemonic.normalize(inputs.words("words"))
        return .ok(
            .object([
                "privateSeed": .hex(try TONMnemonic.privateKey(of: phrase)),
                "publicKey": .hex(try TONMnemonic.publicKey(of: phrase)),
            ]))
    },
]
