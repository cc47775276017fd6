internal import PropertyLists
internal import Secrets

/// The rows of an XML property list.
///
/// Its form is checked to the last byte before it says that there are no more rows.
final class XMLRows: RowCursor {
    let optionalFields: Set<RowField> = [.service, .group]

    private let source: any ByteSource
    private var list: XMLPropertyList
    private var place = Place.before

    private enum Place {
        case before
        /// Between two rows.
        case inside
        case after
    }

    init(_ source: any ByteSource) {
        self.source = source
        list = XMLPropertyList(source)
    }

    func next() throws(KeychainError) -> RowDraft? {
        do throws(PropertyListError) {
            if place == .before {
                guard try list.next() == .beginDictionary, try findRows() else {
                    throw .unexpected
                }
                guard try list.next() == .beginArray else { throw .unexpected }
                place = .inside
            }
            guard place == .inside else { return nil }
            let token = try list.next()
            if token != .end { return try row(from: token) }
            place = .after
            guard try !findRows(), try list.next() == .endOfList else { throw .unexpected }
            return nil
        } catch {
            throw error == .unexpected ? .noGenericPasswords : KeychainError(error)
        }
    }

    /// Goes on in the outermost dictionary up to `genp`; false at its end.
    private func findRows() throws(PropertyListError) -> Bool {
        while try list.next() == .key {
            if list.text.equals("genp") { return true }
            try list.skip(list.next())
        }
        return false
    }

    private func row(from token: XMLPropertyList.Token) throws(PropertyListError) -> RowDraft {
        var draft = RowDraft()
        guard token == .beginDictionary else {
            try list.skip(token)
            draft.isMalformed = true
            return draft
        }
        var keys = 0
        while try list.next() == .key {
            let key = list.text
            let token = try list.next()
            keys += 1
            if case .invalid = key { draft.isMalformed = true }
            if let field = RowField.allCases.first(where: { key.equals($0.attribute) }),
                keys <= KeychainSource.keysMax
            {
                try set(field, token, of: &draft)
            }
            try list.skip(token)
        }
        guard keys > KeychainSource.keysMax else { return draft }
        // A key that was not looked at might have been one that is read.
        var unreadable = RowDraft()
        unreadable.isMalformed = true
        return unreadable
    }

    private func set(
        _ field: RowField, _ token: XMLPropertyList.Token, of draft: inout RowDraft
    ) throws(PropertyListError) {
        switch (field, token) {
        case (.value, .data(let range)): draft.set(value: try location(range))
        case (.value, _): draft.set(value: .failure(RowDraft.Flaw(.wrongType(.value))))
        case (_, .string): draft.set(field, text: list.text)
        case (_, .data(let range)): draft.set(field, text: try text(range))
        default: draft.set(field, text: nil)
        }
    }

    private func location(
        _ range: Range<Int>
    ) throws(PropertyListError) -> RowDraft.Field<ValueLocation> {
        guard range.count <= KeychainSource.valueLengthMax else {
            return .failure(RowDraft.Flaw(.tooLong(.value)))
        }
        let location = ValueLocation(
            offset: range.lowerBound, length: range.count, encoding: .base64InXML)
        // A row is whole only where its value can be read.
        let value = try stored(location)
        return value == nil ? .failure(RowDraft.Flaw(.invalid(.value))) : .success(location)
    }

    private func text(_ range: Range<Int>) throws(PropertyListError) -> ListText {
        guard range.count <= KeychainSource.valueLengthMax else { return .tooLong }
        let location = ValueLocation(
            offset: range.lowerBound, length: range.count, encoding: .base64InXML)
        guard let bytes = try stored(location) else { return .invalid }
        return bytes.withBytes { ListText(utf8: $0) }
    }

    private func stored(
        _ location: ValueLocation
    ) throws(PropertyListError) -> SecretBytes? {
        do throws(ByteSourceError) {
            return try StoredValue.read(location, from: source)
        } catch {
            throw .source(error)
        }
    }
}
