internal import Glibc

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
        final class Box {
            let body: @Sendable () -> Void
            init(_ body: @escaping @Sendable () -> Void) { self.body = body }
        }
        let box = Unmanaged.passRetained(Box(body))
        var thread = pthread_t()
        let code = pthread_create(
            &thread, nil,
            { context in
                guard let context else { return nil }
                var set = StopSignals.signals()
                var number: Int32 = 0
                while sigwait(&set, &number) != 0 {}
                Unmanaged<Box>.fromOpaque(context).takeRetainedValue().body()
                return nil
            }, box.toOpaque())
        precondition(code == 0, "the system refuses a thread")
    }

    private static func signals() -> sigset_t {
        var set = sigset_t()
        sigemptyset(&set)
        sigaddset(&set, SIGTERM)
        sigaddset(&set, SIGINT)
        return set
    }
}
