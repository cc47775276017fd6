"""The whole main job, with canaries for its secrets."""

import base64
import hashlib
import hmac
import importlib.util
import json
import secrets
import shutil
import sqlite3
import tempfile
import uuid
from importlib.machinery import SourceFileLoader

from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)

from canaries import ROOT, Canary, new_passcode, new_phrase, of_bytes, of_phrase, of_text

HOLDERS = ("anna", "bert", "carl")
# Of a share's payload, what comes before the share itself; after that all is secret.
SHARE_HEAD_BYTES = 12
ITERATIONS = 600_000


def program(path):
    """A Python program of the tests, as a module."""
    name = path.name.replace("-", "_").removesuffix(".py")
    loader = SourceFileLoader(name, str(path))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader))
    loader.exec_module(module)
    return module


def key_encryption_key(device_secret, code, salt, iterations):
    password = hmac.digest(
        device_secret, b"telegram.passcode.v1\0" + code.encode(), "sha256")
    return hashlib.pbkdf2_hmac("sha256", password, salt, iterations, 32)


class Job:
    """What a person does, step by step. The searcher is told of each secret as it comes to be."""

    def __init__(self, installation, searcher):
        self.installation = installation
        self.searcher = searcher
        self.first = new_passcode("first")
        self.second = new_passcode("second")
        self.wrong = new_passcode("wrong")
        self.foreign = new_passcode("foreign")
        self.passphrases = {name: new_passcode(name) for name in HOLDERS}
        self.phrase = new_phrase(24)
        self.short = new_phrase(12)
        self.legacy = [new_phrase(12) for _ in range(2)]
        self.label = "label-" + secrets.token_hex(12)
        passcodes = {
            "the first passcode": self.first, "the second passcode": self.second,
            "a wrong passcode": self.wrong, "an imported passcode": self.foreign,
        } | {f"the passphrase of {name}": text for name, text in self.passphrases.items()}
        searcher.watch_for([of_text(name, text) for name, text in passcodes.items()])
        searcher.watch_for([
            of_phrase("an imported phrase of 24 words", self.phrase),
            of_phrase("an imported phrase of 12 words", self.short),
            of_phrase("a legacy phrase", self.legacy[0]),
            of_phrase("another legacy phrase", self.legacy[1]),
        ])

    def run(self, *words, passcode=None, phrase=None, new=None, passphrases=(), **options):
        pairs = [("--passcode-fd", passcode), ("--phrase-fd", phrase), ("--new-passcode-fd", new)]
        pairs += [("--passphrase-fd", text) for text in passphrases]
        given = [(option, text) for option, text in pairs if text]
        return self.installation.coffer(*words, secrets=given, **options)

    def do(self):
        self.passcodes_and_wallets()
        self.shares()
        self.migration()
        self.take_over()
        self.run("unlock", passcode=self.second)
        self.run("wallet", "list", passcode=self.second)
        self.run("lock")

    def passcodes_and_wallets(self):
        self.run("passcode", "set", "--kind", "alphanumeric", passcode=self.first)
        self.watch_access_key()
        self.run(
            "wallet", "import", "--label", self.label, phrase=self.phrase, passcode=self.first)
        self.run("wallet", "import", "--label", "short", phrase=self.short, passcode=self.first)
        self.run("wallet", "create", "--label", "drawn", "--words", "12", passcode=self.first)
        drawn = self.installation.reveal(
            "wallet", "reveal", "drawn", secrets=[("--passcode-fd", self.first)])
        self.searcher.watch_for([of_phrase("a drawn phrase", drawn)])
        for words in (("ed25519", "m/44'/501'/0'/0'"), ("secp256k1", "m/44'/0'/0'/0/0")):
            self.run("wallet", "sign", "short", "--scheme", words[0], "--path", words[1],
                     "--digest", "ab" * 32, passcode=self.first)
        self.run("wallet", "check", "drawn", passcode=self.wrong, code=3)
        self.run("passcode", "change", passcode=self.first, new=self.second)
        self.run("protection", "off", passcode=self.second)
        self.run("wallet", "check", "drawn", passcode=self.second)
        self.run("protection", "on", passcode=self.second)

    def shares(self):
        folder = self.installation.folder / "holders"
        folder.mkdir()
        restore = program(ROOT / "Services/Coffer/Core/Holding/restore.py")
        for name in HOLDERS:
            self.run("holder", "keygen", "--out", folder / name,
                     passphrases=[self.passphrases[name]])
            self.run("holder", "add", name, "--key", folder / f"{name}.pub",
                     passcode=self.second)
        self.run("backup", "split", "short", "--out", folder / "shares", passcode=self.second)
        words = []
        for name in HOLDERS:
            share = next((folder / "shares").glob(f"{name}-*"))
            words += ["--share", share, "--key", folder / name]
            key = load_pem_private_key(
                (folder / name).read_bytes(), self.passphrases[name].encode())
            seed = key.private_bytes(Encoding.Raw, PrivateFormat.Raw, NoEncryption())
            payload, _ = restore.open_document(seed, share.read_bytes())
            self.searcher.watch_for([
                of_bytes(f"the key of {name}", seed),
                of_bytes(f"the share of {name}", payload[SHARE_HEAD_BYTES:]),
            ])
        self.run("wallet", "remove", "short", "--yes", passcode=self.second)
        self.run("backup", "restore", *words, "--label", "short", "--yes", passcode=self.second,
                 passphrases=[self.passphrases[name] for name in HOLDERS])
        self.run("wallet", "remove", "short", "--yes", passcode=self.second)

    def migration(self):
        keychains = program(ROOT / "Tests/Legacy/make-keychains")
        source = self.installation.folder / "keychain.jsonl"
        ids = [keychains.legacy_id(phrase, "mainnet") for phrase in self.legacy]
        rows = [keychains.list_row("mainnet", ids)]
        rows += keychains.phrase_rows(self.legacy, "mainnet")
        source.write_text("".join(json.dumps(row) + "\n" for row in rows))
        self.run("migrate", "apply", source, passcode=self.second)
        self.run("migrate", "verify", source, passcode=self.second)

    def take_over(self):
        """Another owner's credential comes from elsewhere."""
        device_secret, access_key = secrets.token_bytes(32), secrets.token_bytes(32)
        salt, nonce = secrets.token_bytes(16), secrets.token_bytes(12)
        key = key_encryption_key(device_secret, self.foreign, salt, ITERATIONS)
        name = str(uuid.uuid4()).upper()
        data = f"credential.v1:{name}:alphanumeric".encode()
        wrapped = nonce + AESGCM(key).encrypt(nonce, access_key, data)
        record = {
            "version": 1, "id": name, "revision": 7, "managedPasscode": True,
            "walletProtection": True, "biometricCleanup": [], "kind": "alphanumeric",
            "salt": base64.b64encode(salt).decode(), "iterations": ITERATIONS,
            "wrappedKey": base64.b64encode(wrapped).decode(),
        }
        folder = self.installation.folder / "elsewhere"
        folder.mkdir()
        (folder / "record").write_text(json.dumps(record))
        (folder / "secret").write_bytes(device_secret)
        self.searcher.watch_for([
            of_bytes("an imported device secret", device_secret),
            of_bytes("an imported access key", access_key),
            of_bytes("the key of an imported wrapper", key),
        ])
        self.run("passcode", "import", "--record", folder / "record", "--device-secret",
                 folder / "secret", "--owner", "other", passcode=self.foreign)
        self.run("wallet", "create", "--owner", "other", passcode=self.foreign)
        self.run("lock", "--owner", "other")

    def watch_access_key(self):
        """Opens the wrapper with what both stores have, as a thief of both would."""
        states = self.installation.home / "state"
        device_secret, = self.row(
            states / "attempt-limiter", "SELECT device_secret FROM owners WHERE owner = 'local'")
        record, = self.row(
            states / "credential-authority",
            "SELECT record FROM credentials WHERE owner = 'local'")
        record = json.loads(record)
        key = key_encryption_key(
            device_secret, self.first, base64.b64decode(record["salt"]), record["iterations"])
        wrapped = base64.b64decode(record["wrappedKey"])
        data = f"credential.v1:{record['id']}:{record['kind']}".encode()
        access_key = AESGCM(key).decrypt(wrapped[:12], wrapped[12:], data)
        self.searcher.watch_for([
            of_bytes("the access key", access_key), of_bytes("the key of the wrapper", key),
        ])

    def row(self, folder, query):
        """From a copy: the running service keeps others out."""
        with tempfile.TemporaryDirectory(dir=self.installation.folder) as place:
            for suffix in ("", "-wal"):
                shutil.copy(folder / f"store.sqlite{suffix}", place)
            store = sqlite3.connect(f"{place}/store.sqlite")
            try:
                return store.execute(query).fetchone()
            finally:
                store.close()


def label_canary(job):
    """What the vault keeps in the open."""
    return Canary("a wallet's label", {"UTF-8": job.label.encode()})
