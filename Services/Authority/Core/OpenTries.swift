internal import Loop
internal import Wire

/// The tries whose checks are under way: they are counted, and nobody knows yet what comes of them.
///
/// Forgotten when the authority ends; a try whose check ended with it stands as one that failed.
@ServiceLoop
final class OpenTries {
    /// By the numbers of ``AuthorityStore/note(_:of:)``.
    private var numbers: [Owner: Set<Int64>] = [:]

    func begin(_ number: Int64, of owner: Owner) { numbers[owner, default: []].insert(number) }

    func end(_ number: Int64, of owner: Owner) {
        numbers[owner]?.remove(number)
        if numbers[owner]?.isEmpty == true { numbers[owner] = nil }
    }

    func of(_ owner: Owner) -> Set<Int64> { numbers[owner] ?? [] }
}
