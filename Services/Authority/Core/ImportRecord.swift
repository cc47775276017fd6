internal import AuthorityMessages
internal import Clocks
internal import Crypto
internal import LimiterMessages
internal import Secrets
internal import Serving
internal import Tokens
internal import Wire

/// A credential record from elsewhere that has a passcode, and the device secret that goes with it.
struct ForeignCredential {
    private static let deviceSecretBytes = 32
    /// What is put before a code, as the limiter does it.
    private static let evaluationLabel = Array("telegram.passcode.v1\0".utf8)

    let record: CredentialRecord
    let passcode: CredentialRecord.Passcode
    private let deviceSecret: SharedSecret

    /// Throws `credential.invalid_import` for what cannot be opened by any passcode.
    init(record document: SharedSecret, deviceSecret: SharedSecret) throws(CredentialFault) {
        guard let record = try? CredentialRecord(decoding: document.bytes),
            let passcode = record.passcode,
            PasscodeWrapper.iterationsAllowed.contains(passcode.iterations),
            record.id.utf8.count <= Claims.credentialLimit,
            // More changes than anybody makes, and as many are left.
            record.revision <= CredentialRecord.revisionLimit / 2,
            deviceSecret.bytes.count == Self.deviceSecretBytes
        else { throw .invalidImport }
        self.record = record
        self.passcode = passcode
        self.deviceSecret = deviceSecret
    }

    /// What the key derivation takes, of a normalized code.
    func password(of code: SharedSecret) -> SharedSecret {
        SharedSecret(
            HMAC.sha256(
                key: deviceSecret.bytes, prefix: Self.evaluationLabel, message: code.bytes))
    }

    /// The access key, by the key that was derived; nil where that is not the right one.
    func accessKey(under key: SharedSecret) throws(CredentialFault) -> SharedSecret? {
        let opened: SharedSecret
        do throws(PasscodeWrapperError) {
            opened = SharedSecret(
                try PasscodeWrapper.open(
                    passcode.wrappedKey, under: key.bytes, credential: record.id,
                    kind: passcode.kind))
        } catch {
            guard error == .wrongKey else { throw .invalidImport }
            return nil
        }
        // With protection off the record has the key twice.
        if let open = record.unprotectedKey, !open.bytes.isEqual(to: opened.bytes) {
            throw .invalidImport
        }
        return opened
    }

    /// The record as it is kept until its passcode is wrapped anew: without one.
    func withoutPasscode(_ accessKey: SharedSecret) -> CredentialRecord {
        var kept = CredentialRecord(newWith: record.id, accessKey: accessKey)
        kept.revision = record.revision
        return kept
    }
}

extension AuthorityService {
    /// Takes over a credential from elsewhere, for an owner who has none.
    ///
    /// As a first passcode is set: a record without one, then the limiter's secret under its key,
    /// then the one write that is the change. An import that broke off is simply entered again.
    func importCredential(
        _ call: Call<ImportCredential>
    ) async throws -> Answer<ImportCredential> {
        let owner = call.owner
        guard changing.insert(owner).inserted else { throw CredentialFault.busyChanging }
        defer { changing.remove(owner) }
        try refuseWhileRemoving(owner)
        let foreign = try ForeignCredential(
            record: call.attachments[0], deviceSecret: call.attachments[1])
        let kind = foreign.passcode.kind
        let code = SharedSecret(try PasscodeText.ofAttempt(call.attachments[2].bytes, kind))
        guard try store.credential(of: owner)?.record.passcode == nil else {
            throw CredentialFault.exists
        }
        try await attempts.enter(owner)
        var isThreadFree = false
        defer {
            if !isThreadFree { attempts.freeThread() }
            attempts.end(owner)
        }
        guard clock.now.nanoseconds < call.deadline else { throw BusFault.overdue }
        metrics.count("kdf_runs")
        let key = await kdf.derive(
            password: foreign.password(of: code), salt: foreign.passcode.salt,
            iterations: foreign.passcode.iterations)
        guard let accessKey = try foreign.accessKey(under: key) else {
            return try group.change(call) { .wrong }
        }
        let ground = try await ground(of: foreign, accessKey, owner)
        let passcode = try await wrap(code, kind, ground)
        attempts.freeThread()
        isThreadFree = true
        guard clock.now.nanoseconds < call.deadline else { throw BusFault.overdue }
        var changed = try self.changed(by: passcode, ground)
        changed.record.protection = foreign.record.protection
        changed.record.unprotectedKey = foreign.record.protection ? nil : accessKey
        let written = changed
        let answer = try group.change(call, erasing: true) {
            try store.save(written, of: owner)
            return .imported(
                credential: written.record.id, revision: written.record.revision, kind: kind,
                protection: written.record.protection)
        }
        _ = registry.revokeAll(of: owner)
        try await group.committed()
        await wait(until: registry.leasesClosed(of: owner))
        return answer
    }

    /// A record with the imported access key, and the limiter's secret under it.
    ///
    /// A record without a passcode stands in the way unless it has that very key: wallets may be
    /// under the one that it has.
    private func ground(
        of foreign: ForeignCredential, _ accessKey: SharedSecret, _ owner: Owner
    ) async throws -> PasscodeGround {
        if let known = try store.credential(of: owner) {
            guard known.record.passcode == nil,
                known.record.unprotectedKey?.bytes.isEqual(to: accessKey.bytes) == true
            else { throw CredentialFault.exists }
        }
        return try await firstGround(of: owner) { foreign.withoutPasscode(accessKey) }
    }
}
