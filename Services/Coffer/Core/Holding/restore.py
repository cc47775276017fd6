#!/usr/bin/env python3
"""Restores a recovery phrase from three share files and their holders' private keys.

    restore.py KEY1.pem SHARE1 KEY2.pem SHARE2 KEY3.pem SHARE3

Each key is a holder's Ed25519 private key in a PEM file; for one that is protected, the passphrase
is asked. Each share is a share file as its holder got it, or an envelope of 288 bytes. The phrase
goes to standard output, and what the share files say of the wallet to standard error. With status 1
the file that is wrong is named on standard error; nothing is printed but the whole phrase.

Needs Python 3.9 and the package `cryptography`, and nothing of the program that made the shares.
"""

import base64
import binascii
import getpass
import hashlib
import hmac
import json
import sys

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
)

ENVELOPE_BYTES = 288  # 32 of an ephemeral public key, 16 of an identity, 240 of ciphertext
PAYLOAD_BYTES = 220  # 5 of a prefix, 215 of the share
PREFIX = bytes.fromhex("08dd908bd7")
MARK_BYTES = 8
PRIME = 2**255 - 19
FILE_BEGINNING = b'{"format":'
FILE_MEMBERS = [
    "format", "state", "split", "index", "holder", "recipient", "wallet", "made", "digests",
    "envelope", "mac",
]
MAC_MEMBER = b',"mac":'
# What the three files of a split say alike.
COMMON_MEMBERS = ["split", "wallet", "made", "digests"]


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
    """The payload of an envelope for the holder with this seed, and the agreed key."""
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
    return payload, key


def parse_file(document):
    """The members of a share file that is in its one form."""
    try:
        members = json.loads(document.decode("ascii"))
        again = json.dumps(members, separators=(",", ":")).encode()
    except (ValueError, RecursionError):
        raise Refused("no share file, or damaged") from None
    if again != document or not isinstance(members, dict):
        raise Refused("damaged: it is not in its one form")
    if members.get("format") != "coffer.share.v1" or members.get("state") != "sealed":
        raise Refused("not a share as its holder got it, or damaged")
    if list(members) != FILE_MEMBERS:
        raise Refused("damaged: its members are not those of a share file")
    return members


def check_file(document, members, key, payload):
    """Compares the code over a share file, and the digest of the share in it."""
    file_key = hmac_sha256(hmac_sha256(bytes(32), key), b"coffer.share.file.v1" + b"\x01")  # HKDF
    covered = document[: document.rindex(MAC_MEMBER)]
    if not hmac.compare_digest(hmac_sha256(file_key, covered).hex(), members["mac"]):
        raise Refused(f"damaged (holder {members['holder']})")
    place = members["index"]
    if place not in (0, 1, 2) or len(members["digests"]) != 3:
        raise Refused("made wrongly")
    labelled = b"coffer.share.digest.v1" + bytes.fromhex(members["split"]) + bytes([place])
    if hashlib.sha256(labelled + payload).hexdigest() != members["digests"][place]:
        raise Refused(f"whole, and not the share that holder {members['holder']} was handed")


def open_document(seed, document):
    """The payload of a share, and the members of its file; none for a bare envelope."""
    if not document.startswith(FILE_BEGINNING):
        return open_share(seed, document)[0], None
    members = parse_file(document)
    try:
        public_key = Ed25519PrivateKey.from_private_bytes(seed).public_key()
        if public_key.public_bytes(Encoding.Raw, PublicFormat.Raw).hex() != members["recipient"]:
            raise Refused(f"sealed for another key (holder {members['holder']}), or damaged")
        envelope = base64.b64decode(members["envelope"], validate=True)
        payload, key = open_share(seed, envelope)
        check_file(document, members, key, payload)
    except (TypeError, binascii.Error, ValueError):
        raise Refused("damaged") from None
    return payload, members


def compare_files(files, paths):
    """Refuses share files that are not the three of one split, and names those that differ."""
    known = [members for members in files if members is not None]
    if not known:
        return None
    if len(known) != len(files):
        bare = [path for members, path in zip(files, paths) if members is None]
        raise Refused(
            "share files and bare envelopes together are not of one split; no share file: "
            + ", ".join(bare)
        )
    for name in COMMON_MEMBERS:
        compare_member(name, [json.dumps(members[name]) for members in known], paths)
    for place in (0, 1, 2):
        same = [path for path, members in zip(paths, known) if members["index"] == place]
        if len(same) > 1:
            raise Refused(f"{' and '.join(same)} are the same share")
    return known[0]


def compare_member(name, said, paths):
    """Refuses three files that do not say the same, with the one that two speak against."""
    alone = [place for place in (0, 1, 2) if said.count(said[place]) == 1]
    if len(alone) == 1:
        raise Refused(
            f"{paths[alone[0]]}: of another split than the two others: it differs in {name}"
        )
    if alone:
        each = "; ".join(f"{path} says {text}" for path, text in zip(paths, said))
        raise Refused(f"no two of the three shares are of one split: they differ in {name}: {each}")


def describe(members):
    wallet = members["wallet"]
    network = f" ({wallet['network']})" if "network" in wallet else ""
    return (
        f"kind {wallet['kind']}{network}, identity {wallet['identity']}, {wallet['words']} words"
    )


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
    payloads, files = [], []
    for key_path, share_path in zip(paths[::2], paths[1::2]):
        path = key_path
        try:
            seed = read_key(key_path)
            path = share_path
            payload, members = open_document(seed, read(share_path))
            payloads.append(payload)
            files.append(members)
        except Refused as refused:
            raise Refused(f"{path}: {refused}") from None
    common = compare_files(files, paths[1::2])
    phrase = combine(payloads)
    if common is not None:
        print(f"restore: {describe(common)}", file=sys.stderr)
    return phrase


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
