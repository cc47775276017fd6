internal import Glibc
internal import Loop

/// SIGTERM and SIGINT, waited for by a thread of their own.
///
/// They are blocked before any other thread exists, so every thread inherits that and only the one
/// that waits gets them.
struct StopSignals: Sendable {
    static func block() -> StopSignals {
        var set = signals()
        pthread_sigmask(SIG_BLOCK, &set, nil)
        signal(SIGPIPE, SIG_IGN)
        return StopSignals()
    }

    /// Calls a closure, from a thread of its own, at the first signal.
    func onStop(_ body: @escaping @Sendable () -> Void) {
        Thread.startDetached {
            var set = Self.signals()
            var number: Int32 = 0
            while sigwait(&set, &number) != 0 {}
            body()
        }
    }

    private static func signals() -> sigset_t {
        var set = sigset_t()
        sigemptyset(&set)
        sigaddset(&set, SIGTERM)
        sigaddset(&set, SIGINT)
        return set
    }
}
