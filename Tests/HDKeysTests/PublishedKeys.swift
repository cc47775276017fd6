/// The vectors of SLIP-0010 for secp256k1 and Ed25519, with the texts of BIP-32.
///
/// Those for secp256k1 are vectors 1 and 2 of BIP-32; its vector 3, whose keys begin with zeros, is
/// here too.
struct PublishedKey: Sendable {
    let seed: String
    let path: String
    let chainCode: String
    let privateKey: String
    let publicKey: String
    let xprv: String
    let xpub: String

    static let secp256k1 = parse(secp256k1Text)
    static let ed25519 = parse(ed25519Text)

    private static let seeds = [
        "000102030405060708090a0b0c0d0e0f",
        "fffcf9f6f3f0edeae7e4e1dedbd8d5d2cfccc9c6c3c0bdbab7b4b1aeaba8a5a2"
            + "9f9c999693908d8a8784817e7b7875726f6c696663605d5a5754514e4b484542",
        "4b381541583be4423346c643850da4b320e46a87ae3d2a4e6da11eba819cd4ac"
            + "ba45d239319ac14f863b8d5ab5a0d0c64d2e8a1e7d1457df2e5a3c51c73235be",
    ]

    private static func parse(_ text: String) -> [PublishedKey] {
        text.split(separator: "\n\n").map { block in
            let lines = block.split(separator: "\n").map(String.init)
            let start = lines[0].split(separator: " ").map(String.init)
            return PublishedKey(
                seed: seeds[Int(start[0], radix: 10).map { $0 - 1 } ?? 0], path: start[1],
                chainCode: lines[1], privateKey: lines[2], publicKey: lines[3],
                xprv: lines.count > 4 ? lines[4] : "", xpub: lines.count > 5 ? lines[5] : "")
        }
    }

    /// Number of the seed and path, chain code, private key, public key, each on a line; then, for
    /// secp256k1, the texts of both keys.
    private static let secp256k1Text = """
        1 m
        873dff81c02f525623fd1fe5167eac3a55a049de3d314bb42ee227ffed37d508
        e8f32e723decf4051aefac8e2c93c9c5b214313817cdb01a1494b917c8436b35
        0339a36013301597daef41fbe593a02cc513d0b55527ec2df1050e2e8ff49c85c2
        xprv9s21ZrQH143K3QTDL4LXw2F7HEK3wJUD2nW2nRk4stbPy6cq3jPPqjiChkVvvNKmPGJxWUtg6LnF\
        5kejMRNNU3TGtRBeJgk33yuGBxrMPHi
        xpub661MyMwAqRbcFtXgS5sYJABqqG9YLmC4Q1Rdap9gSE8NqtwybGhePY2gZ29ESFjqJoCu1Rupje8Y\
        tGqsefD265TMg7usUDFdp6W1EGMcet8

        1 m/0'
        47fdacbd0f1097043b78c63c20c34ef4ed9a111d980047ad16282c7ae6236141
        edb2e14f9ee77d26dd93b4ecede8d16ed408ce149b6cd80b0715a2d911a0afea
        035a784662a4a20a65bf6aab9ae98a6c068a81c52e4b032c0fb5400c706cfccc56
        xprv9uHRZZhk6KAJC1avXpDAp4MDc3sQKNxDiPvvkX8Br5ngLNv1TxvUxt4cV1rGL5hj6KCesnDYUhd7\
        oWgT11eZG7XnxHrnYeSvkzY7d2bhkJ7
        xpub68Gmy5EdvgibQVfPdqkBBCHxA5htiqg55crXYuXoQRKfDBFA1WEjWgP6LHhwBZeNK1VTsfTFUHCd\
        rfp1bgwQ9xv5ski8PX9rL2dZXvgGDnw

        1 m/0'/1
        2a7857631386ba23dacac34180dd1983734e444fdbf774041578e9b6adb37c19
        3c6cb8d0f6a264c91ea8b5030fadaa8e538b020f0a387421a12de9319dc93368
        03501e454bf00751f24b1b489aa925215d66af2234e3891c3b21a52bedb3cd711c
        xprv9wTYmMFdV23N2TdNG573QoEsfRrWKQgWeibmLntzniatZvR9BmLnvSxqu53Kw1UmYPxLgboyZQaX\
        wTCg8MSY3H2EU4pWcQDnRnrVA1xe8fs
        xpub6ASuArnXKPbfEwhqN6e3mwBcDTgzisQN1wXN9BJcM47sSikHjJf3UFHKkNAWbWMiGj7Wf5uMash7\
        SyYq527Hqck2AxYysAA7xmALppuCkwQ

        1 m/0'/1/2'
        04466b9cc8e161e966409ca52986c584f07e9dc81f735db683c3ff6ec7b1503f
        cbce0d719ecf7431d88e6a89fa1483e02e35092af60c042b1df2ff59fa424dca
        0357bfe1e341d01c69fe5654309956cbea516822fba8a601743a012a7896ee8dc2
        xprv9z4pot5VBttmtdRTWfWQmoH1taj2axGVzFqSb8C9xaxKymcFzXBDptWmT7FwuEzG3ryjH4ktypQS\
        AewRiNMjANTtpgP4mLTj34bhnZX7UiM
        xpub6D4BDPcP2GT577Vvch3R8wDkScZWzQzMMUm3PWbmWvVJrZwQY4VUNgqFJPMM3No2dFDFGTsxxpG5\
        uJh7n7epu4trkrX7x7DogT5Uv6fcLW5

        1 m/0'/1/2'/2
        cfb71883f01676f587d023cc53a35bc7f88f724b1f8c2892ac1275ac822a3edd
        0f479245fb19a38a1954c5c7c0ebab2f9bdfd96a17563ef28a6a4b1a2a764ef4
        02e8445082a72f29b75ca48748a914df60622a609cacfce8ed0e35804560741d29
        xprvA2JDeKCSNNZky6uBCviVfJSKyQ1mDYahRjijr5idH2WwLsEd4Hsb2Tyh8RfQMuPh7f7RtyzTtdrb\
        dqqsunu5Mm3wDvUAKRHSC34sJ7in334
        xpub6FHa3pjLCk84BayeJxFW2SP4XRrFd1JYnxeLeU8EqN3vDfZmbqBqaGJAyiLjTAwm6ZLRQUMv1ZAC\
        Tj37sR62cfN7fe5JnJ7dh8zL4fiyLHV

        1 m/0'/1/2'/2/1000000000
        c783e67b921d2beb8f6b389cc646d7263b4145701dadd2161548a8b078e65e9e
        471b76e389e528d6de6d816857e012c5455051cad6660850e58372a6c3e6e7c8
        022a471424da5e657499d1ff51cb43c47481a03b1e77f951fe64cec9f5a48f7011
        xprvA41z7zogVVwxVSgdKUHDy1SKmdb533PjDz7J6N6mV6uS3ze1ai8FHa8kmHScGpWmj4WggLyQjgPi\
        e1rFSruoUihUZREPSL39UNdE3BBDu76
        xpub6H1LXWLaKsWFhvm6RVpEL9P4KfRZSW7abD2ttkWP3SSQvnyA8FSVqNTEcYFgJS2UaFcxupHiYkro\
        49S8yGasTvXEYBVPamhGW6cFJodrTHy

        2 m
        60499f801b896d83179a4374aeb7822aaeaceaa0db1f85ee3e904c4defbd9689
        4b03d6fc340455b363f51020ad3ecca4f0850280cf436c70c727923f6db46c3e
        03cbcaa9c98c877a26977d00825c956a238e8dddfbd322cce4f74b0b5bd6ace4a7
        xprv9s21ZrQH143K31xYSDQpPDxsXRTUcvj2iNHm5NUtrGiGG5e2DtALGdso3pGz6ssrdK4PFmM8NSpS\
        BHNqPqm55Qn3LqFtT2emdEXVYsCzC2U
        xpub661MyMwAqRbcFW31YEwpkMuc5THy2PSt5bDMsktWQcFF8syAmRUapSCGu8ED9W6oDMSgv6Zz8ido\
        c4a6mr8BDzTJY47LJhkJ8UB7WEGuduB

        2 m/0
        f0909affaa7ee7abe5dd4e100598d4dc53cd709d5a5c2cac40e7412f232f7c9c
        abe74a98f6c7eabee0428f53798f0ab8aa1bd37873999041703c742f15ac7e1e
        02fc9e5af0ac8d9b3cecfe2a888e2117ba3d089d8585886c9c826b6b22a98d12ea
        xprv9vHkqa6EV4sPZHYqZznhT2NPtPCjKuDKGY38FBWLvgaDx45zo9WQRUT3dKYnjwih2yJD9mkrocEZ\
        Xo1ex8G81dwSM1fwqWpWkeS3v86pgKt
        xpub69H7F5d8KSRgmmdJg2KhpAK8SR3DjMwAdkxj3ZuxV27CprR9LgpeyGmXUbC6wb7ERfvrnKZjXoUm\
        mDznezpbZb7ap6r1D3tgFxHmwMkQTPH

        2 m/0/2147483647'
        be17a268474a6bb9c61e1d720cf6215e2a88c5406c4aee7b38547f585c9a37d9
        877c779ad9687164e9c2f4f0f4ff0340814392330693ce95a58fe18fd52e6e93
        03c01e7425647bdefa82b12d9bad5e3e6865bee0502694b94ca58b666abc0a5c3b
        xprv9wSp6B7kry3Vj9m1zSnLvN3xH8RdsPP1Mh7fAaR7aRLcQMKTR2vidYEeEg2mUCTAwCd6vnxVrcjf\
        y2kRgVsFawNzmjuHc2YmYRmagcEPdU9
        xpub6ASAVgeehLbnwdqV6UKMHVzgqAG8Gr6riv3Fxxpj8ksbH9ebxaEyBLZ85ySDhKiLDBrQSARLq1uN\
        Rts8RuJiHjaDMBU4Zn9h8LZNnBC5y4a

        2 m/0/2147483647'/1
        f366f48f1ea9f2d1d3fe958c95ca84ea18e4c4ddb9366c336c927eb246fb38cb
        704addf544a06e5ee4bea37098463c23613da32020d604506da8c0518e1da4b7
        03a7d1d856deb74c508e05031f9895dab54626251b3806e16b4bd12e781a7df5b9
        xprv9zFnWC6h2cLgpmSA46vutJzBcfJ8yaJGg8cX1e5StJh45BBciYTRXSd25UEPVuesF9yog62tGAQt\
        HjXajPPdbRCHuWS6T8XA2ECKADdw4Ef
        xpub6DF8uhdarytz3FWdA8TvFSvvAh8dP3283MY7p2V4SeE2wyWmG5mg5EwVvmdMVCQcoNJxGoWaU9DC\
        Wh89LojfZ537wTfunKau47EL2dhHKon

        2 m/0/2147483647'/1/2147483646'
        637807030d55d01f9a0cb3a7839515d796bd07706386a6eddf06cc29a65a0e29
        f1c7c871a54a804afe328b4c83a1c33b8e5ff48f5087273f04efa83b247d6a2d
        02d2b36900396c9282fa14628566582f206a5dd0bcc8d5e892611806cafb0301f0
        xprvA1RpRA33e1JQ7ifknakTFpgNXPmW2YvmhqLQYMmrj4xJXXWYpDPS3xz7iAxn8L39njGVyuoseXzU\
        6rcxFLJ8HFsTjSyQbLYnMpCqE2VbFWc
        xpub6ERApfZwUNrhLCkDtcHTcxd75RbzS1ed54G1LkBUHQVHQKqhMkhgbmJbZRkrgZw4koxb5JaHWkY4\
        ALHY2grBGRjaDMzQLcgJvLJuZZvRcEL

        2 m/0/2147483647'/1/2147483646'/2
        9452b549be8cea3ecb7a84bec10dcfd94afe4d129ebfd3b3cb58eedf394ed271
        bb7d39bdb83ecf58f2fd82b6d918341cbef428661ef01ab97c28a4842125ac23
        024d902e1a2fc7a8755ab5b694c575fce742c48d9ff192e63df5193e4c7afe1f9c
        xprvA2nrNbFZABcdryreWet9Ea4LvTJcGsqrMzxHx98MMrotbir7yrKCEXw7nadnHM8Dq38EGfSh6dqA\
        9QWTyefMLEcBYJUuekgW4BYPJcr9E7j
        xpub6FnCn6nSzZAw5Tw7cgR9bi15UV96gLZhjDstkXXxvCLsUXBGXPdSnLFbdpq8p9HmGsApME5hQTZ3\
        emM2rnY5agb9rXpVGyy3bdW6EEgAtqt

        3 m
        01d28a3e53cffa419ec122c968b3259e16b65076495494d97cae10bbfec3c36f
        00ddb80b067e0d4993197fe10f2657a844a384589847602d56f0c629c81aae32
        03683af1ba5743bdfc798cf814efeeab2735ec52d95eced528e692b8e34c4e5669
        xprv9s21ZrQH143K25QhxbucbDDuQ4naNntJRi4KUfWT7xo4EKsHt2QJDu7KXp1A3u7Bi1j8ph3EGsZ9\
        Xvz9dGuVrtHHs7pXeTzjuxBrCmmhgC6
        xpub661MyMwAqRbcEZVB4dScxMAdx6d4nFc9nvyvH3v4gJL378CSRZiYmhRoP7mBy6gSPSCYk6SzXPTf\
        3ND1cZAceL7SfJ1Z3GC8vBgp2epUt13

        3 m/0'
        e5fea12a97b927fc9dc3d2cb0d1ea1cf50aa5a1fdc1f933e8906bb38df3377bd
        491f7a2eebc7b57028e0d3faa0acda02e75c33b03c48fb288c41e2ea44e1daef
        026557fdda1d5d43d79611f784780471f086d58e8126b8c40acb82272a7712e7f2
        xprv9uPDJpEQgRQfDcW7BkF7eTya6RPxXeJCqCJGHuCJ4GiRVLzkTXBAJMu2qaMWPrS7AANYqdq6vcBc\
        BUdJCVVFceUvJFjaPdGZ2y9WACViL4L
        xpub68NZiKmJWnxxS6aaHmn81bvJeTESw724CRDs6HbuccFQN9Ku14VQrADWgqbhhTHBaohPX4CjNLf9\
        fq9MYo6oDaPPLPxSb7gwQN3ih19Zm4Y
        """

    private static let ed25519Text = """
        1 m
        90046a93de5380a72b5e45010748567d5ea02bbf6522f979e05c0d8d8ca9fffb
        2b4be7f19ee27bbf30c667b642d5f4aa69fd169872f8fc3059c08ebae2eb19e7
        a4b2856bfec510abab89753fac1ac0e1112364e7d250545963f135f2a33188ed

        1 m/0'
        8b59aa11380b624e81507a27fedda59fea6d0b779a778918a2fd3590e16e9c69
        68e0fe46dfb67e368c75379acec591dad19df3cde26e63b93a8e704f1dade7a3
        8c8a13df77a28f3445213a0f432fde644acaa215fc72dcdf300d5efaa85d350c

        1 m/0'/1'
        a320425f77d1b5c2505a6b1b27382b37368ee640e3557c315416801243552f14
        b1d0bad404bf35da785a64ca1ac54b2617211d2777696fbffaf208f746ae84f2
        1932a5270f335bed617d5b935c80aedb1a35bd9fc1e31acafd5372c30f5c1187

        1 m/0'/1'/2'
        2e69929e00b5ab250f49c3fb1c12f252de4fed2c1db88387094a0f8c4c9ccd6c
        92a5b23c0b8a99e37d07df3fb9966917f5d06e02ddbd909c7e184371463e9fc9
        ae98736566d30ed0e9d2f4486a64bc95740d89c7db33f52121f8ea8f76ff0fc1

        1 m/0'/1'/2'/2'
        8f6d87f93d750e0efccda017d662a1b31a266e4a6f5993b15f5c1f07f74dd5cc
        30d1dc7e5fc04c31219ab25a27ae00b50f6fd66622f6e9c913253d6511d1e662
        8abae2d66361c879b900d204ad2cc4984fa2aa344dd7ddc46007329ac76c429c

        1 m/0'/1'/2'/2'/1000000000'
        68789923a0cac2cd5a29172a475fe9e0fb14cd6adb5ad98a3fa70333e7afa230
        8f94d394a8e8fd6b1bc2f3f49f5c47e385281d5c17e65324b0f62483e37e8793
        3c24da049451555d51a7014a37337aa4e12d41e485abccfa46b47dfb2af54b7a

        2 m
        ef70a74db9c3a5af931b5fe73ed8e1a53464133654fd55e7a66f8570b8e33c3b
        171cb88b1b3c1db25add599712e36245d75bc65a1a5c9e18d76f9f2b1eab4012
        8fe9693f8fa62a4305a140b9764c5ee01e455963744fe18204b4fb948249308a

        2 m/0'
        0b78a3226f915c082bf118f83618a618ab6dec793752624cbeb622acb562862d
        1559eb2bbec5790b0c65d8693e4d0875b1747f4970ae8b650486ed7470845635
        86fab68dcb57aa196c77c5f264f215a112c22a912c10d123b0d03c3c28ef1037

        2 m/0'/2147483647'
        138f0b2551bcafeca6ff2aa88ba8ed0ed8de070841f0c4ef0165df8181eaad7f
        ea4f5bfe8694d8bb74b7b59404632fd5968b774ed545e810de9c32a4fb4192f4
        5ba3b9ac6e90e83effcd25ac4e58a1365a9e35a3d3ae5eb07b9e4d90bcf7506d

        2 m/0'/2147483647'/1'
        73bd9fff1cfbde33a1b846c27085f711c0fe2d66fd32e139d3ebc28e5a4a6b90
        3757c7577170179c7868353ada796c839135b3d30554bbb74a4b1e4a5a58505c
        2e66aa57069c86cc18249aecf5cb5a9cebbfd6fadeab056254763874a9352b45

        2 m/0'/2147483647'/1'/2147483646'
        0902fe8a29f9140480a00ef244bd183e8a13288e4412d8389d140aac1794825a
        5837736c89570de861ebc173b1086da4f505d4adb387c6a1b1342d5e4ac9ec72
        e33c0f7d81d843c572275f287498e8d408654fdf0d1e065b84e2e6f157aab09b

        2 m/0'/2147483647'/1'/2147483646'/2'
        5d70af781f3a37b829f0d060924d5e960bdc02e85423494afc0b1a41bbe196d4
        551d333177df541ad876a60ea71f00447931c0a9da16f227c11ea080d7391b8d
        47150c75db263559a70d5778bf36abbab30fb061ad69f69ece61a72b0cfa4fc0
        """
}
