internal import Glibc
internal import Wire

/// The programs of the services, which lie beside this one or, where it is installed for all users,
/// in the folder of libraries beside that of programs.
enum ServicePrograms {
    /// - Parameter fault: what their lack is called.
    static func find(_ fault: ClientFault) throws(CommandFailure) -> [ServiceName: String] {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink("/proc/self/exe", &buffer, buffer.count)
        guard count > 0, let slash = buffer[..<count].lastIndex(of: 0x2F) else {
            throw CommandFailure(fault, "The kernel does not tell where this program lies.")
        }
        let folder = String(
            decoding: buffer[..<slash].map(UInt8.init(bitPattern:)), as: UTF8.self)
        var programs: [ServiceName: String] = [:]
        for service in KnownServices.names {
            let paths = [folder, "\(folder)/../lib/coffer"].map { "\($0)/\(service.text)" }
            guard let path = paths.first(where: { access($0, X_OK) == 0 }) else {
                throw CommandFailure(fault, "\(paths[0]) is missing or not executable.")
            }
            programs[service] = path
        }
        return programs
    }
}
