internal import PropertyLists

/// The rows of a binary property list.
///
/// An object that cannot be read damages the rows that it belongs to, and no others.
final class BinaryRows: RowCursor {
    let optionalFields: Set<RowField> = [.service, .group]

    private var list: BinaryPropertyList
    private let array: BinaryPropertyList.Object
    private var index = 0
    private var keys = KnownKeys()

    init(_ source: any ByteSource) throws(KeychainError) {
        do throws(PropertyListError) {
            list = try BinaryPropertyList(source)
            array = try Self.genericPasswords(of: &list)
        } catch {
            throw error == .unexpected ? .noGenericPasswords : KeychainError(error)
        }
    }

    private static func genericPasswords(
        of list: inout BinaryPropertyList
    ) throws(PropertyListError) -> BinaryPropertyList.Object {
        let root = try list.object(list.root)
        guard root.kind == .dictionary,
            let found = try list.value(of: "genp", in: root, keysMax: KeychainSource.keysMax)
        else { throw .unexpected }
        let array = try list.object(found)
        guard array.kind == .array else { throw .unexpected }
        return array
    }

    func next() throws(KeychainError) -> RowDraft? {
        guard index < array.count else { return nil }
        var draft = RowDraft()
        do throws(PropertyListError) {
            try read(list.object(list.element(index, of: array)), into: &draft)
        } catch {
            switch error {
            case .source, .tooLarge: throw KeychainError(error)
            case .malformed, .tooDeep, .unexpected: draft.isMalformed = true
            }
        }
        index += 1
        return draft
    }

    private func read(
        _ row: BinaryPropertyList.Object, into draft: inout RowDraft
    ) throws(PropertyListError) {
        guard row.kind == .dictionary, row.count <= KeychainSource.keysMax else {
            throw .unexpected
        }
        for index in 0..<row.count {
            let entry = try list.entry(index, of: row)
            guard let field = try keys.field(of: entry.key, in: &list) else { continue }
            do throws(PropertyListError) {
                try set(field, list.object(entry.value), of: &draft)
            } catch {
                guard error == .malformed else { throw error }
                draft.isMalformed = true
            }
        }
    }

    private func set(
        _ field: RowField, _ object: BinaryPropertyList.Object, of draft: inout RowDraft
    ) throws(PropertyListError) {
        guard field == .value else {
            draft.set(field, text: try list.text(of: object))
            return
        }
        if object.kind != .data {
            draft.set(value: .failure(RowDraft.Flaw(.wrongType(.value))))
        } else if object.count > KeychainSource.valueLengthMax {
            draft.set(value: .failure(RowDraft.Flaw(.tooLong(.value))))
        } else {
            draft.set(
                value: .success(
                    ValueLocation(
                        offset: object.content.lowerBound, length: object.count, encoding: .raw)))
        }
    }
}

/// Which field a key is, remembered for the keys seen last: rows share the objects of their keys.
private struct KnownKeys {
    private static let slotCount = 64

    private var slots = [(reference: BinaryPropertyList.Reference, field: RowField?)?](
        repeating: nil, count: slotCount)

    /// Nil for a key that is not read.
    mutating func field(
        of reference: BinaryPropertyList.Reference, in list: inout BinaryPropertyList
    ) throws(PropertyListError) -> RowField? {
        let slot = reference.index % Self.slotCount
        if let known = slots[slot], known.reference == reference { return known.field }
        var found: RowField?
        for field in RowField.allCases where try list.isKey(reference, field.attribute) {
            found = field
        }
        slots[slot] = (reference, found)
        return found
    }
}
