internal import Crypto
public import Secrets

/// Recovery phrases that everybody can read: published test vectors and developers' defaults.
///
/// Whoever owns a wallet under one of them shares it with the world, so that a phrase found here
/// must not become a way back into anything. The list holds SHA-256 digests of normalized phrases:
/// the BIP-39 vectors of trezor/python-mnemonic, the published vectors of TON and SLIP-14, the
/// default phrases of common development chains, and every phrase in this project's own vectors.
public enum PublishedPhrases {
    /// Whether a normalized phrase is one of the published ones.
    public static func contains(_ normalized: borrowing SecretBytes) -> Bool {
        let digest = SHA256.digest(of: normalized)
        return digest.withBytes { wanted in
            digests.contains { published in
                published.withUnsafeBytes { ConstantTime.equal($0, wanted) }
            }
        }
    }

    private static let digests: [[UInt8]] = text.withUTF8Buffer { digits in
        digits.split(separator: UInt8(ascii: "\n")).compactMap { bytes(ofHex: $0) }
    }

    private static let text: StaticString = """
        03a9de4b00fb0a8ea131a76153ceb7caacce3d2e8a996a6e8b21cf6794b6d2a6
        044156ebb2c55b8c3d7926061995afb1ff6c57fb60021e22425498a9f59d8fa6
        0a98f2e7ecaed45619e53cd37523ac06bda0e53f2f817bbf9b2864cac81fd808
        0aa0ce9bc2e47bd614fbc8b91df682908446faf3f46666ae1e74a0a9bfded297
        0f388b04e512d7a0eda5889c96ff034cf63499b73898965a8e187e3a8a25d198
        1514e1e5097769ae42ff456f1ab39c8d860b4909d25bb4c9809cc8e92d59adbe
        15f41342748aa6c0718a6f4fa4e153acf61aa4dc073a6e77347fa2e4ef639162
        29aedb051d65bcc80e3379acb13afb2a0807f5f4bbb346a9846c056720e0a7cd
        2e62ad983d635d0b1727e265ecd060b43818edaef8fdd7bc5caaa7cfaacd400b
        2e9a556755b4346ff29c3a625a841eb45dc6ac48f282be409ccb4fad72379f48
        30452ba5605dd25289bc2ae7b1883a53b1cece62e2331fa105b88c9682dd37c7
        341c225b06c91708aa82ab8389075a8227fda76fb2b9cae2d445e36ca8c44da1
        3a64bcd9cea43c0aba67ba0bf2ddff8137a492bccbc672107fcbf7381086f698
        3a6e8652c1772ceaa10b90ae62f4c2f11a670b33f7cf73035ced33057b3fc51b
        3aca31f43af28a485d0935c6a5510443644d388f1f2a38de681cdbc7f40af479
        3b1c5e02107409ea60548d8d8f686fd8d722791f3618deb1f9eb1e9f5c02cd35
        3c0949435a7e4277fac2fbe27975cdd9f5b5abf94d282112eaf4cebbb8560984
        3f210c169ac74b0a15331e899d4b7a38e182d6f0dec6a76aef34fe59cfdef1f8
        46d53f554c8b748e9169bac7463c5237680eaaedeff09215c6fe2c63c9ad5c06
        49bdcca8450e2544a1484cb8426ee6c5ef2b6fd1a349ef7752110aeec667e22d
        523ca2b61e7fbbf8291487a802278401708928cea93cbaa3809dd2346f801061
        534b3f93383f11654696e113894967ae8f409cbddfdc546e664e067f3fa20338
        569ee67cc6ff3e9e88d17bf134ac7b61d992dd610062512939552b6a03183e49
        58acf278961fcef660089d8233eddffe68bfaeb5ff69f3b03bdc5a8daa7f07d0
        5a80d1fe337c4a3ca6a184e0f4056faa7bb546b2624faa762439ad418673c533
        5d7f42847bff74e30b1e4dbb6cb38298e470a932bb8a7a72b69d093d6a8f45df
        60f20a7e893a47af67dc2c89f425f803f010711580ec5b725787ddfdc798b538
        662c451cc5886e1d6f185f418b815a175bfd197536556607272b36fdefa8c969
        69be79ef3c28f55d7cb84db2dd3c18dfff45eeefebd09b8c5f7f3489b8ba09ac
        6d828debd306e21a02511899832f7ee5591de0693b2f2bd78967fb1e09bafdbb
        76c7f3f308af0884485582882b22d10a4917b8f6e71af4d27b71e0b578bd1b39
        867f9f5929a7201c1116579e17be6ce501f8a8c5a8d0d1ac7173d72ae78fd945
        8c3cbf922ef7e264b79b5e7f06e1cf12490356ea51bbb8e56ffc7e0ba99b27dc
        8e56fae81ea1ba06b3193802e3f8800d1df6eb30e4e25a1279aca87bacc188da
        910942b5c6c29f0672ab07266975b89e475582385e219ba033328c438869fc0e
        99bceb74d3561e979a969e2e0d7f75d4f474891b23731c3e2f99315d24e667f4
        9c5d0a6656e5d3f36601d0bf98762be09bad5d7b164382c1d6c826324d6d599a
        a5fe1cb4158ffd2a27ae93b5ac617903504c3ec9d8f6ac9737ecc207cb460e72
        b12ee277a669b18fb7c5d9d3642c9298ce06f0814a4166a6396ad9cb2eccc914
        b1bff22ae077ce1ae482e4dcb01c144ff8a44e97fbb3f3a5f62567f4ac19da7c
        b2e71100d10bee74156b69806498a2e3d90e432160c2e266465ba669a220d50b
        b74c022ea4d0a5b1499f6b55348c7b2d17987516781595a1e731763e93a70399
        b83e96417f61cb148d0dc8a89b839ee4956ad45b5e4b6a2a6cae048e48782157
        b86288f91b1939b5433c284c15243614c15af86b5f37132a174da866598621b2
        b8ae5c99142647d1043595539d615197ee7dad5e7c031d5447e78c69e62ba01f
        be67a6dcfb6d9a01599afa17ff3dc647fca6e6d5157d723a3e1ba1ee8b032f31
        c1db187b992c8ddddbe9dfab0e88542e9af36e1816c0d4c70353cd1175159bd9
        c557eec878dfd852ba3f88087c4f350f09c55537ab5e549c3cd14320ec3cef38
        c877ae85d3d3458cbd3da73c3967e6a06f711f610b81f7d8a1446e550d185e0f
        cc95a8a1b5e9bf130a4468b1b4857b6a7fc64979970a06b806cb879460d15348
        d16d608fce743a041ddb5841a32ceb7dd38645f27a6f3c5f5010d9403b1cb6c9
        d23d9c5da76888e0f288c61e7cbb8c2acce5fe2b7ef71626c955d49bb2fe731e
        d53afa18cccd9beac1aa855bc30a0be0f680acfac86f42f644846a6528c4c7ed
        d6da54d12db9eac818868b841c1c9cc7c39f5294c8620ad24b7715b7820febc0
        d86cc2663bf0267e6bf3502a7cb0c9ad265708d95ff7105c3b317024310c876d
        d8f1977ebb00ad5417460593304531686de1dd5bd6e5053d6bbda49f78c324a8
        decbab7cf258c6c8f0d93ef86e36f2024f2c745067d28aba15d88b99d0b572e7
        e33188ff84e137d913496d497dc6009b198a67f96d4f8db24723bea02be5a2a7
        e370e35d3f4bd71fc9d35c7b46651eb0e379b4d0cdd4bce88f270bb24b8dea6d
        e433047d98bf524d1dfd793c3634d20ec6cb8f685ff0d9cc28da6150be9fdba4
        e770e8aa42a869cf269a5bda331f706a08e02a6223ffbd28d71580e2101e02a4
        e96bfc1d78867126dadff72e64807301e9bb837bcf329c86976647e529520528
        ecb0e7ba498c5920991f0b3483e91f7abafa9ecc6bd82a9a51494589592b1a8f
        f656d7f6e34d049e251b63c8c7373de9a3775bd7ef21206324567e71bce30632
        f79cd64f9cea237897b8133e4b905b361c6f166faa5a1c64c32280938f5b707e
        fc5a1d83feae4077c81eec5a401652b7102da0a938125e2f023b4d846a0c56d1
        """
}
