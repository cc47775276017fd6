"""ZMTP 3.1 with CURVE by hand, so that it can be spoken wrongly: ZeroMQ RFC 23 and 26.

The boxes are libsodium's, loaded with ctypes.
"""

import ctypes
import ctypes.util
import os
import socket

import zmq.utils.z85

SODIUM = ctypes.CDLL(ctypes.util.find_library("sodium"))
KEY_BYTES = 32
PADDING = bytes(16)
MORE, LONG, COMMAND = 1, 2, 4
# Frames up to this length have one byte for it.
SHORT_MAX = 255


class Ended(Exception):
    """The other side ended the connection."""


def greeting(mechanism=b"CURVE", version=(3, 1), signature=b"\xff" + bytes(7) + b"\x01\x7f"):
    return signature + bytes(version) + mechanism.ljust(20, b"\0")[:20] + b"\0" + bytes(31)


def frame(body, flags=0):
    if len(body) > SHORT_MAX:
        return bytes([flags | LONG]) + len(body).to_bytes(8, "big") + body
    return bytes([flags, len(body)]) + body


def key_pair():
    public, secret = ctypes.create_string_buffer(32), ctypes.create_string_buffer(32)
    SODIUM.crypto_box_keypair(public, secret)
    return public.raw, secret.raw


def box(message, nonce, public, secret):
    out = ctypes.create_string_buffer(len(message) + 16)
    SODIUM.crypto_box_easy(
        out, message, ctypes.c_ulonglong(len(message)), nonce, public, secret)
    return out.raw


def unbox(boxed, nonce, public, secret):
    out = ctypes.create_string_buffer(max(1, len(boxed) - 16))
    if SODIUM.crypto_box_open_easy(
            out, boxed, ctypes.c_ulonglong(len(boxed)), nonce, public, secret):
        raise Ended("a box does not open")
    return out.raw[: len(boxed) - 16]


class Raw:
    """A connection that sends whatever it is told to."""

    def __init__(self, endpoint, timeout=2.0):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(timeout)
        self.socket.connect(endpoint)

    def send(self, data):
        try:
            self.socket.sendall(data)
        except OSError as error:
            raise Ended(str(error)) from error

    def receive(self, count):
        data = b""
        while len(data) < count:
            try:
                piece = self.socket.recv(count - len(data))
            except OSError as error:
                raise Ended(str(error)) from error
            if not piece:
                raise Ended("closed")
            data += piece
        return data

    def receive_frame(self):
        flags, = self.receive(1)
        size = 8 if flags & LONG else 1
        return self.receive(int.from_bytes(self.receive(size), "big"))

    def close(self):
        self.socket.close()


class Curve(Raw):
    """A connection whose handshake is right up to a wanted step."""

    def __init__(self, endpoint, server_key, pair=None, timeout=2.0):
        super().__init__(endpoint, timeout)
        self.server_key = server_key
        self.public, self.secret = pair or key_pair()
        self.short_public, self.short_secret = key_pair()
        self.number = 0

    def greet(self):
        self.send(greeting())
        self.receive(64)

    def nonce(self, prefix):
        self.number += 1
        short = self.number.to_bytes(8, "big")
        return short, prefix + short

    def hello(self):
        short, nonce = self.nonce(b"CurveZMQHELLO---")
        signature = box(bytes(64), nonce, self.server_key, self.short_secret)
        return b"\x05HELLO\x01\x00" + bytes(72) + self.short_public + short + signature

    def initiate(self, welcome, metadata=b"\x0bSocket-Type\x00\x00\x00\x06DEALER"):
        opened = unbox(
            welcome[24:], b"WELCOME-" + welcome[8:24], self.server_key, self.short_secret)
        self.server_short, cookie = opened[:32], opened[32:]
        vouch_nonce = os.urandom(16)
        vouch = box(self.short_public + self.server_key, b"VOUCH---" + vouch_nonce,
                    self.server_short, self.secret)
        short, nonce = self.nonce(b"CurveZMQINITIATE")
        content = self.public + vouch_nonce + vouch + metadata
        return b"\x08INITIATE" + cookie + short + box(
            content, nonce, self.server_short, self.short_secret)

    def shake(self):
        """The whole handshake."""
        self.greet()
        self.send(frame(self.hello(), COMMAND))
        self.send(frame(self.initiate(self.receive_frame()), COMMAND))
        ready = self.receive_frame()
        if not ready.startswith(b"\x05READY"):
            raise Ended(f"refused: {ready[:40]}")

    def message(self, part, more=False):
        short, nonce = self.nonce(b"CurveZMQMESSAGEC")
        content = bytes([1 if more else 0]) + part
        return b"\x07MESSAGE" + short + box(
            content, nonce, self.server_short, self.short_secret)

    def send_part(self, part, more=False):
        self.send(frame(self.message(part, more)))

    def send_parts(self, parts):
        for index, part in enumerate(parts):
            self.send_part(part, index < len(parts) - 1)

    def answer(self):
        """Parts of the next message."""
        parts = []
        while True:
            body = self.receive_frame()
            content = unbox(body[16:], b"CurveZMQMESSAGES" + body[8:16], self.server_short,
                            self.short_secret)
            parts.append(content[1:])
            if not content[0] & 1:
                return parts


def decoded(text):
    return zmq.utils.z85.decode(text)
