public import Wire

/// What the login manager's signals do to owners whose gate follows it.
///
/// An idle session or a switch of the console is none of these.
extension AuthorityService {
    /// A screen was locked: closes the owners' gates and ends their standard sessions at once.
    ///
    /// - Parameter screen: the login session's name.
    public func lock(_ owners: [Owner], withScreen screen: String) {
        for owner in owners {
            locks.lock(owner)
            registry.closeGate(of: owner, withScreen: screen)
            _ = registry.revokeStandard(of: owner)
        }
    }

    /// A screen was unlocked: opens the gates that nothing but locks of screens closed.
    ///
    /// It has to be the last of the locked ones, and revives nothing that was revoked.
    public func unlock(_ owners: [Owner], withScreen screen: String) {
        for owner in owners { registry.openGate(of: owner, withScreen: screen) }
    }

    /// The machine goes to sleep: closes the owners' gates and ends their standard sessions;
    /// returns when no lease is left.
    public func lockForSleep(_ owners: [Owner]) async {
        for owner in owners {
            locks.lock(owner)
            registry.closeGate(of: owner)
            _ = registry.revokeStandard(of: owner)
        }
        for owner in owners { await wait(until: registry.leasesClosed(of: owner)) }
    }

    /// The login manager is heard no more: what is locked stays so until a passcode opens it.
    public func forgetScreens() { registry.forgetScreens() }
}
