/// Three share files as an earlier run of the services wrote them, so that they stay readable.
///
/// The phrase is ``Phrases/about``; each holder's private key is the SHA-256 of the name.
enum KnownShareFiles {
    static let anna = #"""
        {"format":"coffer.share.v1","state":"sealed","split":"859f607883d290438b9ed0499b57f63d","i\#
        ndex":0,"holder":"anna","recipient":"c76a5db075d32f1306622ff93d5e2377e14d1e83801af79a396c7\#
        5e3ae17fd6c","wallet":{"kind":"bip39","identity":"03d902f35f560e0470c63313c7369168d9d7df2d\#
        49bf295fd9fb7cb109ccee0494","words":12},"made":1796033243,"digests":["e3ec68e21456dfd5184b\#
        ecaa6e0f9900a21efc0a4435a25c2998d5e950dfdd42","6515151f1866cedcba354c8e8846623be69bd07fb06\#
        bad415c147d4962904fc7","731dd34345a9e8e1575505a13160d59f76909aabe47e804c902e4d8250e381f7"]\#
        ,"envelope":"DX998D+QxOQyA3FHt6Hv/BT8j3/wqcpJLkueRt8AiCGXD2K/b7GeuCcsbcQSBuZ3hDGGAV70x5847\#
        JFfKQoMMv4IEJGBLToKZDP5Jd1/+a3UrBPgh5kd+Pc27K9NFy/CnszblhPFCKs5JVmEMZqEKUcuZG1EQvpbV08Qwcx\#
        6eA+usa3qW33oBdpSpzlbdkD02oNnqxS4ER6Fp0EVoXQl4janISPJHdaYj+cqfoOX9+MLybPlJ48BgN5Z+uYs9J5+/\#
        TD1VUud4RYp+x5aAykNwHxDbMw1heBSWIGYxRCXI9fIo4GPhAloGxWkRVO2A8UIjE6dh4QDvQlV9kE4rceVELlFuMM\#
        4ZZW8mjUyMYO6Ja/XC+gOQwc/BNC5lqfqP9Ks","mac":"102471c7eedf1b0f444784ff3e1f65d1927487d4bb10\#
        ad1967ccd53dbca58ce0"}
        """#
    static let bert = #"""
        {"format":"coffer.share.v1","state":"sealed","split":"859f607883d290438b9ed0499b57f63d","i\#
        ndex":1,"holder":"bert","recipient":"4f5e20d30358a3c08fb434968e68fd2c475ded7fbc365a91af60b\#
        18afcc61deb","wallet":{"kind":"bip39","identity":"03d902f35f560e0470c63313c7369168d9d7df2d\#
        49bf295fd9fb7cb109ccee0494","words":12},"made":1796033243,"digests":["e3ec68e21456dfd5184b\#
        ecaa6e0f9900a21efc0a4435a25c2998d5e950dfdd42","6515151f1866cedcba354c8e8846623be69bd07fb06\#
        bad415c147d4962904fc7","731dd34345a9e8e1575505a13160d59f76909aabe47e804c902e4d8250e381f7"]\#
        ,"envelope":"b/4TWp8JXaL2sxeNG86Iij1YDT80VDRXp2ZM9sbzICIwUWZfghXqYSyBvvUyLCyUPVvabG+UtIREe\#
        tNfUOBsMuXM9l4vQ3bt3GdJ9+nNHJqo+uX5AKrxBBWrexhdmtmgwvOLx6XUS2hiEYTYlgqUBom1lf7cwX2q1d4dmY1\#
        /2a9sTQEqeDM3qu+HQw8/1ZxIuoSvoG+tgegxESyOWEBapr6uQ6N6JVAFOxa8CqPZIoWb8EkfyYC7FadUOJ+JbJUjC\#
        FShuf65s0B7irWi1YD8tvu6zQzpBcWCvUx45OJ8UsHoyZhygTeKLX5XCC8/sLhznfz6Y4GsYtV7seAIp9OdIRbiJQd\#
        iEhMTIIdcCGKDUOxiEqUjph3yeAUVzj5Jkf3K","mac":"f396749b4a7ad62f90de1445fbdd8b0f8edc039f207e\#
        3fbb1cbca57f2d4365ba"}
        """#
    static let carl = #"""
        {"format":"coffer.share.v1","state":"sealed","split":"859f607883d290438b9ed0499b57f63d","i\#
        ndex":2,"holder":"carl","recipient":"c8de8642c666868f6ee74d7a0068dabc933acbb4d8dcc23cd08dc\#
        5081d28c26f","wallet":{"kind":"bip39","identity":"03d902f35f560e0470c63313c7369168d9d7df2d\#
        49bf295fd9fb7cb109ccee0494","words":12},"made":1796033243,"digests":["e3ec68e21456dfd5184b\#
        ecaa6e0f9900a21efc0a4435a25c2998d5e950dfdd42","6515151f1866cedcba354c8e8846623be69bd07fb06\#
        bad415c147d4962904fc7","731dd34345a9e8e1575505a13160d59f76909aabe47e804c902e4d8250e381f7"]\#
        ,"envelope":"byzxi08yyWWyTS613SAb22fwhPEwRLT8gknmsAxCjJXXRNyOik2a1i2M4j9kXa+ppbg+gAGXVSz42\#
        g4m/84XtSF1R6S4xPv16WdEzknUez+q90/1QBOMog2b7AzbqPRWF2zLqiReCW66mIYTIFhP6gtwkZ0HS6ZoIK/rvC4\#
        MSYIkIpa930WV833d8kX32YXpzWtpNeaB0KFp5cNx/XLp6BJviBWXB+ja/NNs8APt2Z7+dOjTktzNkowFFEnGUT5SR\#
        VZyB/GujBsavXI6Dsz+2H0k2P3JGQ+B3tPn+0ewcu5SREL/PkRVg33zWlr3SU3xrHaYezBKLWHbHDiqAcyIdAxvnnr\#
        bZsYP10AJMMM+e3oetW+51GJotRHDghPNYeuZ","mac":"a34302fba737accffebba67f21b73ba11955b487daf8\#
        2ea4edac31d958a9f756"}
        """#
}
