public import Wire

/// A request for one page of what a namespace has.
public protocol PageRequest: Request {
    /// What names an entry.
    associatedtype Entry: TextIdentifier

    var namespace: Namespace { get }
    /// The last entry of the page before; nil for the first page.
    var after: Entry? { get }
    init(namespace: Namespace, after: Entry?)
}

extension PageRequest {
    public init(from object: JSONObject) throws(JSONError) {
        try object.refuseUnknownKeys(["namespace", "after"])
        self.init(
            namespace: try object.identifier("namespace"),
            after: try object.optionalIdentifier("after"))
    }

    public func write(to writer: inout JSONWriter) {
        writer.identifier("namespace", namespace)
        writer.optionalIdentifier("after", after)
    }
}
