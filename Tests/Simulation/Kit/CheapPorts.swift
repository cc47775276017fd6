import AuthorityCore
import AuthorityMessages
import Clocks
import Crypto
import Loop
import Secrets
import Wire

/// A key derivation that costs nothing but simulated time.
@ServiceLoop
final class CheapKDF: PasscodeKDF {
    private let timers: Timers
    private let milliseconds: UInt64

    init(timers: Timers, milliseconds: UInt64) {
        self.timers = timers
        self.milliseconds = milliseconds
    }

    func derive(
        password: SharedSecret, salt: [UInt8], iterations: Int
    ) async -> SharedSecret {
        if milliseconds > 0 { await timers.sleep(milliseconds: milliseconds) }
        return SharedSecret(
            HMAC.sha256(key: password.bytes, message: salt + Array(String(iterations).utf8)))
    }
}

/// Hands the authority's events to the simulated bus.
@ServiceLoop
final class EventsOut: EventPort {
    private let publish: ([UInt8]) -> Void

    init(_ publish: @escaping ([UInt8]) -> Void) { self.publish = publish }

    func publish(_ event: SessionEvent) { publish(event.encoded()) }
}
