internal import Clocks
internal import Glibc
internal import Home
internal import KernelKeyring
internal import Secrets
internal import Wire

/// What a command works with from outside: the real parts, or a test's.
struct CommandParts {
    let clock: any BootClock
    let random: any RandomSource
    let person: any Person
    let keyring: any SessionKeyring
    /// The way to a service of an installation.
    let link: (Home, ServiceName) throws(CommandFailure) -> any FrameExchange
    /// Whether nobody listens where a service would, as far as that can be told at once.
    let isSilent: (Home, ServiceName) throws(CommandFailure) -> Bool
    /// Where results go.
    let output: Int32
    /// Where progress goes.
    let complaints: Int32
    let waitMilliseconds: (UInt64) -> Void
    /// Told of what a signal from now on would leave open, and with nil when that is nothing.
    let noteOpen: (LeftOpen?) -> Void
    let signals: HeldSignals
}

/// Signals that end nothing at once while a command has something to bring to an orderly end.
struct HeldSignals {
    let hold: () -> Void
    let release: () -> Void
    /// Whether one came while they were held.
    let came: () -> Bool

    /// Those that the process gets.
    static var system: HeldSignals {
        HeldSignals(
            hold: Interruption.hold, release: Interruption.release,
            came: { Interruption.wasNoted })
    }
}

/// Where the tokens of unlocked sessions are kept, each with its own end.
protocol SessionKeyring {
    func store(
        _ value: borrowing SecretBytes, name: String, timeoutSeconds: UInt32
    ) throws(KeyringError)
    func read(name: String) throws(KeyringError) -> SecretBytes?
    func remove(name: String) throws(KeyringError)
}

/// The kernel's keyring.
struct SystemKeyring: SessionKeyring {
    func store(
        _ value: borrowing SecretBytes, name: String, timeoutSeconds: UInt32
    ) throws(KeyringError) {
        try KernelKeyring.store(value, name: name, timeoutSeconds: timeoutSeconds)
    }

    func read(name: String) throws(KeyringError) -> SecretBytes? {
        try KernelKeyring.read(name: name)
    }

    func remove(name: String) throws(KeyringError) { try KernelKeyring.remove(name: name) }
}

extension CommandParts {
    /// The real parts.
    static func system(
        terminalOnly: Bool, printer: Printer
    ) throws(CommandFailure) -> CommandParts {
        guard let clock = SystemBootClock() else {
            throw CommandFailure(.internalError, "The kernel does not tell its boot id.")
        }
        var links: ServiceLinks?
        return CommandParts(
            clock: clock, random: KernelRandom(),
            person: PersonAtKeyboard(terminalOnly: terminalOnly), keyring: SystemKeyring(),
            link: { (home, service) throws(CommandFailure) in
                if let links { return try links.link(to: service) }
                let made = try ClientInstallation(home: home).links(clock: clock)
                links = made
                return try made.link(to: service)
            },
            isSilent: { (home, service) throws(CommandFailure) in
                try ClientInstallation(home: home).isSilent(service)
            },
            output: STDOUT_FILENO, complaints: STDERR_FILENO,
            waitMilliseconds: { usleep(UInt32(clamping: min($0, 1_000) * 1_000)) },
            noteOpen: { printer.announceInterruption(leaving: $0) }, signals: .system)
    }
}
