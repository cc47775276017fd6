internal import Glibc

/// A thread of the system, outside the loop and outside Swift's pool, that no signal interrupts.
///
/// It blocks all signals, so that they reach whoever waits for them.
public final class Thread: @unchecked Sendable {
    // Safe to send: the handle is written once, before anybody else has the object.
    private var handle = pthread_t()

    /// The system refuses another thread.
    public struct Refused: Error, Equatable {
        /// The system's error number.
        public let code: Int32
    }

    /// Starts it.
    ///
    /// Whoever starts it calls ``join()`` or ``detach()`` once.
    public init(_ body: @escaping @Sendable () -> Void) throws(Refused) {
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
            throw Refused(code: code)
        }
    }

    /// Starts one that nobody waits for.
    ///
    /// A process that gets no thread at its start cannot do its work, and ends.
    public static func startDetached(_ body: @escaping @Sendable () -> Void) {
        do throws(Refused) { try Thread(body).detach() } catch {
            preconditionFailure("the system refuses a thread")
        }
    }

    /// Waits for its end.
    public func join() { pthread_join(handle, nil) }

    /// Lets it end by itself.
    public func detach() { pthread_detach(handle) }

    private final class Box {
        let body: @Sendable () -> Void

        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }
}
