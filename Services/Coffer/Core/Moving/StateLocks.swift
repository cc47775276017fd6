internal import Glibc
internal import StateFolders
internal import Wire

/// The state folders of all services, locked as the services themselves lock them: while these are
/// held, none of them runs.
struct StateLocks {
    let folders: [ServiceName: StateFolder]

    /// Makes the folders that are missing.
    ///
    /// Root takes those of services with users of their own, too.
    ///
    /// - Parameter root: the folder that holds them.
    init(in root: String) throws(CommandFailure) {
        var folders: [ServiceName: StateFolder] = [:]
        for service in KnownServices.names {
            do throws(StateFolderError) {
                let path = "\(root)/\(service.text)"
                folders[service] = try StateFolder(path: path, owner: Self.owner(of: path))
            } catch {
                if case .foreignOwner(let path, let found, _) = error {
                    throw CommandFailure(
                        .installation,
                        "\(path) belongs to user \(found). Where services have users of their own "
                            + "this is done as root.")
                }
                guard case .inUse = error else {
                    throw CommandFailure(.installation, error.sentence)
                }
                throw CommandFailure(
                    .servicesRunning,
                    "\(service.text) holds its state. Stop the services with `deploy/launch down` "
                        + "first; nothing was changed.")
            }
        }
        self.folders = folders
    }

    /// Whose folder root takes; everybody else has his own alone.
    private static func owner(of path: String) -> uid_t {
        var status = stat()
        guard geteuid() == 0, lstat(path, &status) == 0 else { return geteuid() }
        return status.st_uid
    }

    /// Gives each folder to whom the same service's folder belongs in another state.
    func give(like other: StateLocks) throws(CommandFailure) {
        for (service, folder) in folders {
            guard let model = other.folders[service], model.owner != folder.owner else { continue }
            do throws(StateFolderError) {
                try folder.give(to: model.owner, group: model.group)
            } catch {
                throw CommandFailure(.stateFailed, error.sentence)
            }
        }
    }
}
