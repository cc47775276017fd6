internal import PropertyLists
internal import Secrets
internal import Wire

/// The rows of a file with one JSON object a line.
///
/// Lines end with a line feed; the last one may do without. Lines with nothing but blanks are no
/// rows. A line that is no JSON object (RFC 8259, read strictly), or is too long, is a damaged row,
/// and the next line is read all the same.
final class JSONRows: RowCursor {
    let optionalFields: Set<RowField> = [.group]

    private let source: any ByteSource
    private var bytes: PagedBytes
    private var offset = 0

    init(_ source: any ByteSource) {
        self.source = source
        bytes = PagedBytes(source)
    }

    func next() throws(KeychainError) -> RowDraft? {
        do throws(PropertyListError) {
            while offset < bytes.count {
                let start = offset
                let end = try bytes.next(0x0A, from: start) ?? bytes.count
                offset = end + 1
                if let draft = try row(in: start..<end) { return draft }
            }
            return nil
        } catch {
            throw KeychainError(error)
        }
    }

    /// Nil for a line without a row.
    private func row(in range: Range<Int>) throws(PropertyListError) -> RowDraft? {
        var draft = RowDraft()
        guard range.count <= KeychainSource.lineBytesMax else {
            draft.isMalformed = true
            return draft
        }
        let line: SecretBytes
        do throws(ByteSourceError) {
            line = try source.secret(range)
        } catch {
            throw .source(error)
        }
        if line.withBytes({ $0.allSatisfy { [0x20, 0x09, 0x0D].contains($0) } }) { return nil }
        do throws(JSONError) {
            let object = try JSONDocument(line, limit: line.count).object()
            for field in [RowField.service, .account, .group] {
                guard let value = object.value(field.name) else { continue }
                draft.set(field, text: text(of: value, field))
            }
            if let value = object.value(RowField.value.name) {
                draft.set(value: location(of: value, lineStart: range.lowerBound))
            }
        } catch {
            draft.isMalformed = true
        }
        return draft
    }

    /// Nil for a value that is no string.
    private func text(of value: JSONValue, _ field: RowField) -> ListText? {
        guard value.kind == .string else { return nil }
        // An escape has at most six letters for one byte.
        guard value.range.count <= 6 * ListText.bytesMax else { return .tooLong }
        do throws(JSONError) {
            let text = try value.string(field.name)
            return text.utf8.count <= ListText.bytesMax ? .text(text) : .tooLong
        } catch {
            return .invalid
        }
    }

    private func location(
        of value: JSONValue, lineStart: Int
    ) -> RowDraft.Field<ValueLocation> {
        guard value.kind == .string else { return .failure(RowDraft.Flaw(.wrongType(.value))) }
        guard value.range.count <= KeychainSource.valueLengthMax else {
            return .failure(RowDraft.Flaw(.tooLong(.value)))
        }
        do throws(JSONError) {
            // A row is whole only where its value can be read.
            _ = try value.secretBase64(RowField.value.name)
        } catch {
            return .failure(RowDraft.Flaw(.invalid(.value)))
        }
        return .success(
            ValueLocation(
                offset: lineStart + value.range.lowerBound, length: value.range.count,
                encoding: .base64InJSON))
    }
}
