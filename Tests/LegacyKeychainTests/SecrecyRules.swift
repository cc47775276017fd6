import Glibc
import LegacyKeychain
import PropertyLists
import Secrets
import TestKit
import Testing
import Wire

@Suite("A phrase on its way out of a source")
struct SecrecyRules {
    /// In a process of its own, so that its memory holds still.
    ///
    /// Its symbols are bound when it starts, as are those of Coffer's programs: who binds later
    /// saves the vector registers on the stack, and what was just copied is in them.
    @Test("is in no memory but the secret one", arguments: FileForm.allCases)
    func search(_ form: FileForm) async throws {
        setenv("LD_BIND_NOW", "1", 1)
        await #expect(processExitsWith: .success) { [form = form as FileForm] in
            let folder = try TemporaryFolder()
            let path = folder.path(of: "keychain")
            let phrase = KernelRandom().secret(48)
            let letters = SecretBytes(count: 64) { target in
                phrase.withBytes { Base64.standard.encode($0, into: target) }
            }
            try writeKeychain(form, phrase, letters, to: path)
            try readKeychain(path, expecting: phrase) {
                precondition(!isInOrdinaryMemory(phrase) && !isInOrdinaryMemory(letters))
            }
            precondition(!isInOrdinaryMemory(phrase) && !isInOrdinaryMemory(letters))
            // The control: a copy in ordinary memory is found.
            let copy = phrase.withBytes { Array($0) }
            precondition(isInOrdinaryMemory(phrase))
            precondition(copy.count == 48)
        }
    }
}

/// Looks while the reader still has its pages.
private func readKeychain(
    _ path: String, expecting phrase: borrowing SecretBytes, _ look: () throws -> Void
) throws {
    let source = try KeychainSource(FileSource(path: path))
    let rows = try source.rows()
    guard case .item(let item) = try rows.next() else { throw KeychainError.noValue }
    let value = try source.value(at: item.value)
    precondition(value.isEqual(to: phrase))
    try look()
    while try rows.next() != nil {}
    try look()
}

/// Makes a keychain with another value, and writes the phrase over that in the file.
private func writeKeychain(
    _ form: FileForm, _ phrase: borrowing SecretBytes, _ letters: borrowing SecretBytes,
    to path: String
) throws {
    let file = LegacyKeychainFile([.init(account: "a", value: [UInt8](repeating: 0, count: 48))])
    let bytes = form.bytes(of: file)
    let wanted =
        form == .binary ? [UInt8](repeating: 0, count: 48) : Array(repeating: 0x41, count: 64)
    guard let place = bytes.indices.first(where: { bytes[$0...].starts(with: wanted) }) else {
        throw KeychainError.noValue
    }
    let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    defer { close(descriptor) }
    guard write(descriptor, bytes, bytes.count) == bytes.count else { throw KeychainError.noValue }
    let written = (form == .binary ? phrase.copy() : letters.copy()).withBytes {
        pwrite(descriptor, $0.baseAddress, $0.count, place)
    }
    guard written == wanted.count else { throw KeychainError.noValue }
}

/// Whether bytes stand anywhere in writable memory that is kept in a forked child, which that of
/// secrets is not.
private func isInOrdinaryMemory(_ wanted: borrowing SecretBytes) -> Bool {
    let memory = open("/proc/self/mem", O_RDONLY | O_CLOEXEC)
    precondition(memory >= 0)
    defer { close(memory) }
    let step = 1 << 20
    var window = SecretBytes(count: step + wanted.count)
    for region in ordinaryRegions() {
        for start in stride(from: region.lowerBound, to: region.upperBound, by: step) {
            let count = min(step + wanted.count, region.upperBound - start)
            let isFound = window.withMutableBytes { window in
                let got = pread(memory, window.baseAddress, count, start)
                let read = UnsafeRawBufferPointer(rebasing: window[..<max(got, 0)])
                return wanted.withBytes { stands($0, in: read) }
            }
            if isFound { return true }
        }
    }
    return false
}

private func stands(_ wanted: UnsafeRawBufferPointer, in bytes: UnsafeRawBufferPointer) -> Bool {
    guard let first = wanted.first, let start = wanted.baseAddress, var place = bytes.baseAddress
    else { return false }
    let end = place + bytes.count
    while end - place >= wanted.count,
        let found = memchr(place, Int32(first), end - place - wanted.count + 1)
    {
        if memcmp(found, start, wanted.count) == 0 { return true }
        place = UnsafeRawPointer(found) + 1
    }
    return false
}

private func ordinaryRegions() -> [Range<Int>] {
    var regions: [Range<Int>] = []
    guard let maps = fopen("/proc/self/smaps", "r") else { return [] }
    defer { fclose(maps) }
    var buffer = [CChar](repeating: 0, count: 4_096)
    var candidate: Range<Int>?
    while fgets(&buffer, Int32(buffer.count), maps) != nil {
        let line = String(
            decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let words = line.split(whereSeparator: \.isWhitespace)
        if words.first == "VmFlags:" {
            if let region = candidate, !words.contains("wf") { regions.append(region) }
            candidate = nil
        } else if words.count >= 2, words[1].hasPrefix("rw"), !words[0].hasSuffix(":") {
            let ends = words[0].split(separator: "-").compactMap { Int($0, radix: 16) }
            if ends.count == 2 { candidate = ends[0]..<ends[1] }
        }
    }
    precondition(!regions.isEmpty)
    return regions
}
