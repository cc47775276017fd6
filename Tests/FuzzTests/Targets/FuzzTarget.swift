/// A decoder that is given any bytes, and what it promises for each of them.
public struct FuzzTarget: Sendable {
    public let name: String
    /// Inputs that reach far, to begin with.
    public let seeds: @Sendable () -> [[UInt8]]
    /// Decodes; the process ends where a promise is broken.
    public let run: @Sendable ([UInt8]) -> Void

    public static let all: [FuzzTarget] = [
        keyedArchive, keychainBinary, keychainXML, keychainLines, messageBox, shareEnvelope,
        shareFile, shareSplit, keyFile, json, busFrames, messageBody, token, certificate,
        storedRecord, typedText, pinentry,
    ]
}

/// Ends the process where the input is the one that a fuzzer has to find, in a build with
/// `-D PLANTED_TRAP` alone: the control that a fuzzer finds what there is to be found.
func plantedTrap(_ isReached: @autoclosure () -> Bool) {
    #if PLANTED_TRAP
        if isReached() { fatalError("the planted trap") }
    #endif
}

/// Ends the process unless a promise was kept; a release build says which one, too.
func promise(_ isKept: Bool, _ sentence: StaticString = "a promise is broken") {
    if !isKept { fatalError("\(sentence)") }
}
