import FuzzTargets
import Glibc

/// The target that `$COFFER_FUZZ_TARGET` names.
private let target: FuzzTarget = {
    let name = getenv("COFFER_FUZZ_TARGET").map { String(cString: $0) }
    guard let target = FuzzTarget.all.first(where: { $0.name == name }) else {
        let names = FuzzTarget.all.map(\.name).joined(separator: " ")
        fatalError("COFFER_FUZZ_TARGET is none of \(names)")
    }
    return target
}()

/// Called once by libFuzzer: writes the seeds into the folder that `$COFFER_FUZZ_SEEDS` names.
@_cdecl("LLVMFuzzerInitialize")
public func initialize(_ count: UnsafeRawPointer?, _ arguments: UnsafeRawPointer?) -> Int32 {
    guard let folder = getenv("COFFER_FUZZ_SEEDS").map({ String(cString: $0) }) else { return 0 }
    for (number, seed) in target.seeds().enumerated() {
        let descriptor = open("\(folder)/seed-\(number)", O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        precondition(write(descriptor, seed, seed.count) == seed.count, "a seed is not written")
        close(descriptor)
    }
    return 0
}

/// Called by libFuzzer for each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    target.run(Array(UnsafeBufferPointer(start: bytes, count: count)))
    return 0
}
