// swift-tools-version: 6.2
import PackageDescription

// The architecture as a table: one line a module, with what it may import. Left may import right,
// nothing else; the build checks it (`--explicit-target-dependency-import-check error`).

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .treatAllWarnings(as: .error),
]

/// How a program is linked that has the bus.
///
/// What Coffer puts in the place of libraries' functions is shown to libzmq. And names of libraries
/// are bound at the start: bound at its first call, each would save the vector registers on the
/// stack, and with them what was copied through them, such as half a passcode.
let busLinking: [LinkerSetting] = [
    .unsafeFlags(
        (["_ZdlPv", "_ZdlPvm", "accept4"].map { "--export-dynamic-symbol=\($0)" } + ["-z", "now"])
            .flatMap { ["-Xlinker", $0] })
]

/// A C library installed on the machine, seen by exactly one Swift module.
func system(_ name: String, apt: String, pkgConfig: String? = nil) -> Target {
    .systemLibrary(
        name: name, path: "Shared/System/\(name)", pkgConfig: pkgConfig, providers: [.apt([apt])])
}

/// A small library with one job.
func shared(
    _ name: String, uses: [String] = [], resources: [Resource] = [], linking: [LinkerSetting] = []
) -> Target {
    .target(
        name: name, dependencies: on(uses), path: "Shared/\(name)", resources: resources,
        swiftSettings: settings, linkerSettings: linking)
}

/// What a service may be asked: its requests and replies, and nothing of how it answers them.
func contract(_ name: String, uses: [String] = ["Wire"]) -> Target {
    .target(
        name: "\(name)Messages", dependencies: on(uses), path: "Services/\(name)/Messages",
        swiftSettings: settings)
}

/// What a service decides and stores (Core), and the program around it (Main).
///
/// `programUses` is for the program alone.
func service(
    _ name: String, program: String, calls: [String] = [], uses: [String],
    programUses: [String] = []
) -> [Target] {
    let contracts = ([name] + calls).map { "\($0)Messages" }
    return [
        .target(
            name: "\(name)Core", dependencies: on(contracts + uses),
            path: "Services/\(name)/Core", swiftSettings: settings),
        .executableTarget(
            name: program,
            dependencies: on(["\(name)Core", "Hosting", "Home"] + contracts + uses + programUses),
            path: "Services/\(name)/Main", swiftSettings: settings),
    ]
}

func tests(_ name: String, of modules: [String]) -> Target {
    .testTarget(
        name: name, dependencies: on(modules), path: "Tests/\(name)", swiftSettings: settings)
}

func on(_ names: [String]) -> [Target.Dependency] { names.map { .target(name: $0) } }

/// What every service is built from.
let serviceParts = [
    "Wire", "Secrets", "Clocks", "Loop", "Storage", "Tokens", "Crypto", "Serving",
]

/// What a service's way to the authority is built from.
let leaveParts = ["Wire", "Secrets", "Clocks", "Loop", "Tokens", "Serving"]

/// What the command is built from.
let commandParts = [
    "AuthorityMessages", "LimiterMessages", "VaultMessages", "SharesMessages",
    "MigrationMessages", "Wire", "Secrets", "Clocks", "Crypto",
    "Tokens", "Bus", "Home", "KernelKeyring", "BackupShares", "WholeFiles", "StateFolders",
    "ChildProcesses",
]

let package = Package(
    name: "coffer",
    targets: [
        system("CZMQ", apt: "libzmq3-dev"),
        system("COpenSSL", apt: "libssl-dev"),
        system("CSQLite", apt: "libsqlite3-dev"),
        system("CSodium", apt: "libsodium-dev"),
        system("CNettle", apt: "nettle-dev"),
        system("CSecp256k1", apt: "libsecp256k1-dev"),
        system("CUTF8Proc", apt: "libutf8proc-dev"),
        system("CKeyutils", apt: "libkeyutils-dev"),
        system("CLinux", apt: "libc6-dev"),
        system("CRename", apt: "linux-libc-dev"),
        system("CP11Kit", apt: "libp11-kit-dev", pkgConfig: "p11-kit-1"),
        system("CSystemd", apt: "libsystemd-dev"),

        shared("Secrets", uses: ["CLinux"]),
        shared("Clocks"),
        shared("Loop", uses: ["Clocks"]),
        shared("Wire", uses: ["Secrets"]),
        shared("Crypto", uses: ["Secrets", "COpenSSL", "CSodium", "CNettle"]),
        shared("UnicodeText", uses: ["Secrets", "CUTF8Proc"]),
        shared("Mnemonics", uses: ["Secrets", "Crypto", "UnicodeText", "HDKeys"]),
        shared("HDKeys", uses: ["Secrets", "Crypto", "CSecp256k1"]),
        shared("PropertyLists", uses: ["Secrets"]),
        shared("LegacyKeychain", uses: ["PropertyLists", "Wire", "Secrets"]),
        shared("BackupShares", uses: ["Secrets", "Crypto", "Wire"]),
        shared("Tokens", uses: ["Wire", "Crypto", "Clocks", "Secrets"]),
        shared("StateFolders", uses: ["Secrets"]),
        shared("Storage", uses: ["CSQLite", "Secrets", "StateFolders"]),
        shared(
            "Bus", uses: ["Wire", "Loop", "Clocks", "Secrets", "CZMQ"], linking: busLinking),
        shared(
            "Serving", uses: ["Wire", "Loop", "Clocks", "Secrets", "Storage", "Tokens", "Crypto"]),
        shared(
            "Hosting",
            uses: [
                "Home", "Serving", "Bus", "Wire", "Loop", "Clocks", "Secrets", "Storage",
                "StateFolders",
            ]),
        contract("Limiter"),
        contract("Authority", uses: ["Wire", "Tokens"]),
        contract("Vault"),
        contract("Shares", uses: ["Wire", "VaultMessages"]),
        contract("Migration", uses: ["Wire", "VaultMessages"]),
        // How a service works under the authority's leave.
        .target(
            name: "AuthorityClient",
            dependencies: on(["AuthorityMessages"] + leaveParts),
            path: "Services/Authority/Client", swiftSettings: settings),

        shared("Home", uses: ["Wire"]),
        shared("HardwareTokens", uses: ["Secrets", "Crypto", "CP11Kit"]),
        // What the authority says to the one program that loads PKCS #11 modules.
        .target(
            name: "DeviceKeyFrames", dependencies: on(["AuthorityMessages", "Secrets"]),
            path: "Services/Authority/Reader/Frames", swiftSettings: settings),
        .executableTarget(
            name: "device-key-reader",
            dependencies: on([
                "DeviceKeyFrames", "HardwareTokens", "AuthorityMessages", "Secrets",
            ]),
            path: "Services/Authority/Reader/Main", swiftSettings: settings),
        shared("LoginManager", uses: ["CSystemd"]),
        shared("KernelKeyring", uses: ["Secrets", "CKeyutils"]),
        shared("WholeFiles", uses: ["Secrets", "CRename"]),
        shared("ChildProcesses"),

        .target(
            name: "CofferCore", dependencies: on(commandParts), path: "Services/Coffer/Core",
            resources: [.embedInCode("Holding/restore.py")], swiftSettings: settings),
        .executableTarget(
            name: "coffer", dependencies: on(["CofferCore"]), path: "Services/Coffer/Main",
            swiftSettings: settings),
        tests("CofferTests", of: ["CofferCore", "TestKit"] + commandParts),

        // The tree itself: what no compiler checks.
        tests("TidyTests", of: ["Home", "Wire"]),

        // Fakes for tests; no service may use it.
        shared(
            "TestKit",
            uses: ["Clocks", "Loop", "Secrets", "Mnemonics", "HDKeys", "Serving", "Storage"]),
        // An authority for the tests of services that work under its leave.
        .target(
            name: "AuthorityDouble",
            dependencies: on([
                "AuthorityMessages", "TestKit", "Wire", "Secrets", "Clocks", "Loop", "Tokens",
                "Crypto", "Serving",
            ]),
            path: "Tests/AuthorityDouble", swiftSettings: settings),
        tests(
            "SharesTests",
            of: [
                "SharesCore", "SharesMessages", "VaultCore", "VaultMessages", "BackupShares",
                "AuthorityClient", "AuthorityMessages", "AuthorityDouble", "TestKit",
                "Mnemonics",
            ] + serviceParts),
        tests("LimiterTests", of: ["LimiterCore", "LimiterMessages", "TestKit"] + serviceParts),
        tests(
            "VaultTests",
            of: [
                "VaultCore", "VaultMessages", "AuthorityClient", "AuthorityMessages",
                "AuthorityDouble", "TestKit",
            ]
                + serviceParts + ["Mnemonics", "HDKeys"]),
        tests(
            "AuthorityClientTests",
            of: ["AuthorityClient", "AuthorityMessages", "TestKit", "Tokens", "Wire"]),
        tests(
            "MigrationTests",
            of: [
                "MigrationCore", "MigrationMessages", "VaultMessages", "AuthorityClient",
                "AuthorityMessages", "AuthorityDouble", "Mnemonics", "HDKeys", "PropertyLists",
                "LegacyKeychain",
                "TestKit",
            ] + serviceParts),
        // Every request that a service answers.
        .target(
            name: "Contracts",
            dependencies: on([
                "AuthorityMessages", "LimiterMessages", "VaultMessages", "SharesMessages",
                "MigrationMessages", "Wire",
            ]),
            path: "Tests/Contracts", swiftSettings: settings),
        tests("TestKitTests", of: ["TestKit", "Clocks", "Loop", "Secrets"]),

        tests(
            "ServingTests",
            of: ["Serving", "Wire", "Loop", "Clocks", "Secrets", "Storage", "Tokens", "TestKit"]),
        // Starts the programs; they are built because they stand here.
        .testTarget(
            name: "EndToEndTests",
            dependencies: on([
                "Bus", "Wire", "Clocks", "Loop", "Secrets", "Crypto", "HDKeys", "Mnemonics", "Home",
                "TestKit", "Tokens",
                "AuthorityMessages",
                "LimiterMessages", "VaultMessages", "SharesMessages", "MigrationMessages",
                "BackupShares", "CSystemd", "attempt-limiter", "credential-authority",
                "wallet-vault",
                "backup-shares", "migration", "coffer",
                "device-key-reader",
            ]),
            path: "Tests/EndToEndTests", swiftSettings: settings),
        tests(
            "StorageTests",
            of: ["Storage", "StateFolders", "Secrets", "CSQLite", "DiskDouble", "TestKit"]),
        // A disk that fails, fills up and loses what was not synced.
        .target(
            name: "DiskDouble", dependencies: on(["CSQLite", "Storage", "TestKit"]),
            path: "Tests/DiskDouble", swiftSettings: settings),
        // Real services on a simulated machine, from one seed a run.
        .target(
            name: "Simulation",
            dependencies: on(
                [
                    "AuthorityClient", "AuthorityCore", "AuthorityMessages", "LimiterCore",
                    "LimiterMessages", "VaultCore", "VaultMessages", "SharesCore",
                    "SharesMessages", "MigrationCore", "MigrationMessages", "BackupShares",
                    "HDKeys", "DeviceKeyFrames", "DiskDouble", "TestKit",
                ] + serviceParts),
            path: "Tests/Simulation/Kit", swiftSettings: settings),
        .executableTarget(
            name: "simulate", dependencies: on(["Simulation", "Loop"]),
            path: "Tests/Simulation/Main", swiftSettings: settings),
        // The key derivation alone, for deploy/bench.
        .executableTarget(
            name: "time-kdf", dependencies: on(["Crypto", "Secrets"]),
            path: "Tests/Bench/TimeKDF", swiftSettings: settings),
        tests("SimulationTests", of: ["Simulation", "TestKit", "Loop"]),
        tests("SecretsTests", of: ["Secrets", "CLinux"]),
        tests("BusTests", of: ["Bus", "Wire", "Loop", "Clocks", "Secrets", "TestKit"]),
        tests("CryptoTests", of: ["Crypto", "Secrets"]),
        tests("UnicodeTextTests", of: ["UnicodeText", "Secrets"]),
        tests("HardwareTokensTests", of: ["HardwareTokens", "Secrets"]),
        tests("KernelKeyringTests", of: ["KernelKeyring", "Secrets"]),
        tests("WholeFilesTests", of: ["WholeFiles", "Secrets", "TestKit"]),
        tests("ChildProcessesTests", of: ["ChildProcesses"]),
        tests("MnemonicsTests", of: ["Mnemonics", "Secrets"]),
        tests("HDKeysTests", of: ["HDKeys", "Crypto", "Secrets"]),
        tests("PropertyListsTests", of: ["PropertyLists", "Secrets", "TestKit"]),
        tests(
            "LegacyKeychainTests",
            of: ["LegacyKeychain", "PropertyLists", "Secrets", "TestKit", "Wire"]),
        tests("BackupSharesTests", of: ["BackupShares", "Crypto", "Secrets", "TestKit", "Wire"]),
        tests(
            "VectorTests",
            of: [
                "Wire", "Secrets", "Crypto", "UnicodeText", "Mnemonics", "HDKeys", "Tokens",
                "VaultCore", "BackupShares", "PropertyLists", "MigrationCore", "MigrationMessages",
                "AuthorityCore",
                "AuthorityMessages", "TestKit",
                "LimiterCore", "Clocks",
            ]),
        tests(
            "AuthorityTests",
            of: [
                "AuthorityCore", "AuthorityMessages", "DeviceKeyFrames", "LimiterCore",
                "LimiterMessages", "VaultMessages", "TestKit",
            ] + serviceParts),
        tests("WireTests", of: ["Wire", "Secrets"]),
        tests("TokensTests", of: ["Tokens", "Wire", "Crypto", "Clocks", "Secrets"]),
        tests(
            "DocsTests",
            of: [
                "Home", "Wire", "Secrets", "Crypto", "AuthorityMessages", "LimiterMessages",
                "VaultMessages", "SharesMessages", "MigrationMessages", "CofferCore", "Contracts",
            ]),
    ]
        + service("Limiter", program: "attempt-limiter", uses: serviceParts)
        + service(
            "Authority", program: "credential-authority", calls: ["Limiter", "Vault"],
            uses: serviceParts + ["UnicodeText", "DeviceKeyFrames", "ChildProcesses"],
            programUses: ["LoginManager"])
        + service(
            "Vault", program: "wallet-vault", calls: ["Authority"],
            uses: serviceParts + ["AuthorityClient", "Mnemonics", "HDKeys"])
        + service(
            "Shares", program: "backup-shares", calls: ["Authority", "Vault"],
            uses: serviceParts + ["AuthorityClient", "BackupShares", "Mnemonics", "HDKeys"])
        + service(
            "Migration", program: "migration", calls: ["Authority", "Vault"],
            uses: serviceParts + [
                "AuthorityClient", "Mnemonics", "HDKeys", "PropertyLists", "LegacyKeychain",
            ]),
    swiftLanguageModes: [.v6]
)

// Decoders and what they promise for any bytes: tests that replay what was kept, or the program
// that deploy/fuzz makes of them. libFuzzer brings that program's main, so that no other build
// could link it.
let decoders = [
    "PropertyLists", "LegacyKeychain", "BackupShares", "Crypto", "Wire", "Secrets", "Clocks",
    "Tokens", "Bus", "HDKeys", "Mnemonics", "AuthorityCore", "AuthorityMessages", "LimiterCore",
    "VaultCore", "VaultMessages", "SharesMessages", "MigrationMessages", "CofferCore", "Contracts",
    "TestKit",
]
if Context.environment["COFFER_FUZZ"] == nil {
    package.targets.append(
        .testTarget(
            name: "FuzzTests", dependencies: on(decoders), path: "Tests/FuzzTests",
            exclude: ["Corpus", "Driver"], swiftSettings: settings))
} else {
    package.targets += [
        .target(
            name: "FuzzTargets", dependencies: on(decoders), path: "Tests/FuzzTests/Targets",
            swiftSettings: settings),
        .executableTarget(
            name: "fuzz", dependencies: on(["FuzzTargets"]), path: "Tests/FuzzTests/Driver",
            swiftSettings: settings + [.unsafeFlags(["-parse-as-library"])]),
    ]
}
