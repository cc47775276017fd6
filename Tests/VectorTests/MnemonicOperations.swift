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
]
