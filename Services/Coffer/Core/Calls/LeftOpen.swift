internal import SharesMessages
internal import Wire

/// What a signal leaves open, told by the one line that it ends the command with.
enum LeftOpen: Equatable {
    /// A change under way: its outcome can be asked for.
    case change(ServiceName, IdempotencyKey)
    /// Something that stays, or goes on, without the command: a sentence with what to do about it.
    case standing(String)

    /// A restoration that nobody finishes.
    static func restoration(_ id: RestorationID) -> LeftOpen {
        .standing("The restoration is still open: `coffer backup cancel \(id.text)` gives it up.")
    }

    var sentence: String {
        switch self {
        case .change(let service, let key):
            "`coffer outcome \(service.prefix) \(key.text)` tells whether the change was made."
        case .standing(let sentence): sentence
        }
    }
}
