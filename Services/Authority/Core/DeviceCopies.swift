internal import AuthorityMessages
internal import Crypto
internal import DeviceKeyFrames
internal import Secrets
internal import Serving
internal import Storage
internal import Wire

/// A copy of an owner's access key with a hardware token, and what is kept of it here.
struct DeviceCopy: Equatable, Sendable {
    /// As the record has it.
    let account: String
    /// The URI of exactly that token; before the copy was made the one that was asked for.
    var token: String
    /// Nil before the copy was made.
    var form: DeviceKeyForm?
    /// The copy itself, where it is not on the token.
    var sealed: [UInt8] = []
    /// Tells the key from any other; nothing of a passcode can be tried with it.
    var check: [UInt8] = []

    private static let checkLabel = Array("coffer.device.check.v1".utf8)

    /// Without what the token is needed to open.
    var retired: DeviceCopy { DeviceCopy(account: account, token: token, form: form) }

    var made: DeviceKeyRequest.Made { DeviceKeyRequest.Made(name: account, token: token) }

    static func check(
        of accessKey: borrowing SecretBytes, account: String
    ) throws(CryptoError) -> [UInt8] {
        try HKDF.sha256(
            key: accessKey, salt: Array(account.utf8), info: checkLabel, count: 32
        ).withBytes { Array($0) }
    }

    /// Whether a key that a token gave is the one that was copied.
    func isOf(_ key: borrowing SecretBytes) -> Bool {
        guard !check.isEmpty, key.count == CredentialRecord.accessKeyBytes,
            let other = try? Self.check(of: key, account: account)
        else { return false }
        return ConstantTime.equal(check, other)
    }

    /// What a sealed copy is bound to.
    static func binding(credential: String, account: String) -> [UInt8] {
        Array("device.v1:\(credential):\(account)".utf8)
    }
}

extension CredentialRecord {
    /// Turns an enrolment that broke off into something to be deleted.
    mutating func retirePendingBiometrics() {
        guard let pending = pendingBiometricAccount else { return }
        if !biometricCleanup.contains(pending) { biometricCleanup.append(pending) }
        pendingBiometricAccount = nil
    }
}

/// What the store has of copies, beside the record that names them.
extension AuthorityStore {
    /// What is damaged stands as a copy that nothing opens.
    func deviceCopies(of owner: Owner) throws(StorageError) -> [DeviceCopy] {
        try database.rows(
            """
            SELECT account, token, form, sealed, proof FROM device_copies WHERE owner = ?1
            ORDER BY account
            """, .text(owner.text)
        ) { row throws(StorageError) in
            DeviceCopy(
                account: try row.text(0), token: try row.text(1),
                form: DeviceKeyForm(try row.text(2)), sealed: try row.blob(3),
                check: try row.blob(4))
        }
    }

    /// Inside a write.
    func save(_ copy: DeviceCopy, of owner: Owner) throws(StorageError) {
        _ = try database.run(
            """
            INSERT OR REPLACE INTO device_copies (owner, account, token, form, sealed, proof)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6)
            """, .text(owner.text), .text(copy.account), .text(copy.token),
            .text(copy.form?.text ?? ""), .blob(copy.sealed), .blob(copy.check))
    }

    /// Keeps of copies what the record says: all of the committed one, of those that wait for their
    /// deletion where they are, of others nothing; inside a write.
    func fitDeviceCopies(to record: CredentialRecord, of owner: Owner) throws(StorageError) {
        let waiting = record.biometricCleanup + [record.pendingBiometricAccount].compactMap { $0 }
        for copy in try deviceCopies(of: owner) where copy.account != record.biometricAccount {
            if !copy.sealed.isEmpty { database.oweErasure() }
            if waiting.contains(copy.account) {
                try save(copy.retired, of: owner)
            } else {
                _ = try database.run(
                    "DELETE FROM device_copies WHERE owner = ?1 AND account = ?2",
                    .text(owner.text), .text(copy.account))
            }
        }
    }

    /// Inside a write.
    func dropDeviceCopies(of owner: Owner) throws(StorageError) {
        _ = try database.run("DELETE FROM device_copies WHERE owner = ?1", .text(owner.text))
    }

    func ownersWithDeviceCopies() throws(StorageError) -> [Owner] {
        try database.rows("SELECT DISTINCT owner FROM device_copies ORDER BY owner") {
            row throws(StorageError) in try row.text(0)
        }.compactMap { Owner($0) }
    }

    nonisolated static let deviceCopiesStep = SchemaStep(
        "device copies",
        """
        CREATE TABLE device_copies (
            owner TEXT NOT NULL,
            account TEXT NOT NULL,
            token TEXT NOT NULL,
            form TEXT NOT NULL,
            sealed BLOB NOT NULL,
            proof BLOB NOT NULL,
            PRIMARY KEY (owner, account)
        ) STRICT, WITHOUT ROWID
        """)

    nonisolated static let deviceCopiesTable = OwnerTable(
        find: "SELECT 1 FROM device_copies WHERE owner = ?1 LIMIT 1",
        delete: "DELETE FROM device_copies WHERE owner = ?1",
        keep: "DELETE FROM device_copies WHERE owner <> ?1")
}
