import Crypto
import Glibc
import Secrets
import Testing

@Suite struct StackRules {
    /// Runs a derivation on a stack that outlives it, and looks for the key there.
    @Test(arguments: [Derivation.sha256, .sha512])
    func aDerivedKeyIsNotLeftOnTheStack(derivation: Derivation) throws {
        let stackBytes = 256 * 1024
        let stack = UnsafeMutableRawBufferPointer.allocate(byteCount: stackBytes, alignment: 4096)
        defer { stack.deallocate() }
        stack.initializeMemory(as: UInt8.self, repeating: 0)
        let key = try run(derivation, on: stack)
        #expect(key.bytes.count == 32)
        let found = key.bytes.withBytes { key in
            stack.indices.dropLast(16).contains { start in
                stack[start] == key[0] && stack[start + 1] == key[1]
                    && stack[start + 2] == key[2]
                    && stack[start..<start + 16].elementsEqual(key[..<16])
            }
        }
        #expect(!found)
        #expect(stack.contains { $0 != 0 })
    }

    enum Derivation: Int, Sendable {
        case sha256 = 1
        case sha512

        func run() -> SharedSecret? {
            let password = SecretBytes(copying: rising(0, 32))
            do {
                switch self {
                case .sha256:
                    return SharedSecret(
                        try PBKDF2.sha256(password: password, salt: [1], iterations: 9, count: 32))
                case .sha512:
                    return SharedSecret(
                        try PBKDF2.sha512(password: password, salt: [1], iterations: 9, count: 32))
                }
            } catch {
                return nil
            }
        }
    }

    private func run(
        _ derivation: Derivation, on stack: UnsafeMutableRawBufferPointer
    ) throws -> SharedSecret {
        let base = try #require(UnsafeMutableRawPointer(mutating: stack.baseAddress))
        let attributes = UnsafeMutablePointer<pthread_attr_t>.allocate(capacity: 1)
        defer { attributes.deallocate() }
        try #require(pthread_attr_init(attributes) == 0)
        try #require(pthread_attr_setstack(attributes, base, stack.count) == 0)
        let body: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = {
            let key = Derivation(rawValue: Int(bitPattern: $0))?.run()
            return key.map { Unmanaged.passRetained($0).toOpaque() }
        }
        var thread: pthread_t = 0
        let argument = UnsafeMutableRawPointer(bitPattern: derivation.rawValue)
        try #require(pthread_create(&thread, attributes, body, argument) == 0)
        var result: UnsafeMutableRawPointer?
        try #require(pthread_join(thread, &result) == 0)
        return Unmanaged<SharedSecret>.fromOpaque(try #require(result)).takeRetainedValue()
    }
}
