import Crypto
import Secrets
import TestKit
import Testing
import Wire

@testable import CofferCore

/// Everything about a sealed stream is noticed, whatever is changed in it.
@Suite struct SealedStateRules {
    private let salt = [UInt8](repeating: 7, count: SealedState.saltBytes)
    private let key = [UInt8](repeating: 9, count: AESGCM.keyBytes)
    private static let chunk = SealedState.chunkBytes
    private static let sealedChunk = chunk + AESGCM.tagBytes

    @Test(arguments: [0, 1, chunk - 1, chunk, chunk + 1, 3 * chunk, 3 * chunk + 100])
    func whatIsSealedIsOpened(count: Int) throws {
        let bytes = SeededRandom(seed: UInt64(count)).bytes(count)
        let file = try sealed(bytes, pieces: 10_000)
        let chunks = max(1, (count + Self.chunk - 1) / Self.chunk)
        #expect(file.count == SealedState.headBytes + count + chunks * AESGCM.tagBytes)
        #expect(try opened(file, count: count) == bytes)
    }

    @Test func theSizesOfPiecesDoNotShow() throws {
        let bytes = SeededRandom(seed: 1).bytes(2 * Self.chunk + 5)
        #expect(try sealed(bytes, pieces: 7_001) == sealed(bytes, pieces: bytes.count))
    }

    @Test func everyChangedBitIsNoticed() throws {
        let bytes = SeededRandom(seed: 2).bytes(100)
        let file = try sealed(bytes, pieces: 100)
        for index in file.indices {
            for bit in 0..<8 {
                var changed = file
                changed[index] ^= 1 << bit
                #expect(throws: SealedState.Fault.self, "bit \(bit) of byte \(index)") {
                    _ = try opened(changed, count: bytes.count)
                }
            }
        }
    }

    /// Of a longer stream: a bit of each chunk, in its beginning, its end and its tag.
    @Test func aChangedBitOfALaterChunkIsDamage() throws {
        let bytes = SeededRandom(seed: 3).bytes(3 * Self.chunk)
        let file = try sealed(bytes, pieces: 50_000)
        for number in 1..<3 {
            let start = SealedState.headBytes + number * Self.sealedChunk
            for offset in [0, Self.chunk - 1, Self.sealedChunk - 1] {
                var changed = file
                changed[start + offset] ^= 1
                #expect(throws: SealedState.Fault.damaged) {
                    _ = try opened(changed, count: bytes.count)
                }
            }
        }
    }

    @Test func everyCutIsNoticed() throws {
        let bytes = SeededRandom(seed: 4).bytes(2 * Self.chunk + 50)
        let file = try sealed(bytes, pieces: 50_000)
        let borders = (0...3).map { SealedState.headBytes + $0 * Self.sealedChunk }
        let cuts = borders.flatMap { [$0 - 1, $0, $0 + 1] } + [file.count - 1]
        for cut in cuts where cut < file.count {
            #expect(throws: SealedState.Fault.self, "cut at \(cut)") {
                _ = try opened(Array(file[..<cut]), count: bytes.count)
            }
        }
    }

    @Test func moreBytesThanWereSealedAreNoticed() throws {
        let bytes = SeededRandom(seed: 5).bytes(Self.chunk)
        let file = try sealed(bytes, pieces: 50_000)
        for extra in [1, AESGCM.tagBytes, Self.sealedChunk] {
            #expect(throws: SealedState.Fault.self) {
                _ = try opened(
                    file + [UInt8](repeating: 0, count: extra), count: bytes.count)
            }
        }
    }

    @Test func chunksThatChangedPlacesAreNoticed() throws {
        let bytes = SeededRandom(seed: 6).bytes(4 * Self.chunk)
        let file = try sealed(bytes, pieces: 50_000)
        let chunks = (0..<4).map { number in
            let start = SealedState.headBytes + number * Self.sealedChunk
            return Array(file[start..<start + Self.sealedChunk])
        }
        let head = Array(file[..<SealedState.headBytes])
        for order in [[0, 2, 1, 3], [0, 1, 3], [0, 1, 1, 2, 3], [1, 2, 3]] {
            let moved = head + order.flatMap { chunks[$0] }
            #expect(throws: SealedState.Fault.self, "\(order)") {
                _ = try opened(moved, count: order.count * Self.chunk)
            }
        }
        #expect(try opened(head + chunks.flatMap(\.self), count: bytes.count) == bytes)
    }

    @Test func anotherKeyOpensNothing() throws {
        let file = try sealed([1, 2, 3], pieces: 3)
        #expect(throws: SealedState.Fault.wrongPassphrase) {
            _ = try opened(file, count: 3, key: [UInt8](repeating: 8, count: 32))
        }
    }

    @Test func whatDoesNotBeginSoIsAnotherFile() {
        for head in [[], Array("coffer.state.v2\n".utf8) + salt, SealedState.magic] {
            #expect(throws: SealedState.Fault.otherFile) { _ = try StateOpener.salt(of: head) }
        }
    }

    @Test func aManifestIsReadAsItWasWritten() throws {
        let manifest = StateManifest(
            made: 1_800_000_000,
            stores: [
                .init(service: .walletVault, bytes: 4_096), .init(service: .migration, bytes: 0),
            ])
        #expect(try StateManifest(decoding: manifest.encoded()) == manifest)
    }

    @Test(arguments: [
        (#"{"version":1,"made":1,"stores":[{"service":"wallet-vault","bytes":-1}]}"#, false),
        (
            #"{"version":1,"made":1,"stores":[{"service":"migration","bytes":1},"#
                + #"{"service":"migration","bytes":1}]}"#, false
        ),
        (#"{"version":1,"stores":[]}"#, false),
        (#"{"version":2,"made":1,"stores":[]}"#, true),
        (#"{"version":1,"made":1,"stores":[{"service":"coffee-maker","bytes":1}]}"#, true),
    ]) func anotherManifestIsRefused(text: String, isNewer: Bool) {
        #expect(throws: isNewer ? SealedState.Fault.newerRelease : .damaged) {
            _ = try StateManifest(decoding: Array(text.utf8))
        }
    }

    private func sealed(_ bytes: [UInt8], pieces: Int) throws -> [UInt8] {
        var file: [UInt8] = []
        var sealer = try StateSealer(salt: salt, key: SecretBytes(copying: key)) { file += $0 }
        for start in stride(from: 0, to: bytes.count, by: pieces) {
            let piece = Array(bytes[start..<min(bytes.count, start + pieces)])
            try piece.withUnsafeBytes { try sealer.append($0) }
        }
        try sealer.finish()
        return file
    }

    private func opened(_ file: [UInt8], count: Int, key: [UInt8]? = nil) throws -> [UInt8] {
        let head = Array(file.prefix(SealedState.headBytes))
        _ = try StateOpener.salt(of: head)
        var rest = file.dropFirst(SealedState.headBytes)
        var opener = StateOpener(head: head, key: SecretBytes(copying: key ?? self.key)) { count in
            defer { rest = rest.dropFirst(count) }
            return Array(rest.prefix(count))
        }
        let bytes = try opener.take(count).withBytes { Array($0) }
        try opener.finish()
        return bytes
    }
}
