import Foundation
import Testing

@Suite struct VectorRules {
    @Test func everyVectorFileIsReadWhole() {
        #expect(!VectorSet.all.areas.isEmpty)
        for problem in VectorSet.all.problems { Issue.record("\(problem)") }
    }

    @Test(arguments: VectorSet.all.areas) func everyCaseHolds(_ area: VectorSet.Area) {
        var ran = 0
        var pending: [String: Int] = [:]
        for vector in area.cases {
            guard let operation = Operation.all[vector.op] else {
                pending[vector.op, default: 0] += 1
                continue
            }
            ran += 1
            if let fault = vector.fault(by: operation) { Issue.record("\(fault)") }
        }
        report(area.name, ran: ran, pending: pending)
    }

    @Test func everyAcceptedDifferenceNamesACase() {
        let names = Set(VectorSet.all.areas.flatMap(\.cases).map(\.title))
        for (name, reason) in acceptedDifferences {
            #expect(names.contains(name), "no case is named \(name)")
            #expect(!reason.isEmpty)
        }
    }

    /// One line an area; what is pending has not passed, and says so as a warning too.
    private func report(_ area: String, ran: Int, pending: [String: Int]) {
        var line = "\(area): \(ran) cases"
        if !pending.isEmpty {
            let names = pending.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
            let text = "\(pending.values.reduce(0, +)) pending (\(names.joined(separator: ", ")))"
            line += ", \(text)"
            Issue.record("\(area): \(text)", severity: .warning)
        }
        FileHandle.standardOutput.write(Data("\(line)\n".utf8))
    }
}
