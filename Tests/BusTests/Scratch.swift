import Glibc
import Secrets

/// A folder that is gone when the test is.
final class Scratch: Sendable {
    let path: String

    init() {
        path = "/tmp/coffer-bus-\(KernelRandom().uuid().prefix(13))"
        precondition(mkdir(path, 0o700) == 0)
    }

    deinit { remove(path) }

    func folder(_ name: String, mode: mode_t = 0o700) -> String {
        precondition(mkdir("\(path)/\(name)", mode) == 0)
        return "\(path)/\(name)"
    }

    func file(_ name: String, _ content: String, mode: mode_t = 0o600) -> String {
        write(Array(content.utf8), to: "\(path)/\(name)", mode: mode)
        return "\(path)/\(name)"
    }

    private func remove(_ path: String) {
        guard let stream = opendir(path) else { return }
        while let item = readdir(stream) {
            let name = withUnsafeBytes(of: item.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            guard name != ".", name != ".." else { continue }
            if item.pointee.d_type == DT_DIR {
                remove("\(path)/\(name)")
            } else {
                unlink("\(path)/\(name)")
            }
        }
        closedir(stream)
        rmdir(path)
    }
}

func write(_ bytes: [UInt8], to path: String, mode: mode_t) {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    precondition(descriptor >= 0)
    precondition(Glibc.write(descriptor, bytes, bytes.count) == bytes.count)
    fchmod(descriptor, mode)
    close(descriptor)
}

func mode(of path: String) -> mode_t {
    var status = stat()
    return stat(path, &status) == 0 ? status.st_mode & 0o7777 : 0
}
