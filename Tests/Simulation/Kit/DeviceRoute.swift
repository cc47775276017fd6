import Loop

/// An owner's hardware token, and whether he was told that it opens his wallets.
@ServiceLoop
final class DeviceRoute {
    /// His own: nobody else of the machine puts anything on it.
    let uri: String
    /// What may be so: that it is enrolled, and that it is not.
    private(set) var possible: Set<Bool> = [false]
    /// Raised by whatever may change that, so that an answer can be judged.
    private(set) var version = 0
    private(set) var isChanging = false

    init(uri: String) { self.uri = uri }

    func beginChange(to isEnrolled: Bool) {
        isChanging = true
        version += 1
        possible.insert(isEnrolled)
    }

    /// Takes in whether a change was made; until then no other is begun.
    ///
    /// - Parameter before: what was possible before it.
    func endChange(to isEnrolled: Bool, made: Bool, before: Set<Bool>) {
        isChanging = false
        version += 1
        possible = made ? [isEnrolled] : before
    }
}
