import Foundation
import Wire

/// One vector file.
struct VectorFile: Sendable {
    static let byteLimit = 16 << 20

    let area: String
    let cases: [VectorCase]

    init(path: String) throws {
        guard let data = FileManager.default.contents(atPath: path) else {
            throw VectorProblem("cannot be read")
        }
        let object = try JSONDocument(Array(data), limit: Self.byteLimit).object()
        try object.refuseUnknownKeys(["area", "set", "format", "cases"])
        guard try object.integer("format") == 1 else { throw VectorProblem("unknown format") }
        _ = try object.string("set")
        let area = try object.string("area")
        var names: Set<String> = []
        self.area = area
        cases = try object.objects("cases").map { object in
            let vector: VectorCase
            do {
                vector = try VectorCase(object, area: area)
            } catch {
                let name = (try? object.string("name")) ?? "without a name"
                throw VectorProblem("case \(name): \(error)")
            }
            guard names.insert(vector.name).inserted else {
                throw VectorProblem("two cases are named \(vector.name)")
            }
            return vector
        }
    }
}
