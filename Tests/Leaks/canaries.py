"""Secrets that are easy to find again, in every form that they may take."""

import base64
import hashlib
import hmac
import json
import re
import secrets
import string
import unicodedata
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
# Shorter pieces come up by chance, or in a list of words.
PIECE_BYTES_MIN = 12
PIECE_WORDS = 4


class Canary:
    """A secret: its name and what to look for, by the name of the form."""

    def __init__(self, name, forms):
        self.name = name
        self.forms = forms


def encodings(name, data):
    """Bytes as they may be written down."""
    found = {
        f"{name}, hex": data.hex().encode(),
        f"{name}, hex in capitals": data.hex().upper().encode(),
        f"{name}, list of numbers": ", ".join(map(str, data)).encode(),
    }
    for shift in range(3):
        # What stands before and after it changes the letters at the edges only.
        letters = base64.b64encode(bytes(shift) + data)
        inner = letters[(shift * 8 + 5) // 6 : (shift + len(data)) * 8 // 6]
        found[f"{name}, base64 at {shift}"] = inner
        found[f"{name}, base64url at {shift}"] = inner.translate(bytes.maketrans(b"+/", b"-_"))
    return found


def of_bytes(name, data):
    """A key or a seed: whole, in halves, and written down."""
    half = len(data) // 2
    forms = {"bytes": data} | encodings("bytes", data)
    if half >= PIECE_BYTES_MIN:
        forms |= {"first half": data[:half], "second half": data[half:]}
    return Canary(name, forms)


def of_text(name, text):
    """A passcode: in every Unicode form and encoding, and in halves."""
    forms = {}
    for form in ("NFC", "NFD", "NFKC", "NFKD"):
        shaped = unicodedata.normalize(form, text)
        forms |= {
            f"{form}, UTF-8": shaped.encode(),
            f"{form}, UTF-16": shaped.encode("utf-16-le"),
            f"{form}, UTF-16, high byte first": shaped.encode("utf-16-be"),
            f"{form}, UTF-32": shaped.encode("utf-32-le"),
            f"{form}, JSON": json.dumps(shaped)[1:-1].encode(),
        } | encodings(form, shaped.encode())
    data = text.encode()
    half = len(data) // 2
    forms |= {"first half": data[:half], "second half": data[half:]}
    return Canary(name, forms)


def of_phrase(name, phrase):
    """A recovery phrase: its words, their numbers, their entropy and what follows from them."""
    words = phrase.split()
    forms = {"UTF-8": phrase.encode()} | {
        "UTF-16": phrase.encode("utf-16-le"),
        "UTF-32": phrase.encode("utf-32-le"),
    }
    forms |= encodings("UTF-8", phrase.encode())
    for first in range(len(words) - PIECE_WORDS + 1):
        piece = " ".join(words[first : first + PIECE_WORDS])
        forms[f"words from {first}"] = piece.encode()
    numbers = [WORDS.index(word) for word in words]
    for size in (2, 4, 8):
        data = b"".join(number.to_bytes(size, "little") for number in numbers)
        forms[f"numbers of {size} bytes"] = data
        forms[f"first numbers of {size} bytes"] = data[: len(data) // 2]
    entropy = entropy_of(numbers)
    seed = hashlib.pbkdf2_hmac("sha512", phrase.encode(), b"mnemonic", 2048)
    master = hmac.digest(b"Bitcoin seed", seed, "sha512")
    slip = hmac.digest(b"ed25519 seed", seed, "sha512")
    for part, data in {
        "entropy": entropy, "seed": seed, "master key": master[:32], "Ed25519 master key": slip[:32],
    }.items():
        of_part = of_bytes(part, data).forms
        forms |= {f"{part}, {form}": found for form, found in of_part.items()}
    return Canary(name, forms)


def entropy_of(numbers):
    bits = "".join(f"{number:011b}" for number in numbers)
    count = len(bits) * 32 // 33
    return int(bits[:count], 2).to_bytes(count // 8, "big")


def read_words():
    """The English list, as the source has it."""
    text = (ROOT / "Shared/Mnemonics/EnglishWords.swift").read_text()
    words = re.search(r'"""(.*?)"""', text, re.DOTALL)[1].replace("\\\n", " ").split()
    if len(words) != 2048:
        raise ValueError(f"{len(words)} words in the English list")
    return words


WORDS = read_words()


def new_phrase(count):
    """A phrase that nobody else has."""
    entropy = secrets.token_bytes(count * 4 // 3)
    checksum = hashlib.sha256(entropy).digest()[0]
    bits = f"{int.from_bytes(entropy, 'big'):0{len(entropy) * 8}b}" + f"{checksum:08b}"[: count // 3]
    return " ".join(WORDS[int(bits[at : at + 11], 2)] for at in range(0, count * 11, 11))


def new_passcode(word):
    """A passcode with a letter that Unicode composes."""
    letters = "".join(secrets.choice(string.ascii_letters + string.digits) for _ in range(28))
    return f"{word}{letters}Å{letters[::-1]}"
