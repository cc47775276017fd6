/// An option of the command line, the same wherever it is taken.
struct CommandOption: Hashable, Sendable {
    /// With its two hyphens.
    let name: String
    /// What stands for the value in help texts; nil for an option that is only there or not.
    let placeholder: String?
    let summary: String
    /// How often it may be given.
    let countMax: Int

    init(_ name: String, _ placeholder: String?, _ summary: String, countMax: Int = 1) {
        self.name = name
        self.placeholder = placeholder
        self.summary = summary
        self.countMax = countMax
    }

    /// Whether its value names a file or a folder, which no empty one does.
    var isPath: Bool { ["FILE", "PATH", "DIR"].contains(placeholder) }

    static func == (one: CommandOption, other: CommandOption) -> Bool { one.name == other.name }

    func hash(into hasher: inout Hasher) { hasher.combine(name) }
}

extension CommandOption {
    // Taken by every verb.
    static let json = CommandOption("--json", "Print one JSON object on standard output.")
    static let help = CommandOption("--help", "Explain the verb.")
    static let home = CommandOption(
        "--home", "DIR",
        "The installation; else $COFFER_HOME, $XDG_DATA_HOME/coffer, ~/.local/share/coffer.")
    static let owner = CommandOption("--owner", "OWNER", "Whose it is; `local` if left out.")
    static let timeout = CommandOption(
        "--timeout", "SECONDS", "How long a call may take; 10 if left out.")
    static let common: [CommandOption] = [.json, .help, .home, .owner, .timeout]

    static let namespace = CommandOption(
        "--namespace", "NAME", "A group of wallets with keys of its own; `main` if left out.")

    // Secrets in and out.
    static let passcodeDescriptor = CommandOption(
        "--passcode-fd", "N", "Read the passcode from this open descriptor.")
    static let newPasscodeDescriptor = CommandOption(
        "--new-passcode-fd", "N", "Read the new passcode from this open descriptor.")
    static let phraseDescriptor = CommandOption(
        "--phrase-fd", "N", "Read the recovery phrase from this open descriptor.")
    static let phraseOutDescriptor = CommandOption(
        "--phrase-out-fd", "N", "Write the phrase and a line feed to this open descriptor.")
    static let noPinentry = CommandOption(
        "--no-pinentry", "Ask on the terminal, even where pinentry is installed.")
    static let asking: [CommandOption] = [.passcodeDescriptor, .noPinentry]

    static let record = CommandOption(
        "--record", "FILE", "A credential record of version 1, a JSON document.")
    static let deviceSecret = CommandOption(
        "--device-secret", "FILE", "The record's device secret: 32 bytes, or their base64.")

    static let yes = CommandOption("--yes", "Do not ask for confirmation.")
    static let fresh = CommandOption(
        "--fresh", "Reset only an owner of whom no service knows anything; asks for nothing.")
    static let kind = CommandOption(
        "--kind", "KIND", "digits4, digits6 or alphanumeric; as before, or alphanumeric.")

    // Wallets.
    static let walletKind = CommandOption(
        "--kind", "KIND", "bip39, dash, ton or ton-rotation; bip39 if left out.")
    static let network = CommandOption(
        "--network", "NETWORK", "mainnet or testnet; wanted for dash, and for dash only.")
    static let label = CommandOption("--label", "TEXT", "What people call the wallet.")
    static let words = CommandOption("--words", "12|24", "Words of the phrase; 24 if left out.")
    static let expect = CommandOption(
        "--expect", "HEX", "Refuse the phrase unless the wallet has this identity.")
    static let scheme = CommandOption(
        "--scheme", "SCHEME", "ed25519 or secp256k1; what the wallet's kind signs with if left out."
    )
    static let path = CommandOption(
        "--path", "PATH", "Of the key, such as m/44'/0'/0'/0/0; left out for the TON kinds.")
    static let messageFile = CommandOption(
        "--message-file", "FILE", "What to sign; `-` is standard input.")
    static let digest = CommandOption("--digest", "HEX", "Sign these 32 bytes as they are.")
    static let hash = CommandOption(
        "--hash", "HASH", "How a message becomes a digest for secp256k1: sha256 or sha256d.")

    // Taking in legacy wallets.
    static let mainnetNamespace = CommandOption(
        "--namespace", "NAME",
        "Where wallets of the main network are; `dash.mainnet` if left out.")
    static let testnetNamespace = CommandOption(
        "--testnet-namespace", "NAME",
        "Where wallets of the test network are; `dash.testnet` if left out.")

    // Peers.
    static let publicKey = CommandOption(
        "--public-key", "KEY", "The peer's CURVE public key, in Z85.")
    static let certificate = CommandOption(
        "--certificate", "FILE", "Take the public key from a certificate file.")
    static let generate = CommandOption(
        "--generate", "DIR", "Make a key pair for the peer in this folder.")
    static let role = CommandOption(
        "--role", "ROLE", "app, extension, engine, operator or service:NAME.")
    static let owners = CommandOption(
        "--owners", "LIST", "The owners it may speak for: `*`, or names with commas.")
    static let destroy = CommandOption("--destroy", "Let it reset, wipe and remove.")

    // Holders, shares and restorations.
    static let passphraseDescriptor = CommandOption(
        "--passphrase-fd", "N", "Read the passphrase of the key from this open descriptor.")
    static let keyPath = CommandOption("--key", "FILE", "The holder's key, a PEM file.")
    static let holderKey = CommandOption(
        "--public-key", "KEY", "The holder's Ed25519 public key, 64 hexadecimal digits.")
    static let share = CommandOption("--share", "FILE", "The share.")
    static let request = CommandOption("--request", "FILE", "What the owner sent.")
    static let clientKey = CommandOption(
        "--for", "KEY", "Without a request: the public key to release for, 64 digits.")
    static let restoration = CommandOption(
        "--restoration", "ID", "The restoration, 32 hexadecimal digits.")
    static let newFile = CommandOption("--out", "PATH", "What is written; never replaced.")
    static let newFolder = CommandOption(
        "--out", "PATH", "The folder for the three files; made where there is none.")
    static let holder = CommandOption(
        "--holder", "NAME", "Who gets a share, three times; all, if there are three.", countMax: 3)
    static let shares = CommandOption(
        "--share", "FILE", "A share as its holder keeps it, three times.", countMax: 3)
    static let shareKeys = CommandOption(
        "--key", "FILE", "The key of its holder, in the same order.", countMax: 3)
    static let passphraseDescriptors = CommandOption(
        "--passphrase-fd", "N", "The passphrase of a key, in the order of the keys.", countMax: 3)
    static let sharesKind = CommandOption(
        "--kind", "KIND", "For shares of other programs: bip39, dash, ton or ton-rotation.")

    static let statePassphrase = CommandOption(
        "--passphrase-fd", "N", "Read the passphrase of the export from this open descriptor.")

    static let run = CommandOption(
        "--run", "DIR", "Where the sockets are, in a new coffer.conf; HOME/run if left out.")
}

extension CommandOption {
    /// An option that is only there or not.
    private init(_ name: String, _ summary: String) { self.init(name, nil, summary) }
}
