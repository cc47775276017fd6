internal import CLinux
internal import Glibc

/// The kernel's generator, `getrandom(2)`.
///
/// It waits until the machine has gathered its first entropy.
public struct KernelRandom: RandomSource {
    public init() {}

    public func fill(_ buffer: UnsafeMutableRawBufferPointer) {
        guard let start = buffer.baseAddress else { return }
        var filled = 0
        while filled < buffer.count {
            let count = getrandom(start + filled, buffer.count - filled, 0)
            if count > 0 {
                filled += count
            } else if errno != EINTR {
                fatalError("the kernel gives no random bytes")
            }
        }
    }
}
