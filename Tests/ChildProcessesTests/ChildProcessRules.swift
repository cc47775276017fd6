import Glibc
import Testing

@testable import ChildProcesses

/// A program that runs with pipes, and what is left of it.
@Suite(.timeLimit(.minutes(1)))
struct ChildProcessRules {
    @Test func whatIsWrittenComesBackAndTheExitCodeIsTold() throws {
        let child = try #require(ChildProcess(["/bin/sh", "-c", "cat; exit 7"]))
        let text = Array("hello".utf8)
        #expect(write(child.input, text, text.count) == text.count)
        child.closeInput()
        #expect(child.readAll(limit: 100) == text)
        #expect(child.wait() == 7)
        #expect(child.wait() == nil)
    }

    @Test func aProgramThatIsNotThereIsNotStarted() {
        #expect(ChildProcess(["/nowhere/nothing"]) == nil)
        #expect(ChildProcess([]) == nil)
    }

    @Test func aSignalIsNoExitCode() throws {
        let child = try #require(ChildProcess(["/bin/sh", "-c", "kill -9 $$"]))
        #expect(child.wait() == nil)
    }

    @Test func theEnvironmentIsAddedTo() throws {
        let child = try #require(
            ChildProcess(
                ["/bin/sh", "-c", "echo $COFFER_TEST_WORD; [ -n \"$PATH\" ]"],
                environment: ["COFFER_TEST_WORD=word"]))
        #expect(child.readAll(limit: 100) == Array("word\n".utf8))
        #expect(child.wait() == 0)
    }

    /// It would wait for the end of its input for as long as the other one lives.
    @Test func noOtherProgramHoldsItsPipes() throws {
        let child = try #require(ChildProcess(["/bin/cat"]))
        let other = try #require(ChildProcess(["/bin/cat"]))
        #expect(child.wait() == 0)
        #expect(other.wait() == 0)
    }

    @Test func signalsThatTheThreadBlocksReachTheProgram() throws {
        var term = sigset_t()
        sigemptyset(&term)
        sigaddset(&term, SIGTERM)
        var before = sigset_t()
        pthread_sigmask(SIG_BLOCK, &term, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
        let child = try #require(ChildProcess(["/bin/sh", "-c", "kill -TERM $$; echo here"]))
        #expect(child.readAll(limit: 100) == [])
        #expect(child.wait() == nil)
    }

    /// The grandchild holds the pipe for as long as it lives.
    @Test func aGroupEndsWithItsFirst() throws {
        let child = try #require(
            ChildProcess(["/bin/sh", "-c", "sleep 600 & echo $!; wait"], leadsGroup: true))
        var block = [UInt8](repeating: 0, count: 16)
        let count = read(child.output, &block, block.count)
        try #require(count > 0)
        let text = String(decoding: block[..<count].filter { $0 != 0x0A }, as: UTF8.self)
        let grandchild = try #require(pid_t(text))
        #expect(getpgid(grandchild) == child.process)
        child.kill()
        #expect(child.readAll(limit: 100) == [])
        #expect(child.wait() == nil)
    }
}
