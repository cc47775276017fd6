/// What one list has and the other lacks, in sentences for whoever mends the document.
func differences<T: Hashable & CustomStringConvertible>(
    documented: [T], actual: [T], in document: String
) -> [String] {
    var problems: [String] = []
    let written = Set(documented)
    let existing = Set(actual)
    for entry in existing.subtracting(written) { problems.append("\(document) lacks: \(entry)") }
    for entry in written.subtracting(existing) {
        problems.append("\(document) has, and the code has not: \(entry)")
    }
    if written.count != documented.count { problems.append("\(document) lists something twice") }
    return problems.sorted()
}
