import AuthorityMessages
import HDKeys
import MigrationMessages
import Mnemonics
import Secrets
import SharesMessages
import VaultMessages
import Wire

@testable import AuthorityCore
@testable import CofferCore

extension FuzzTarget {
    /// The first byte says what a person or a program typed: a passcode, a phrase, a path, a name,
    /// or an encoding of bytes.
    static let typedText = FuzzTarget(
        name: "typed-text",
        seeds: {
            let phrase = Array(repeating: "abandon", count: 11).joined(separator: " ") + " about"
            return [
                [0] + Array("１２３٤".utf8), [0] + Array("e\u{301}ﬁ".utf8),
                [1] + Array(phrase.utf8),
                [1] + Array(" \u{3000}ＡBANDON\u{2003}abandon ".utf8),
                [1] + Array("\(phrase) \(phrase)".utf8),
                [2] + Array("m/44'/5h/0/2147483647".utf8), [3] + Array("telegram.test.1".utf8),
                [3] + Array("*".utf8), [3] + Array("local,other".utf8),
                [4] + Array("_-8".utf8), [4] + Array("+/8=".utf8), [4] + Array("00ff".utf8),
                [4] + [UInt8](repeating: 0x61, count: 40), [5] + Array("a%25%0ab".utf8),
            ]
        },
        run: { input in
            guard let mode = input.first else { return }
            let rest = Array(input.dropFirst())
            switch mode {
            case 0: readPasscode(rest)
            case 1: readPhrase(rest)
            case 2: readPath(String(decoding: rest, as: UTF8.self))
            case 3: readName(String(decoding: rest, as: UTF8.self))
            case 4: readEncoding(rest)
            default: rest.withUnsafeBytes { _ = PercentText.decode($0) }
            }
        })

    /// Once normalized, a passcode stays as it is; one that may be set may be tried.
    private static func readPasscode(_ typed: [UInt8]) {
        let text = SecretBytes(copying: typed)
        for kind in PasscodeKind.allCases {
            guard let code = try? PasscodeText.ofAttempt(text, kind) else {
                promise((try? PasscodeText.ofSetup(text, kind)) == nil)
                continue
            }
            guard let again = try? PasscodeText.ofAttempt(code, kind) else {
                fatalError("a normalized passcode is none")
            }
            promise(again.isEqual(to: code), "normalizing twice is not the same")
            if (try? PasscodeText.ofSetup(text, kind)) != nil {
                plantedTrap(kind == .digits6)
            }
        }
    }

    private static func readPhrase(_ typed: [UInt8]) {
        guard let phrase = try? Mnemonic.normalize(SecretBytes(copying: typed)) else { return }
        guard let again = try? Mnemonic.normalize(phrase) else {
            fatalError("a normalized phrase is none")
        }
        promise(again.isEqual(to: phrase), "normalizing twice is not the same")
        if let entropy = try? Mnemonic.entropy(of: phrase) {
            let words = try? Mnemonic.phrase(ofEntropy: entropy)
            promise(words?.isEqual(to: phrase) == true, "a phrase is not that of its entropy")
        }
        if let rotation = try? RotationMnemonic(phrase) {
            promise(Mnemonic.isValid(rotation.anchor) && Mnemonic.isValid(rotation.signing))
        }
    }

    private static func readPath(_ text: String) {
        guard let path = try? DerivationPath(text) else { return }
        promise((try? DerivationPath(path.description)) == path)
    }

    private static func readName(_ text: String) {
        sameAgain(text, as: Owner.self)
        sameAgain(text, as: Namespace.self)
        sameAgain(text, as: OwnerSet.self)
        sameAgain(text, as: Role.self)
        sameAgain(text, as: HolderName.self)
        sameAgain(text, as: SourcePath.self)
        sameAgain(text, as: WalletID.self)
        _ = WalletLabel.isValid(text)
    }

    private static func sameAgain<T: TextIdentifier>(_ text: String, as type: T.Type) {
        guard let value = T(text) else { return }
        promise(T(value.text) == value, "a name changes as it is written")
    }

    /// Each encoding has one form.
    private static func readEncoding(_ letters: [UInt8]) {
        for alphabet in [Base64.standard, .url] {
            guard let bytes = alphabet.decode(letters) else { continue }
            promise(alphabet.encode(bytes) == letters, "base64 in two forms")
        }
        let text = String(decoding: letters, as: UTF8.self)
        if let bytes = Hex.decode(text) { promise(Hex.encode(bytes) == text, "hex in two forms") }
        if let bytes = Z85.decode(text) { promise(Z85.encode(bytes) == text, "Z85 in two forms") }
    }
}
