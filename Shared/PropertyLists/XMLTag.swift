/// A tag of a property list.
struct XMLTag: Equatable, Sendable {
    enum Form: Sendable {
        case begin
        case end
        /// Begin and end in one.
        case empty
    }

    enum Name: String, Sendable {
        case plist
        case dict
        case array
        case key
        case string
        case data
        case date
        case integer
        case real
        case `true`
        case `false`

        static let bytesMax = 7
    }

    let form: Form
    let name: Name
}
