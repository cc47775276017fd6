public import AuthorityMessages
public import Loop

/// Where news of sessions leaves the authority: the bus's publisher, or a test's list.
@ServiceLoop
public protocol EventPort: AnyObject {
    func publish(_ event: SessionEvent)
}
