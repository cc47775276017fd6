/// Cases that are not normative and where this code differs on purpose, each with the reason.
///
/// The key is the area, a colon and the case's name. A case listed here must be one that really
/// differs, and a normative case cannot be listed.
let acceptedDifferences: [String: String] = [:]
