#!/usr/bin/env python3
"""Restores a recovery phrase from three share files and their holders' private keys.

    restore.py KEY1.pem SHARE1 KEY2.pem SHARE2 KEY3.pem SHARE3

Each key is a holder's Ed25519 private key in a PEM file; for one that is protected, the passphrase
is asked. Each share is a file of 288 bytes. The phrase goes to standard output. With status 1 the
file that is wrong is named on standard error; nothing is printed but the whole phrase.

Needs Python 3.9 and the package `cryptography`, and nothing of the program that made the shares.
"""

import getpass
import hashlib
import hmac
import sys

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)

ENVELOPE_BYTES = 288  # 32 of an ephemeral public key, 16 of an identity, 240 of ciphertext
PAYLOAD_BYTES = 220  # 5 of a prefix, 215 of the share
PREFIX = bytes.fromhex("08dd908bd7")
MARK_BYTES = 8
PRIME = 2**255 - 19


class Refused(Exception):
    """Why a file, or the three together, cannot be used."""


def hmac_sha256(key, message):
    return hmac.new(key, message, hashlib.sha256).digest()


def hmac_sha512(key, message):
    return hmac.new(key, message, hashlib.sha512).digest()


def read(path):
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        raise Refused(f"cannot be read: {error.strerror}") from None


def read_key(path):
    """The 32-byte seed of an Ed25519 private key."""
    document = read(path)
    try:
        try:
            key = load_pem_private_key(document, None)
        except TypeError:  # it is protected
            passphrase = getpass.getpass(f"Passphrase of {path}: ")
            key = load_pem_private_key(document, passphrase.encode())
    except Exception:
        raise Refused("not a private key, or not its passphrase") from None
    if not isinstance(key, Ed25519PrivateKey):
        raise Refused("not an Ed25519 key")
    return key.private_bytes(Encoding.Raw, PrivateFormat.Raw, NoEncryption())


def shared_key(seed, public_key):
    """What the owner of the seed shares with the owner of the public key."""
    y = int.from_bytes(public_key, "little") % 2**255 % PRIME  # without the sign bit
    if y == 1:
        raise Refused("the ephemeral key is of low order")
    u = (1 + y) * pow(1 - y, -1, PRIME) % PRIME
    scalar = X25519PrivateKey.from_private_bytes(hashlib.sha512(seed).digest()[:32])
    try:
        agreed = scalar.exchange(X25519PublicKey.from_public_bytes(u.to_bytes(32, "little")))
    except ValueError:
        raise Refused("the ephemeral key is of low order") from None
    return hmac_sha512(b"tde2e_shared_secret", agreed)[:32]


def decrypt(key, message):
    """The prefix, without its length, and the payload of a message."""
    identity, ciphertext = message[:16], message[16:]
    keys = hmac_sha512(key, b"tde2e_encrypt_data")
    cipher_key = hmac_sha512(keys[:32], identity)
    decryptor = Cipher(algorithms.AES(cipher_key[:32]), modes.CBC(cipher_key[32:48])).decryptor()
    plaintext = decryptor.update(ciphertext) + decryptor.finalize()
    expected = hmac_sha256(keys[32:], plaintext + bytes(4))[:16]  # no extra data: its length is 0
    if not hmac.compare_digest(expected, identity):
        raise Refused("damaged, or not for this key")
    prefix_bytes = plaintext[0]
    if not 16 <= prefix_bytes <= len(plaintext):
        raise Refused("made wrongly")
    return plaintext[1:prefix_bytes], plaintext[prefix_bytes:]


def open_share(seed, envelope):
    """The payload of an envelope for the holder with this seed."""
    if len(envelope) != ENVELOPE_BYTES:
        raise Refused(f"has {len(envelope)} bytes, not {ENVELOPE_BYTES}")
    ephemeral, message = envelope[:32], envelope[32:]
    key = shared_key(seed, ephemeral)
    prefix, payload = decrypt(key, message)
    # The key agreement ignores the sign bit of the ephemeral key. The prefix may bear a mark that
    # covers it; the mark of the other sign says that the bit was changed.
    other = ephemeral[:31] + bytes([ephemeral[31] ^ 0x80])
    free, mark = prefix[:-MARK_BYTES], prefix[-MARK_BYTES:]
    if hmac.compare_digest(hmac_sha256(key, b"coffer.envelope.v1" + other + free)[:8], mark):
        raise Refused("damaged, or not for this key")
    if len(payload) != PAYLOAD_BYTES:
        raise Refused("does not hold a share of a phrase")
    return payload


def combine(payloads):
    """The phrase that three shares were split from."""
    block = bytes(a ^ b ^ c for a, b, c in zip(*payloads))
    if block[:5] != PREFIX:
        raise Refused("the three shares are not of one split")
    text = block[5:]
    try:
        words = text.decode("utf-8").split()
    except UnicodeDecodeError:
        raise Refused("the three shares are not of one split") from None
    phrase = " ".join(word.lower() for word in words)
    if not phrase or not phrase.isprintable() or phrase.encode().ljust(215, b" ") != text:
        raise Refused("the three shares are not of one split")
    return phrase


def restore(paths):
    payloads = []
    for key_path, share_path in zip(paths[::2], paths[1::2]):
        path = key_path
        try:
            seed = read_key(key_path)
            path = share_path
            payloads.append(open_share(seed, read(share_path)))
        except Refused as refused:
            raise Refused(f"{path}: {refused}") from None
    return combine(payloads)


def main(arguments):
    if len(arguments) != 6:
        print(__doc__, file=sys.stderr)
        return 2
    try:
        print(restore(arguments))
    except Refused as refused:
        print(f"restore: {refused}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
