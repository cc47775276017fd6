internal import Bus
internal import Glibc
internal import Wire

/// A key pair as two files in a folder: `NAME.key_secret` (0600) and `NAME.key`.
enum KeyPairFiles {
    /// Makes a new pair; nothing that stands there is overwritten.
    static func make(
        name: String, in folder: String
    ) throws(CertificateError) -> (key: PeerKey, secretPath: String?) {
        let secretPath = "\(folder)/\(name).key_secret"
        let publicPath = "\(folder)/\(name).key"
        for path in [secretPath, publicPath] where access(path, F_OK) == 0 {
            throw .notWritten(path: path, code: EEXIST)
        }
        guard let pair = CurveKeyPair.generate() else {
            throw .notWritten(path: secretPath, code: ENOSYS)
        }
        try CertificateFile.writeSecret(pair, metadata: ["name": name], to: secretPath)
        try CertificateFile.writePublic(
            pair.publicKey, metadata: ["name": name], to: publicPath)
        return (pair.publicKey, secretPath)
    }

    /// The pair that stands there, or a new one; a public file that is missing is written again.
    ///
    /// - Returns: the public key, and the paths that were made.
    static func keep(
        name: String, in folder: String
    ) throws(CertificateError) -> (key: PeerKey, made: [String]) {
        let secretPath = "\(folder)/\(name).key_secret"
        let publicPath = "\(folder)/\(name).key"
        guard access(secretPath, F_OK) == 0 else {
            return (try make(name: name, in: folder).key, [secretPath, publicPath])
        }
        guard !isAnothersPair(secretPath) || access(publicPath, F_OK) != 0 else {
            return (try CertificateFile.readPublic(publicPath).key, [])
        }
        let key = try CertificateFile.readSecret(secretPath).publicKey
        guard access(publicPath, F_OK) == 0 else {
            try CertificateFile.writePublic(key, metadata: ["name": name], to: publicPath)
            return (key, [publicPath])
        }
        guard try CertificateFile.readPublic(publicPath).key == key else {
            throw .keysDiffer(path: publicPath)
        }
        return (key, [])
    }

    /// Whether root looks at the secret key of a service with a user of its own: its public half
    /// says enough.
    private static func isAnothersPair(_ secretPath: String) -> Bool {
        var status = stat()
        return geteuid() == 0 && lstat(secretPath, &status) == 0 && status.st_uid != 0
    }
}
