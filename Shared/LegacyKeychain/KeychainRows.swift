/// The rows of a keychain, one after the other.
///
/// What was read before an error may not be relied on: act when the rows are through.
public final class KeychainRows {
    private let cursor: any RowCursor
    private var count = 0
    private var failure: KeychainError?

    init(_ cursor: any RowCursor) { self.cursor = cursor }

    /// The next row; nil after the last one.
    ///
    /// Throws ``KeychainError/malformed``, ``KeychainError/noGenericPasswords``,
    /// ``KeychainError/tooLarge``, ``KeychainError/tooManyRows`` or ``KeychainError/source(_:)``,
    /// and the same ever after.
    public func next() throws(KeychainError) -> KeychainRow? {
        if let failure { throw failure }
        do throws(KeychainError) {
            guard let draft = try cursor.next() else { return nil }
            guard count < KeychainSource.rowsMax else { throw .tooManyRows }
            count += 1
            return draft.row(count - 1, optional: cursor.optionalFields)
        } catch {
            failure = error
            throw error
        }
    }
}

/// Reads the rows of one format.
protocol RowCursor: AnyObject {
    /// The fields that a row may go without.
    var optionalFields: Set<RowField> { get }

    /// The next row; nil after the last one, and ever after.
    func next() throws(KeychainError) -> RowDraft?
}
