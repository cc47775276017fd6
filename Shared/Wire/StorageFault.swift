/// Errors of a service's own storage.
public enum StorageFault: String, NamedFault {
    case failed = "storage.failed"
    case residue = "storage.residue"
    case full = "storage.full"
    case damaged = "storage.damaged"

    public var meaning: String {
        switch self {
        case .failed:
            "The change could not be made durable. Ask for the outcome, then look at the disk "
                + "and at the service's log."
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
