/// Errors of a service's own storage.
public enum StorageFault: String, NamedFault {
    case failed = "storage.failed"
    case residue = "storage.residue"
    case full = "storage.full"
    case damaged = "storage.damaged"

    public var meaning: String {
        switch self {
        case .failed:
            "The service's store could not be written, and nobody knows whether the change is in "
                + "it. See that the disk has room and works; then look whether the change is "
                + "there, or ask for its outcome, before you enter it again."
        case .residue:
            "The change was made, and removed key material may still be on the disk. The service "
                + "goes on trying to erase it; ask for the outcome until it says done."
        case .damaged:
            "A row of the service's store is damaged. Nothing was overwritten; put the store back "
                + "from a copy."
        case .full: "The disk is full and nothing was changed. Free some space and ask again."
        }
    }

    public var outcome: Outcome {
        switch self {
        case .failed, .residue: .unknown
        case .full, .damaged: .rejected
        }
    }
}
