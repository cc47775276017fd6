"""A peer that does what none should, with and without a key that the service knows.

    attacks.py ENDPOINT SERVER_KEY SECRET_CERTIFICATE PREFIX SECONDS HELD

Each attack goes on in a thread of its own until the time is over. Prints a JSON object: how often
each was done, and what the service did that it must not do.
"""

import json
import os
import random
import sys
import threading
import time

from zmq.auth import load_certificate

from zmtp import COMMAND, LONG, Curve, Ended, Raw, decoded, frame, greeting, key_pair

# What ends at the service: a frame above the hard limit, a message with far too many parts.
HARD_LIMIT = 132_096
MANY_PARTS = 3_000
# How much of a message without an end is sent before the connection is dropped.
ENDLESS_BYTES = 4 << 20
WINDOW = 32
PAUSE = 0.01


class Attacker:
    """What the attacks know, and what they saw."""

    def __init__(self, endpoint, server_key, pair, prefix, seconds, held):
        self.endpoint = endpoint
        self.server_key = server_key
        self.pair = pair
        self.prefix = prefix
        self.end = time.monotonic() + seconds
        self.held = held
        self.counts = {}
        self.faults = []
        self.random = random.Random(7)
        self.lock = threading.Lock()

    @property
    def goes_on(self):
        return time.monotonic() < self.end

    def count(self, what):
        with self.lock:
            self.counts[what] = self.counts.get(what, 0) + 1

    def fault(self, text):
        with self.lock:
            self.faults.append(text)

    def request(self, number, method="health"):
        header = {
            "v": 1, "id": number, "method": f"{self.prefix}.{method}", "owner": "local",
            "timeout_ms": 5000,
        }
        return [json.dumps(header).encode(), b"", b"{}"]

    def repeat(self, what, act):
        """Does it until the time is over; a connection that the service ends is as good."""
        while self.goes_on:
            connection = None
            try:
                connection = act()
                self.count(what)
            except (Ended, OSError):
                self.count(what)
                time.sleep(PAUSE)
            finally:
                if connection:
                    connection.close()
            time.sleep(PAUSE)

    def admitted(self):
        connection = Curve(self.endpoint, self.server_key, self.pair)
        try:
            connection.shake()
        except Ended:
            connection.close()
            raise
        return connection

    # Without a key

    def bad_greeting(self):
        raw = Raw(self.endpoint, timeout=0.05)
        raw.send(self.random.choice([
            b"GET / HTTP/1.1\r\nHost: coffer\r\n\r\n", os.urandom(64), b"\xff", b"", bytes(64),
            greeting()[:40], greeting(b"NULL"), greeting(b"PLAIN"), greeting(b"CURVE" + b"E" * 15),
            greeting(version=(1, 0)), greeting(version=(99, 9)), b"\x01\x00", b"\xff" * 4096,
        ]))
        return raw

    def bad_handshake(self):
        curve = Curve(self.endpoint, self.server_key, timeout=0.2)
        curve.greet()
        hello = curve.hello()
        curve.send(self.random.choice([
            frame(hello[:-1], COMMAND), frame(hello + b"x", COMMAND), frame(hello),
            frame(b"\x05HELLO" + os.urandom(194), COMMAND), frame(b"\x08INITIATE", COMMAND),
            frame(b"\x05READY", COMMAND), frame(b"", COMMAND), frame(os.urandom(300), COMMAND),
            bytes([COMMAND | LONG]) + (1 << 63).to_bytes(8, "big"),
            bytes([COMMAND | LONG]) + HARD_LIMIT.to_bytes(8, "big") + b"\x05HELLO",
            frame(hello, COMMAND)[:100], b"\xf8" * 500,
        ]))
        return curve

    def wrong_initiate(self):
        curve = Curve(self.endpoint, self.server_key, timeout=0.5)
        curve.greet()
        curve.send(frame(curve.hello(), COMMAND))
        initiate = bytearray(curve.initiate(curve.receive_frame(), self.random.choice([
            b"\x0bSocket-Type\x00\x00\x00\x06DEALER", b"\x0bSocket-Type\x00\x00\xff\xffX",
            b"\xff", os.urandom(60), b"\x08Identity\x00\x00\x01\x00" + bytes(256),
        ])))
        initiate[self.random.randrange(len(initiate))] ^= 1
        curve.send(frame(bytes(initiate), COMMAND))
        return curve

    def unknown_key(self):
        curve = Curve(self.endpoint, self.server_key, key_pair(), timeout=1)
        try:
            curve.shake()
        except Ended:
            return curve
        self.fault("a key that nobody knows was let in")
        return curve

    def half_open(self):
        """Holds connections in the middle of the handshake, more than there is room for."""
        held = []
        while self.goes_on:
            try:
                raw = Raw(self.endpoint, timeout=0.05)
                raw.send(greeting()[: self.random.randrange(1, 64)])
                held.append(raw)
                self.count("half-open connections")
            except (OSError, Ended):
                time.sleep(PAUSE)
            if len(held) > self.held:
                held.pop(0).close()
        for raw in held:
            raw.close()

    # With a key

    def flood(self):
        """Valid requests, as many as are answered."""
        curve = self.admitted()
        sent = received = 0
        try:
            while self.goes_on:
                while sent - received < WINDOW:
                    sent += 1
                    curve.send_parts(self.request(sent))
                answer = json.loads(curve.answer()[0])
                received += 1
                self.count("requests of a flood")
                if answer["status"] != "ok":
                    self.count("of them refused")
        finally:
            curve.close()

    def slow_reader(self):
        """Asks and never reads."""
        curve = self.admitted()
        curve.socket.settimeout(0.2)
        try:
            for number in range(1, 20_000):
                curve.send_parts(self.request(number, "metrics"))
                if not self.goes_on:
                    break
        except Ended:
            pass
        return curve

    def oversize(self):
        curve = self.admitted()
        curve.send_parts([b"x" * (HARD_LIMIT + 1_000)] * 3)
        curve.answer()
        self.fault("a frame above the hard limit was answered")
        return curve

    def refused(self):
        """What must be answered with a refusal."""
        curve = self.admitted()
        good = self.request(1)
        for parts in (
            [b"x" * 70_000, b"", b"{}"], [b""] * MANY_PARTS, [b""], [good[0]],
            [good[0], b"", b"{" * 60_000], [good[0], b"x" * 5_000, b"{}"],
            good + [bytes(64)] * 5, good + [b"\xff" * 64], [os.urandom(500), b"", b"{}"],
            [good[0].replace(b"local", b"others"), b"", b"{}"], [good[0], b"", b"[1]"],
        ):
            curve.send_parts(parts)
            head, body = curve.answer()[:2]
            # The body of a question that takes none is not looked at.
            if json.loads(head)["status"] == "ok" and parts[1:] and parts[0] != good[0]:
                self.fault(f"what should be refused was answered: {body[:80]!r}")
        return curve

    def tampered(self):
        curve = self.admitted()
        message = bytearray(curve.message(self.request(1)[0], True))
        message[-1] ^= 1
        curve.send(frame(bytes(message)))
        curve.answer()
        self.fault("a message that was changed on its way was answered")
        return curve

    def cut_off(self):
        curve = self.admitted()
        data = frame(curve.message(self.request(1)[0], True))
        curve.send(data[: self.random.randrange(1, len(data))])
        return curve

    def endless(self):
        """A message of which there is always more."""
        curve = self.admitted()
        size = self.random.choice([0, 1_000, 60_000])
        sent = 0
        while sent < ENDLESS_BYTES and self.goes_on:
            curve.send_part(bytes(size), True)
            sent += size + 200
        return curve


def main(endpoint, server_key, certificate, prefix, seconds, held):
    public, secret = load_certificate(certificate)
    attacker = Attacker(
        endpoint, decoded(server_key.encode()), (decoded(public), decoded(secret)), prefix,
        float(seconds), int(held))
    attacks = {
        "bad greetings": attacker.bad_greeting, "bad handshakes": attacker.bad_handshake,
        "wrong last steps": attacker.wrong_initiate, "unknown keys": attacker.unknown_key,
        "floods": attacker.flood, "slow readers": attacker.slow_reader,
        "oversize frames": attacker.oversize, "sets of bad requests": attacker.refused,
        "changed messages": attacker.tampered, "messages cut off": attacker.cut_off,
        "messages without an end": attacker.endless,
    }
    threads = [
        threading.Thread(target=attacker.repeat, args=item) for item in attacks.items()
    ] + [threading.Thread(target=attacker.half_open)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(json.dumps({"counts": attacker.counts, "faults": attacker.faults}))


main(*sys.argv[1:])
