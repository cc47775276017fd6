"""Exchanges over the bus: beside the same in plain C, and beside OpenBao."""

import secrets

from client import pack
from home import LIMITER, NAMESPACE, VAULT, header
from measure import C, OPENBAO, Row, Target, compact

# More than are used within the life of a lease, so that each request asks the authority.
SESSIONS = 3_000
SESSIONS_SHORT = 400
MESSAGE = secrets.token_bytes(32)
PIPELINE = 32


def bus(bench):
    """`limiter.health` through the whole of a service, and a C server that sends as many bytes."""
    home = bench.home
    asked = [header("limiter.health"), "{}"]
    sizes = reply_sizes(home)
    words = ["bus", *home.bus_words(LIMITER), *asked]
    with bench.reference(["echo", *sizes]) as other:
        yield bench.compare(
            "bus, one request at a time, p50", "us", Target(1.3),
            lambda: bench.load(words)["p50"],
            lambda: bench.load([*other, *asked])["p50"], C)
        more = ["-w", PIPELINE]
        yield bench.compare(
            f"bus, {PIPELINE} requests under way", "1/s", Target(0.4, at_most=False),
            lambda: bench.load(words, *more)["rate"],
            lambda: bench.load([*other, *asked], *more)["rate"], C)


def reply_sizes(home):
    """How many bytes a reply's header and body have."""
    link = home.connect(LIMITER)
    link.socket.send_multipart([
        b'{"v":1,"id":123456,"method":"limiter.health","owner":"local","timeout_ms":30000}',
        b"", b"{}"])
    link.socket.poll(5000)
    return [len(frame) for frame in link.socket.recv_multipart()]


def checking(bench):
    wallet = {"namespace": NAMESPACE, "wallet": bench.wallet}
    return [header("vault.check"), wallet], []


def signing(bench):
    wallet = {"namespace": NAMESPACE, "wallet": bench.wallet, "scheme": "ed25519",
              "path": "m/44'/501'/0'/0'"}
    return [header("vault.sign"), wallet], ["-a", pack(MESSAGE).hex()]


def beside_c(bench, name, work, operation):
    """Each request asks the authority: two hops on both sides."""
    (asked, body), options = operation(bench)
    count = SESSIONS_SHORT if bench.short else SESSIONS
    tokens = [bench.home.session([VAULT]) for _ in range(count)]
    # Each token's signature is checked once.
    for token in tokens:
        bench.home.call(VAULT, "vault.check", checking(bench)[0][1], token)
    store = bench.folder / f"{work}.sqlite"
    with bench.reference(["back"], ["front", work, store]) as other:
        yield bench.compare(
            f"{name}, two hops, one at a time", "1/s", Target(0.6, at_most=False),
            lambda: bench.bus(bench.home, VAULT, asked, body, *options, tokens=tokens)["rate"],
            lambda: bench.load([*other, asked, compact(body)], *options, tokens=tokens)["rate"], C)


def beside_openbao(bench, name, operation, request, what):
    """One session, as a client has it."""
    (asked, body), options = operation(bench)
    token = [bench.home.session([VAULT])]
    for connections, factor in ((1, 1.2), (8, 2)):
        more = [*options, "-c", connections]
        yield bench.compare(
            f"{name}, {connections} connection{'s' if connections > 1 else ''}", "1/s",
            Target(factor, at_most=False),
            lambda: bench.bus(bench.home, VAULT, asked, body, *more, tokens=token)["rate"],
            (lambda: bench.http(request, connections)["rate"]) if request else None,
            f"{OPENBAO}, {what}")


def check(bench):
    yield from beside_c(bench, "secret opened (check)", "check", checking)
    request = bench.bao and bench.bao.reading()
    yield from beside_openbao(bench, "secret opened (check)", checking, request, "KV read")


def sign(bench):
    yield from beside_c(bench, "signature (Ed25519)", "sign", signing)
    request = bench.bao and bench.bao.signing()
    yield from beside_openbao(bench, "signature (Ed25519)", signing, request, "transit sign")


def writes(bench):
    """`vault.create` at 8 connections, the authority asked each time."""
    asked = header("vault.create", changes=True)
    count = SESSIONS_SHORT if bench.short else 600

    def create():
        namespace = f"n{secrets.token_hex(4)}"
        tokens = [bench.home.session([VAULT], namespace=namespace) for _ in range(count)]
        body = {"namespace": namespace, "label": "A label", "words": 12}
        return bench.bus(
            bench.home, VAULT, asked, body, "-c", 8, tokens=tokens)["rate"]

    name = "durable change (create), 8 connections"
    with bench.reference(["back"], ["front", "create", bench.folder / "create.sqlite"]) as other:
        beside_c = bench.compare(
            name, "1/s", Target(0.4, at_most=False), create,
            lambda: bench.load([*other, asked, "{}"], "-c", 8)["rate"],
            f"{C}, one commit a batch")
    request = bench.bao and bench.bao.writing()
    write = (lambda: bench.http(request, 8)["rate"]) if request else None
    beside_bao = bench.compare(
        name, "1/s", Target(10, at_most=False), create, write, f"{OPENBAO}, KV write")
    # One of the two targets is to be met: the lower one.
    if beside_bao.reference and 10 * beside_bao.reference < 0.4 * beside_c.reference:
        beside_c.target = None
    else:
        beside_bao.target = None
    yield beside_c
    yield beside_bao


def clients(bench):
    """From 1 to 256 clients, each with a connection of its own."""
    (asked, body), _ = checking(bench)
    counts = (1, 16) if bench.short else (1, 2, 4, 8, 16, 32, 64, 128, 256)
    points = []
    for count in counts:
        tokens = [bench.home.session([VAULT])]
        points.append((count, bench.bus(
            bench.home, VAULT, asked, body, "-c", count, tokens=tokens)))
    bench.curves["clients"] = {
        "counts": list(counts), **{
            name: [point[name] for _, point in points] for name in ("rate", "p50", "p99")}}
    last = points[-1][1]
    yield Row(f"secret opened (check), {counts[-1]} clients", "1/s", last["rate"])
    yield Row(f"secret opened (check), {counts[-1]} clients, p99", "us", last["p99"])
