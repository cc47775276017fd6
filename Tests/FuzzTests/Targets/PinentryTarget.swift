import Glibc
import Secrets

@testable import CofferCore

extension FuzzTarget {
    /// What a program says that should be pinentry.
    static let pinentry = FuzzTarget(
        name: "pinentry",
        seeds: {
            [
                "OK Pleased to meet you\nOK\nD 12%2534\nOK\n", "ERR 83886179 cancelled\n",
                "S PASSWORD_FROM_CACHE\nD a\nD b\nOK\n", "# comment\nINQUIRE a\n", "D %0", "",
            ].map { Array($0.utf8) }
        },
        run: { input in
            var ends: [Int32] = [0, 0]
            guard pipe(&ends) == 0 else { fatalError("there is no pipe") }
            defer { close(ends[0]) }
            // Less than a pipe holds.
            let isWritten = write(ends[1], input, input.count) == input.count
            close(ends[1])
            promise(isWritten)
            let link = AssuanLink(input: -1, output: ends[0], timeoutMilliseconds: 1_000)
            var answers = 0
            while (try? link.greet()) != nil {
                answers += 1
                promise(answers <= input.count, "answers that nobody gave")
            }
            plantedTrap(answers == 5)
        })
}
