internal import Home
internal import SharesMessages
internal import VaultMessages
internal import WholeFiles
internal import Wire

/// What lies beside the files of a split, for whoever has to do without Coffer one day.
///
/// It is a text for people, and a program below it: to Python all that people read is a comment.
/// Of the wallet it says what each share file says, and nothing of the holders, so that each of
/// them may have a copy.
enum RestoreText {
    static func file(for manifest: Manifest, _ mark: String) -> NewFile {
        let comment = text(of: manifest, mark).split(
            separator: "\n", omittingEmptySubsequences: false
        )
        .map { $0.isEmpty ? "#" : "# \($0)" }
        let head = comment.joined(separator: "\n") + "\n\n"
        return NewFile(
            name: "README-\(mark).txt", bytes: Array(head.utf8) + PackageResources.restore_py)
    }

    private static func text(of manifest: Manifest, _ mark: String) -> String {
        let wallet = manifest.wallet
        let kind = wallet.network.map { "\(wallet.kind.text) (\($0.text))" } ?? wallet.kind.text
        return """
            How to restore a wallet from its three shares

            Three people have a file each whose name ends in -\(mark).share, and a key each, a PEM
            file, most often under a passphrase. All three files with all three keys bring the
            recovery phrase of this wallet back:

            kind      \(kind)
            words     \(wallet.words)
            identity  \(Hex.encode(wallet.identity))
            split     \(ShownTime.text(manifest.made))

            Two files tell nothing, and nor does this text: each holder may have a copy of it.

            With Coffer, where all files and keys are at hand:

                coffer backup restore --share FILE --key FILE --share FILE --key FILE \\
                    --share FILE --key FILE

            and where they are not, `coffer backup request`, which makes a request to the holders.

            Without Coffer: this text is a program, too. Take a computer that is offline and that
            nobody else uses, with Python 3.9 or newer and its package `cryptography`. Put this
            text, the three shares and the three keys into one folder, and type there

                python3 README-\(mark).txt KEY SHARE KEY SHARE KEY SHARE

            with the name of a key and of the share that it opens, three times. It asks for the
            passphrases and prints the phrase, or names the file that is wrong. Whoever sees the
            phrase owns the wallet. Write it down with a pen, and take the keys off that computer.

            Where no Python runs this any more, what follows is the recipe. AES-256-CBC, HMAC,
            SHA-2, X25519 and Ed25519 are all that it takes, in any language. Coffer's sources have
            it in words: docs/restore-by-hand.md and docs/formats.md, version \(Version.text).
            """
    }
}
