internal import Glibc

/// What happens when a signal ends the command: the terminal gets its echo back, a helper program
/// ends too, and one line says what is known.
///
/// All of it stands ready before the signal comes, because a handler may neither allocate nor wait.
enum Interruption {
    nonisolated(unsafe) private static var terminal: Int32 = -1
    nonisolated(unsafe) private static var settings = termios()
    nonisolated(unsafe) private static var helper: pid_t = 0
    nonisolated(unsafe) private static var line: UnsafeMutableRawPointer?
    nonisolated(unsafe) private static var lineCount = 0
    nonisolated(unsafe) private static var lineDescriptor: Int32 = 2
    /// How the command ends when all has been said; negative before that.
    nonisolated(unsafe) private static var conclusion: Int32 = -1
    /// Whether the next signal is only noted.
    nonisolated(unsafe) private static var isHeld = false
    /// The signal that was noted; zero for none.
    nonisolated(unsafe) private static var noted: Int32 = 0

    /// Ends what a helper has drawn on the terminal: xterm's way out of the second screen, which
    /// the terminals of today share and others ignore.
    nonisolated(unsafe) private static let leaveScreen =
        UnsafeMutablePointer<UInt8>.allocate(capacity: leaveScreenCount)
    private static let leaveScreenText = "\u{1B}[?1049l\u{1B}[?1l\u{1B}>\u{1B}[?25h\u{1B}[0m"
    private static let leaveScreenCount = leaveScreenText.utf8.count

    private static let signals = [SIGINT, SIGTERM, SIGHUP, SIGQUIT]

    /// Takes the signals that a person or a supervisor ends programs with.
    ///
    /// One that was ignored when the program started stays ignored.
    static func install() {
        touch()
        for signal in signals {
            var before = sigaction()
            guard sigaction(signal, nil, &before) == 0 else { continue }
            if isIgnored(before) { continue }
            var action = sigaction()
            action.__sigaction_handler.sa_handler = { Interruption.end($0) }
            sigfillset(&action.sa_mask)
            sigaction(signal, &action, nil)
        }
        Glibc.signal(SIGPIPE, SIG_IGN)
    }

    /// What is written where when a signal comes; the last call counts.
    static func announce(_ text: [UInt8], to descriptor: Int32) {
        let bytes = text + [0x0A]
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
        copy.copyBytes(from: bytes)
        withoutSignals {
            let before = line
            line = copy.baseAddress
            lineCount = bytes.count
            lineDescriptor = descriptor
            before?.deallocate()
        }
    }

    /// Keeps the terminal's settings, to be put back by a signal or by ``restoreTerminal()``.
    static func keepTerminal(_ descriptor: Int32) {
        var current = termios()
        guard tcgetattr(descriptor, &current) == 0 else { return }
        withoutSignals {
            settings = current
            terminal = descriptor
        }
    }

    static func restoreTerminal() {
        withoutSignals {
            guard terminal >= 0 else { return }
            tcsetattr(terminal, TCSAFLUSH, &settings)
            terminal = -1
        }
    }

    /// A program that asks in the command's place and ends with it; zero for none.
    static func keepHelper(_ process: pid_t) { withoutSignals { helper = process } }

    /// From now on a signal ends the command as it would have ended, without a word.
    static func conclude(with exitCode: Int32) { withoutSignals { conclusion = exitCode } }

    /// From now on the first signal is only noted, so that the command can bring something to an
    /// orderly end; the second ends the command as ever.
    static func hold() { withoutSignals { isHeld = true } }

    static func release() { withoutSignals { isHeld = false } }

    /// Whether a signal came while it was held.
    static var wasNoted: Bool {
        var came = false
        withoutSignals { came = noted != 0 }
        return came
    }

    /// What the shell is told: of a command that a signal interrupted, also which signal.
    static func status(of code: ExitCode) -> Int32 {
        var signal: Int32 = 0
        withoutSignals { signal = noted }
        guard code == .interrupted, signal != 0 else { return code.rawValue }
        return status(after: signal)
    }

    private static func status(after signal: Int32) -> Int32 {
        signal == SIGINT ? ExitCode.interrupted.rawValue : 128 + signal
    }

    private static func end(_ signal: Int32) {
        if conclusion >= 0 { _exit(conclusion) }
        if isHeld, noted == 0 {
            noted = signal
            return
        }
        if helper > 0 {
            kill(helper, SIGKILL)
            waitpid(helper, nil, 0)
            if terminal >= 0 { _ = write(terminal, leaveScreen, leaveScreenCount) }
        }
        if terminal >= 0 { tcsetattr(terminal, TCSANOW, &settings) }
        if let line { _ = write(lineDescriptor, line, lineCount) }
        _exit(status(after: signal))
    }

    /// Makes every variable once, so that no handler is the first to use one.
    private static func touch() {
        _ = (terminal, settings.c_lflag, helper, line, lineCount, lineDescriptor, isHeld, noted)
        leaveScreen.update(from: Array(leaveScreenText.utf8), count: leaveScreenCount)
    }

    private static func isIgnored(_ action: sigaction) -> Bool {
        let handler = unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
        return handler == unsafeBitCast(SIG_IGN, to: Int.self)
    }

    private static func withoutSignals(_ body: () -> Void) {
        var blocked = sigset_t()
        var before = sigset_t()
        sigemptyset(&blocked)
        for signal in signals { sigaddset(&blocked, signal) }
        pthread_sigmask(SIG_BLOCK, &blocked, &before)
        body()
        pthread_sigmask(SIG_SETMASK, &before, nil)
    }
}
