internal import AuthorityMessages
internal import Secrets
internal import Wire

extension Verb {
    static let passcodeImport = Verb(
        "passcode import", required: [.record, .deviceSecret], options: CommandOption.asking,
        summary: "Take over a passcode and its access key from another installation.",
        help: """
            Opens the record with its own device secret and its passcode, and wraps the access key \
            anew under the owner's device secret here; the foreign one is dropped. Envelopes under \
            that access key stay readable. Refused for an owner who has a credential. Delete the \
            two files afterwards: together they test passcodes.
            """
    ) { run throws(CommandFailure) in
        let record = SharedSecret(
            try DescriptorInput.secretFile(run.invocation[.record] ?? "", named: .record))
        let secret = SharedSecret(
            try DeviceSecretFile.read(run.invocation[.deviceSecret] ?? ""))
        let status = try run.caller().call(AskStatus()).reply
        guard status.kind == nil else {
            throw CommandFailure(CredentialFault.exists.refusal, kind: .change)
        }
        let passcode = try run.passcode(to: "open the record")
        let caller = try run.caller()
        let changed = try caller.change(
            ImportCredential(), key: caller.newKey(), token: [],
            attachments: [record, secret, passcode])
        switch changed {
        case .answered(.wrong):
            throw CommandFailure(
                .wrongPasscode,
                "The passcode, or the device secret, is not the one of this record. Nothing was "
                    + "imported and no attempt counted.")
        case .answered(let reply):
            return Report("The passcode is imported. `coffer unlock` opens the wallets.", reply)
        case .done:
            return Report("The passcode is imported.") { $0.bool("done", true) }
        }
    }
}

/// The device secret of a foreign record, as people have it in a file.
private enum DeviceSecretFile {
    private static let byteCount = 32

    static func read(_ path: String) throws(CommandFailure) -> SecretBytes {
        let file = try DescriptorInput.secretFile(path, named: .deviceSecret)
        if file.count == byteCount { return file }
        let text = try DescriptorInput.trimmed(file, named: .deviceSecret)
        var secret = SecretBytes(count: byteCount)
        let isRead = text.withBytes { text in
            secret.withMutableBytes { Base64.standard.decode(text, into: $0) }
        }
        guard isRead else {
            throw .usage("\(CommandOption.deviceSecret.name) wants 32 bytes, or their base64.")
        }
        return secret
    }
}
