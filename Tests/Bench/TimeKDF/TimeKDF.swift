import Crypto
import Glibc
import Secrets

/// The passcode's key derivation as the authority does it, alone: `time-kdf ITERATIONS` prints the
/// seconds that it took.
@main
struct TimeKDF {
    static func main() throws {
        guard CommandLine.arguments.count == 2, let iterations = Int(CommandLine.arguments[1])
        else {
            print("usage: time-kdf ITERATIONS")
            exit(2)
        }
        let password = SecretBytes(count: 32)
        let salt = [UInt8](repeating: 2, count: 16)
        let begun = ContinuousClock.now
        _ = try PBKDF2.sha256(password: password, salt: salt, iterations: iterations, count: 32)
        let taken = (ContinuousClock.now - begun).components
        print(Double(taken.seconds) + Double(taken.attoseconds) / 1e18)
    }
}
