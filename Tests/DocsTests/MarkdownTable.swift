/// One table of a document.
struct MarkdownTable: Equatable {
    let header: [String]
    var rows: [[String]]

    /// The cells of a column, without the marks of code; nil where the table has no such column.
    func column(_ name: String) -> [String]? {
        guard let index = header.firstIndex(of: name) else { return nil }
        return rows.map { index < $0.count ? plain($0[index]) : "" }
    }

    /// A row as cells by their column's name, without the marks of code.
    func named(_ row: [String]) -> [String: String] {
        Dictionary(zip(header, row.map(plain))) { first, _ in first }
    }

    /// All tables of a text, outside blocks of code.
    static func all(in text: String) -> [MarkdownTable] {
        var tables: [MarkdownTable] = []
        var isInside = false
        for line in proseLines(of: text) {
            guard line.hasPrefix("|") else {
                isInside = false
                continue
            }
            let row = cells(line)
            if !isInside {
                tables.append(MarkdownTable(header: row.map(plain), rows: []))
                isInside = true
            } else if !row.allSatisfy({ $0.allSatisfy { "-: ".contains($0) } }) {
                tables[tables.count - 1].rows.append(row)
            }
        }
        return tables
    }

    /// The tables that have all of these columns.
    static func all(in text: String, with columns: [String]) -> [MarkdownTable] {
        all(in: text).filter { table in columns.allSatisfy(table.header.contains) }
    }
}

/// The lines of a document that are not within a block of code.
func proseLines(of text: String) -> [Substring] {
    var isCode = false
    return text.split(separator: "\n", omittingEmptySubsequences: false).filter { line in
        guard line.hasPrefix("```") else { return !isCode }
        isCode.toggle()
        return false
    }
}

private func cells(_ line: Substring) -> [String] {
    var cells: [String] = [""]
    var isEscaped = false
    for character in line.dropFirst() {
        if character == "|" && !isEscaped {
            cells.append("")
        } else if character != "\\" || isEscaped {
            cells[cells.count - 1].append(character)
        }
        isEscaped = character == "\\" && !isEscaped
    }
    if cells.last?.allSatisfy(\.isWhitespace) == true { cells.removeLast() }
    return cells.map(trimmed)
}

/// A cell without the backticks around code.
private func plain(_ cell: String) -> String { cell.filter { $0 != "`" } }

func trimmed(_ text: some StringProtocol) -> String {
    var rest = Substring(text)
    while rest.first?.isWhitespace == true { rest.removeFirst() }
    while rest.last?.isWhitespace == true { rest.removeLast() }
    return String(rest)
}
