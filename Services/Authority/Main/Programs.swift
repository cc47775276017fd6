import Glibc

/// Where the programs of this installation are.
enum Programs {
    private static let pathBytes = 4_096

    /// The path of a program that lies in the folder of this one.
    static func beside(_ name: String) -> String {
        var bytes = [CChar](repeating: 0, count: pathBytes)
        let count = readlink("/proc/self/exe", &bytes, bytes.count)
        let path = String(decoding: bytes.prefix(max(0, count)).map(UInt8.init), as: UTF8.self)
        return path.split(separator: "/").dropLast().reduce("") { "\($0)/\($1)" } + "/\(name)"
    }
}
