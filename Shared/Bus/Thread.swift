internal import Glibc

/// A thread that can be waited for and that no signal interrupts.
final class Thread: @unchecked Sendable {
    // Safe to send: the handle is written once, before anybody else has the object.
    private var handle = pthread_t()

    /// Starts it.
    init(_ body: @escaping @Sendable () -> Void) throws(BusError) {
        let box = Unmanaged.passRetained(Box(body))
        var everySignal = sigset_t()
        var before = sigset_t()
        sigfillset(&everySignal)
        pthread_sigmask(SIG_SETMASK, &everySignal, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
        let code = pthread_create(
            &handle, nil,
            { box in
                guard let box else { return nil }
                Unmanaged<Box>.fromOpaque(box).takeRetainedValue().body()
                return nil
            }, box.toOpaque())
        guard code == 0 else {
            box.release()
            throw .exhausted(code: code)
        }
    }

    /// Waits for its end; once.
    func join() { pthread_join(handle, nil) }

    private final class Box {
        let body: @Sendable () -> Void

        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }
}
