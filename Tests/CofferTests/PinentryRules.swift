import Glibc
import Secrets
import TestKit
import Testing

@testable import CofferCore

/// Conversations with a `pinentry` that is a script.
@Suite(.serialized, .timeLimit(.minutes(1))) struct PinentryRules {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// A pinentry that answers `GETPIN` as the lines of shell say, and writes down what it hears.
    private func pinentry(_ getPIN: String, repeating: Bool = true) throws -> Pinentry {
        let path = folder.path(of: "pinentry")
        let script = """
            #!/bin/sh
            echo 'OK ready'
            asked=0
            while IFS= read -r line; do
              echo "$line" >> '\(folder.path(of: "heard"))'
              case "$line" in
                GETPIN) asked=$((asked + 1)); \(getPIN) ;;
                SETREPEAT*) \(repeating ? "echo OK" : "echo 'ERR 536871187 Unknown command'") ;;
                BYE) echo 'OK closing'; exit 0 ;;
                *) echo OK ;;
              esac
            done

            """
        let file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o700)
        try #require(file >= 0)
        _ = Array(script.utf8).withUnsafeBytes { write(file, $0.baseAddress, $0.count) }
        close(file)
        return Pinentry(
            program: path,
            display: Pinentry.Display(
                terminal: "/dev/pts/9", terminalType: "xterm", locale: "C.UTF-8"))
    }

    private func heard() throws -> [String] {
        let bytes = try DescriptorInput.file(
            folder.path(of: "heard"), limit: 65_536, named: .messageFile)
        return String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
    }

    private func question(isNew: Bool = false) -> SecretQuestion {
        SecretQuestion(
            description: "100 % needed.\nReally.", prompt: "Passcode", isNew: isNew,
            option: .passcodeDescriptor)
    }

    private func answer(_ pinentry: Pinentry, isNew: Bool = false) -> Result<
        [UInt8], Pinentry.Failure
    > {
        do throws(Pinentry.Failure) {
            let secret = try pinentry.ask(question(isNew: isNew))
            return .success(secret.withBytes { Array($0) })
        } catch {
            return .failure(error)
        }
    }

    @Test func theAnswerIsDecodedAndTheQuestionEscaped() throws {
        let pinentry = try pinentry("echo 'S SOMETHING else'; echo 'D 12%2534%0A'; echo OK")
        #expect(answer(pinentry) == .success(Array("12%34\n".utf8)))
        let heard = try heard()
        #expect(heard.contains("OPTION ttyname=/dev/pts/9"))
        #expect(heard.contains("OPTION ttytype=xterm"))
        #expect(heard.contains("OPTION lc-ctype=C.UTF-8"))
        #expect(heard.contains("SETDESC 100 %25 needed.%0AReally."))
        #expect(heard.contains("SETPROMPT Passcode:"))
        #expect(!heard.contains { $0.hasPrefix("SETREPEAT") })
    }

    @Test func aLongAnswerComesInSeveralLines() throws {
        let pinentry = try pinentry("echo 'D abc'; echo 'D def'; echo OK")
        #expect(answer(pinentry) == .success(Array("abcdef".utf8)))
    }

    @Test(arguments: ["83886179", "99", "83886142", "83886194", "83886278"])
    func whoCancelsOrIsAwayIsTakenAtHisWord(code: String) throws {
        let pinentry = try pinentry("echo 'ERR \(code) cancelled'")
        #expect(answer(pinentry) == .failure(.cancelled))
    }

    @Test(arguments: [
        "echo 'ERR 83918950 no terminal'", "exit 1", "echo 'INQUIRE QUALITY'",
        "echo 'D %zz'; echo OK", "echo 'ERR x'",
    ])
    func onePinentryThatCannotAskLeavesTheQuestionToTheTerminal(getPIN: String) throws {
        #expect(answer(try pinentry(getPIN)) == .failure(.unusable))
    }

    @Test func aProgramThatIsNoneIsUnusable() {
        let display = Pinentry.Display()
        #expect(answer(Pinentry(program: "/bin/true", display: display)) == .failure(.unusable))
        #expect(
            answer(Pinentry(program: "/nowhere/pinentry", display: display))
                == .failure(.unusable))
    }

    @Test func somethingNewIsTypedTwiceInOneDialogue() throws {
        let pinentry = try pinentry("echo 'S PIN_REPEATED'; echo 'D 1234'; echo OK")
        #expect(answer(pinentry, isNew: true) == .success(Array("1234".utf8)))
        #expect(try heard().filter { $0 == "GETPIN" }.count == 1)
    }

    @Test func onePinentryWithoutASecondFieldIsAskedTwice() throws {
        let pinentry = try pinentry("echo 'D 1234'; echo OK", repeating: false)
        #expect(answer(pinentry, isNew: true) == .success(Array("1234".utf8)))
        #expect(try heard().filter { $0 == "GETPIN" }.count == 2)
    }

    @Test func twoEntriesThatDifferAreAskedForAgain() throws {
        let mended = try pinentry(
            "if [ $asked = 2 ]; then echo 'D 9'; else echo 'D 1'; fi; echo OK",
            repeating: false)
        #expect(answer(mended, isNew: true) == .success(Array("1".utf8)))
        let never = try pinentry("echo \"D $asked\"; echo OK", repeating: false)
        #expect(answer(never, isNew: true) == .failure(.cancelled))
    }

    @Test func anEmptyAnswerIsEmpty() throws {
        #expect(answer(try pinentry("echo OK")) == .success([]))
    }

    @Test func theFirstOfTheSearchPathIsTaken() throws {
        _ = try pinentry("echo OK")
        let path = folder.path
        #expect(Pinentry.find(in: "/nowhere:relative:\(path)") == "\(path)/pinentry")
        #expect(Pinentry.find(in: "/nowhere") == nil)
        #expect(Pinentry.find(in: "") == nil)
    }
}
