/// Rows of words in aligned columns.
enum TextTable {
    private static let gap = "  "

    /// Lines without a blank at their ends.
    static func lines(_ rows: [[String]]) -> String {
        var widths: [Int] = []
        for row in rows {
            for (column, cell) in row.enumerated() {
                if column == widths.count { widths.append(0) }
                widths[column] = max(widths[column], cell.count)
            }
        }
        return rows.map { row in
            let cells = row.enumerated().map { column, cell in
                cell + String(repeating: " ", count: widths[column] - cell.count)
            }
            var line = cells.joined(separator: gap)
            while line.last == " " { line.removeLast() }
            return line
        }.joined(separator: "\n")
    }
}

/// Text that came from elsewhere, made safe to show on a terminal.
enum ShownText {
    /// Control characters, and those that turn the direction of writing, become `?`.
    static func printable(_ text: String) -> String {
        var shown = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator: shown.append("?")
            default: shown.append(scalar)
            }
        }
        return String(shown)
    }

    /// Breaks a text into lines of at most `width` letters, at blanks.
    ///
    /// What stands between backquotes stays on one line, to be copied.
    static func wrapped(_ text: String, width: Int = 80) -> String {
        var lines: [String] = []
        for piece in pieces(text) {
            if let last = lines.last, last.count + 1 + piece.count <= width {
                lines[lines.count - 1] += " \(piece)"
            } else {
                lines.append(piece)
            }
        }
        return lines.joined(separator: "\n")
    }

    /// The words of a text; one from a backquote to the next, with what hangs on it, is one.
    private static func pieces(_ text: String) -> [String] {
        var pieces: [String] = []
        var isOpen = false
        for word in text.split(separator: " ") {
            if isOpen {
                pieces[pieces.count - 1] += " \(word)"
            } else {
                pieces.append(String(word))
            }
            if !word.count(where: { $0 == "`" }).isMultiple(of: 2) { isOpen.toggle() }
        }
        return pieces
    }

    /// Seconds, rounded up, so that nobody comes back too early.
    static func seconds(_ milliseconds: UInt64) -> String {
        "\(milliseconds / 1_000 + (milliseconds % 1_000 == 0 ? 0 : 1)) s"
    }

    static func count(_ number: UInt64, _ one: String, _ many: String) -> String {
        "\(number) \(number == 1 ? one : many)"
    }
}
