/// A value with one checked text form, as it stands in messages, records and configuration.
public protocol TextIdentifier: Hashable, Sendable {
    /// Nil where the text is not exactly in the form.
    init?(_ text: String)
    var text: String { get }
}
