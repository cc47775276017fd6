internal import StateFolders
internal import Wire

/// The state folders of all services, locked as the services themselves lock them: while these are
/// held, none of them runs.
struct StateLocks {
    let folders: [ServiceName: StateFolder]

    /// Makes the folders that are missing.
    ///
    /// - Parameter root: the folder that holds them.
    init(in root: String) throws(CommandFailure) {
        var folders: [ServiceName: StateFolder] = [:]
        for service in KnownServices.names {
            do throws(StateFolderError) {
                folders[service] = try StateFolder(path: "\(root)/\(service.text)")
            } catch {
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
}
