internal import PropertyLists

/// What was read of a row so far.
struct RowDraft {
    /// A field that is there, or why it cannot be read.
    typealias Field<T> = Result<T, Flaw>

    struct Flaw: Error {
        let damage: RowDamage
        init(_ damage: RowDamage) { self.damage = damage }
    }

    /// Whether the row itself can be read to its end.
    var isMalformed = false
    private var texts: [RowField: Field<String>] = [:]
    private var value: Field<ValueLocation>?

    mutating func set(_ field: RowField, text: ListText?) {
        let found: Field<String> =
            switch text {
            case .text(let text): .success(text)
            case .tooLong: .failure(Flaw(.tooLong(field)))
            case .invalid: .failure(Flaw(.invalid(field)))
            case nil: .failure(Flaw(.wrongType(field)))
            }
        texts[field] = texts[field] == nil ? found : .failure(Flaw(.repeated(field)))
    }

    mutating func set(value found: Field<ValueLocation>) {
        value = value == nil ? found : .failure(Flaw(.repeated(.value)))
    }

    /// The row; a field of `optional` that is not there is empty.
    func row(_ index: Int, optional: Set<RowField>) -> KeychainRow {
        do throws(Flaw) {
            if isMalformed { throw Flaw(.malformed) }
            return .item(
                KeychainItem(
                    index: index, service: try text(.service, optional),
                    account: try text(.account, optional), group: try text(.group, optional),
                    value: try location()))
        } catch {
            return .damaged(
                DamagedItem(
                    index: index, damage: error.damage, service: readable(.service, optional),
                    account: readable(.account, optional)))
        }
    }

    private func text(_ field: RowField, _ optional: Set<RowField>) throws(Flaw) -> String {
        guard let found = texts[field] else {
            guard optional.contains(field) else { throw Flaw(.missing(field)) }
            return ""
        }
        return try found.get()
    }

    private func location() throws(Flaw) -> ValueLocation {
        guard let value else { throw Flaw(.missing(.value)) }
        return try value.get()
    }

    /// A text that can be told although the row is damaged.
    ///
    /// One that is not there might stand in what cannot be read.
    private func readable(_ field: RowField, _ optional: Set<RowField>) -> String? {
        guard let found = texts[field] else {
            return optional.contains(field) && !isMalformed ? "" : nil
        }
        return try? found.get()
    }
}
