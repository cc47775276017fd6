"""The operations that are killed, and what must be so after each kill."""

import hashlib
import json
import sqlite3
import subprocess
import time
from pathlib import Path

from homes import Failure

LEGACY = Path(__file__).resolve().parent.parent / "Legacy"
PART = ".coffer-part-"
HOLDERS = ("alice", "bob", "carol")
LABEL = "kept"


def digest(path):
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


def same(what, found, wanted):
    if found != wanted:
        raise Failure(f"{what}: {found} and not {wanted}")


def until_done(home, *words, accepted=(), tries=8, passcode=True, pin=False):
    """What a person does after a failure: the same once more. Answers the last result."""
    for _ in range(tries):
        result = home.coffer(*words, passcode=passcode, pin=pin)
        if result.code == 0 or any(code in result.complaints for code in accepted):
            return result
        time.sleep(0.3)
    raise Failure(f"`coffer {' '.join(map(str, words))}` is never done: {result}")


class Scenario:
    """An operation of the command: `act` does it, the rest looks at what a kill left.

    What the command said stands in the home as `told`, the keys of its changes as `keys`.
    """

    # Which home it begins in: one with a passcode, one with a wallet too (`owner`), or a `bare` one.
    ground = "passcode"
    # How the operation ends without a kill.
    expected = 0
    # Whether the keys of its changes are wanted.
    draws = False

    def prepare(self, home):
        """What stands before; the home is copied after it."""

    def act(self, home, **options):
        """The operation itself; the options are those of `Home.coffer`."""

    def look(self, home):
        """What must be so at once, before anything is mended."""

    def finish(self, home):
        """Does the rest, as a person would, and checks the end."""

    def spoil(self, home):
        """Does to a home where the operation is done what `look` must notice: the control."""


class Split(Scenario):
    name = "coffer backup split"
    identity = "03d902f35f560e0470c63313c7369168d9d7df2d49bf295fd9fb7cb109ccee0494"

    def prepare(self, home):
        make_wallet(home)
        make_holders(home)

    def act(self, home, **options):
        return home.coffer(
            "backup", "split", LABEL, "--out", home.path / "shares", passcode=True, **options
        )

    def look(self, home):
        folders = [name for name in names(home.path) if name.startswith("shares")]
        for folder in folders:
            check_whole(home.path / folder)
        manifests = self.manifests(home)
        for manifest in manifests:
            if manifest["confirmed"]:
                self.find(home, manifest)
        same("wallets", [w["identity"] for w in home.wallets("main")], [self.identity])

    def finish(self, home):
        """A split that is no backup is made anew."""
        if not any(manifest["confirmed"] for manifest in self.manifests(home)):
            for number in range(1, 9):
                folder = home.path / f"shares-{number}"
                result = home.coffer("backup", "split", LABEL, "--out", folder, passcode=True)
                if result.code == 0:
                    break
            else:
                raise Failure(f"the wallet is never split: {result}")
        self.look(home)
        parts = [name for name in names(home.path) if name.startswith(PART)]
        if parts and (home.path / "shares-1").exists():
            raise Failure(f"a later split left {parts}")
        confirmed = [manifest for manifest in self.manifests(home) if manifest["confirmed"]]
        self.restore(home, self.find(home, confirmed[-1]))

    def spoil(self, home):
        """A byte is missing under a final name."""
        share = next((home.path / "shares").glob("*.share"))
        share.write_bytes(share.read_bytes()[:-1])

    def manifests(self, home):
        return home.coffer("backup", "list", "--json", passcode=True, check=True).json["splits"]

    def find(self, home, manifest):
        """The files of a split that counts as a backup: they are there, whole."""
        wanted = [share["file"] for share in manifest["shares"]]
        for folder in home.path.glob("shares*"):
            files = {digest(file): file for file in folder.iterdir()}
            if all(one in files for one in wanted):
                return [files[one] for one in wanted]
        raise Failure(f"the backup {manifest['split']} has no files")

    def restore(self, home, shares):
        """The shares are good for something."""
        home.coffer(
            "wallet", "remove", LABEL, "--yes", "--json", passcode=True, check=True)
        result = home.coffer("backup", "restore", *share_words(home, shares), "--yes", "--json",
                             passcode=True, check=True)
        same("identity", result.json["wallet"]["identity"], self.identity)


class Restore(Scenario):
    name = "coffer backup restore"
    identity = Split.identity

    def prepare(self, home):
        """Shares of a wallet that the vault has no more."""
        make_wallet(home)
        make_holders(home)
        home.coffer("backup", "split", LABEL, "--out", home.path / "shares", passcode=True,
                    check=True)
        home.coffer("wallet", "remove", LABEL, "--yes", passcode=True, check=True)
        self.digests = self.files(home)

    def words(self, home):
        shares = sorted((home.path / "shares").glob("*.share"))
        return ("backup", "restore", *share_words(home, shares), "--label", LABEL, "--yes")

    def act(self, home, **options):
        return home.coffer(*self.words(home), passcode=True, **options)

    def look(self, home):
        same("shares", self.files(home), self.digests)
        found = [wallet["identity"] for wallet in home.wallets("main")]
        if found not in ([], [self.identity]):
            raise Failure(f"wallets: {found}")

    def finish(self, home):
        until_done(home, *self.words(home), accepted=["vault.wallet_exists"])
        self.look(home)
        checked = home.coffer("wallet", "check", LABEL, "--json", passcode=True, check=True).json
        same("identity", checked["identity"], self.identity)

    def spoil(self, home):
        """The wallet is lost."""
        home.coffer("wallet", "remove", LABEL, "--yes", passcode=True, check=True)
        make_wallet(home, number=1)

    def files(self, home):
        return sorted(digest(file) for file in (home.path / "shares").iterdir())


class Apply(Scenario):
    name = "coffer migrate apply"

    def prepare(self, home):
        """Two wallets of the main network, one of the test network, one that was reset."""
        lines = (LEGACY / "keychain.jsonl").read_text().splitlines()
        lists = [line for line in lines if "CHAIN_WALLETS_KEY_" in line]
        phrases = [line for line in lines if "WALLET_MNEMONIC_KEY_" in line]
        source = home.path / "source.jsonl"
        taken = phrases[:2] + phrases[20:21] + phrases[24:25]
        source.write_text("".join(line + "\n" for line in lists + taken))
        identities = [line.split()[1] for line in (LEGACY / "identities").open()]
        self.wanted = {
            "dash.mainnet": set(identities[:2]),
            "dash.testnet": set(identities[20:21]),
        }
        self.before = (digest(source), source.stat().st_mtime_ns)

    def act(self, home, **options):
        return home.coffer(
            "migrate", "apply", home.path / "source.jsonl", passcode=True, **options)

    def look(self, home):
        source = home.path / "source.jsonl"
        same("source", (digest(source), source.stat().st_mtime_ns), self.before)
        for namespace, wanted in self.wanted.items():
            found = [wallet["identity"] for wallet in home.wallets(namespace)]
            if len(set(found)) != len(found):
                raise Failure(f"{namespace} has a wallet twice: {found}")
            if not set(found) <= wanted:
                raise Failure(f"{namespace} has another wallet: {set(found) - wanted}")

    def finish(self, home):
        until_done(home, "migrate", "apply", home.path / "source.jsonl")
        self.look(home)
        for namespace, wanted in self.wanted.items():
            found = {wallet["identity"] for wallet in home.wallets(namespace)}
            same(f"wallets of {namespace}", found, wanted)
        until_done(home, "migrate", "verify", home.path / "source.jsonl")

    def spoil(self, home):
        """The source has another last byte."""
        source = home.path / "source.jsonl"
        source.write_bytes(source.read_bytes()[:-1] + b" ")


class TakeAgain(Apply):
    name = "coffer migrate apply, again"

    def prepare(self, home):
        """All came in, and two were removed from the vault since."""
        super().prepare(home)
        self.act(home, check=True)
        for wallet in home.wallets("dash.mainnet"):
            home.coffer(
                "wallet", "remove", wallet["wallet"], "--namespace", "dash.mainnet", "--yes",
                passcode=True, check=True)


class Enrol(Scenario):
    name = "coffer device-key enroll"

    def prepare(self, home):
        """A token that opens the wallet, and one that shall."""
        home.make_tokens("first", "second")
        make_wallet(home)
        self.enrol(home, "first", check=True)

    def enrol(self, home, label, **options):
        return home.coffer(
            "device-key", "enroll", "--token", f"pkcs11:token={label}", passcode=True, pin=True,
            **options)

    def act(self, home, **options):
        return self.enrol(home, "second", **options)

    def look(self, home):
        """One of the two opens, once an authority that outlived the command is done with them.

        A machine that kills much may be slow with a token too.
        """
        for _ in range(20):
            result = home.coffer("unlock", "--device-key", pin=True)
            if result.code == 0:
                break
            time.sleep(0.3)
        else:
            raise Failure(f"neither token opens: {result}")
        self.enrolled(home)

    def enrolled(self, home):
        status = home.coffer("device-key", "status", "--json", check=True).json
        found = [label for label in ("first", "second") if f"token={label}" in status["token"]]
        same("tokens", len(found), 1)
        return found[0]

    def finish(self, home):
        """What was left on a token is deleted with the next change on it."""
        for label in ("second", "first"):
            words = ("device-key", "enroll", "--token", f"pkcs11:token={label}")
            until_done(home, *words, pin=True)
            same("token", self.enrolled(home), label)
            self.look(home)
            same(f"objects of {label}", home.token(label, "count"), "1")

    def spoil(self, home):
        """The token is cleared."""
        home.token(self.enrolled(home), "clear")


class RemoveToken(Enrol):
    name = "coffer device-key remove"

    def act(self, home, **options):
        return home.coffer("device-key", "remove", "--json", passcode=True, pin=True, **options)

    def look(self, home):
        """The token opens, or it is enrolled no more; then it has nothing, or something waits.

        What could not be deleted waits, also where the command was told of the removal.
        """
        for _ in range(20):
            result = home.coffer("unlock", "--device-key", "--json", pin=True)
            status = home.coffer("device-key", "status", "--json", check=True).json
            left = home.token("first", "count")
            is_enrolled = "token" in status
            if result.code == 0 if is_enrolled else status["waiting"] or left == "0":
                break
            time.sleep(0.3)
        else:
            raise Failure(f"the route does not fit the token: {status}, {left} left, {result}")
        if home.told.outcome == "done" and is_enrolled:
            raise Failure(f"told to be removed, and enrolled: {status}")
        opened = home.coffer("wallet", "check", LABEL, passcode=True, patient=True)
        same("the passcode's way", opened.code, 0)

    def finish(self, home):
        until_done(home, "device-key", "remove", pin=True)
        status = home.coffer("device-key", "status", "--json", check=True).json
        same("route", status, {"waiting": []})
        same("objects of the token", home.token("first", "count"), "0")
        refusal = home.coffer("unlock", "--device-key", "--json", pin=True, patient=True)
        same("refusal", refusal.json["error"]["code"], "device_key.none")
        self.enrol(home, "first", check=True)
        same("token", self.enrolled(home), "first")

    def spoil(self, home):
        """The token is enrolled again."""
        self.enrol(home, "first", check=True)


class Import(Scenario):
    """A state from another time takes the place of the present one, with the services stopped."""

    name = "coffer state import"

    def prepare(self, home):
        """An export with one wallet; the home went on to another one, to holders and a policy."""
        make_wallet(home)
        home.stop()
        self.export(home)
        home.start()
        home.coffer("wallet", "remove", LABEL, "--yes", passcode=True, check=True)
        make_wallet(home, number=1)
        make_holders(home)
        home.coffer("sign-policy", "session", passcode=True, check=True)
        self.old = home.wallets("main")[0]["identity"]

    def export(self, home):
        home.coffer("state", "export", "--out", home.path / "state.coffer", passphrase=True,
                    check=True)

    def act(self, home, **options):
        home.count(False)
        home.stop()
        result = home.coffer("state", "import", home.path / "state.coffer", "--yes", "--json",
                             passphrase=True, **options)
        home.start()
        home.is_untried = True
        return result

    def look(self, home):
        """All services have the old state or the new one, and no count is lowered."""
        policy = home.coffer("sign-policy", "show", "--json", check=True).json["policy"]
        is_new = policy == "proof"
        if home.is_untried:
            standing = home.coffer("passcode", "status", "--json", check=True).json
            same("failed attempts", standing["failed"], 6 if is_new else 0)
        home.is_untried = False
        end_wait(home)
        found = [wallet["identity"] for wallet in home.wallets("main")]
        same("wallets", found, [Split.identity if is_new else self.old])
        holders = home.coffer("holder", "list", "--json", check=True).json["holders"]
        same("holders", len(holders), 0 if is_new else len(HOLDERS))

    def finish(self, home):
        """Imports once more, which tidies what was left."""
        result = self.act(home)
        if result.code != 0:
            raise Failure(f"the import is never done: {result}")
        self.look(home)
        found = [name for name in names(home.path / "home") if name.startswith("state")]
        others = [name for name in found if not name.startswith("state-before-")]
        same("states", others, ["state"])
        if not any((home.path / "home" / name).is_dir() for name in found if name != "state"):
            raise Failure("the state of before is lost")

    def spoil(self, home):
        """The vault is one state's and the limiter the other's."""
        home.stop()
        before = next((home.path / "home").glob("state-before-*"))
        vault = "wallet-vault/store.sqlite"
        (before / vault).replace(home.path / "home/state" / vault)
        home.start()


def end_wait(home):
    """Lets the wait after an import be over, for which there is no time here."""
    home.stop()
    store = sqlite3.connect(home.path / "home/state/attempt-limiter/store.sqlite")
    try:
        store.execute(
            "UPDATE ledgers SET record = CAST(json_set(CAST(record AS TEXT), '$.deadline', 0)"
            " AS BLOB)"
        )
        store.commit()
    finally:
        store.close()
    home.start()


SCENARIOS = (Split(), Restore(), Apply(), TakeAgain(), Enrol(), RemoveToken(), Import())


def make_wallet(home, number=0, passcode=True, owner=()):
    phrase = (LEGACY / "phrases").read_text().splitlines()[number]
    words = ("wallet", "import", "--label", LABEL, *owner)
    home.coffer(*words, phrase=phrase, passcode=passcode, check=True)


def make_holders(home):
    """Their keys are made by OpenSSL, in the clear."""
    for name in HOLDERS:
        key = home.path / f"{name}.pem"
        subprocess.run(["openssl", "genpkey", "-algorithm", "ed25519", "-out", key], check=True)
        key.chmod(0o600)
        public = home.path / f"{name}.pub"
        subprocess.run(["openssl", "pkey", "-in", key, "-pubout", "-out", public], check=True)
        home.coffer("holder", "add", name, "--key", public, passcode=True, check=True)


def share_words(home, shares):
    """Shares with their holders' keys, as `coffer backup restore` takes them."""
    words = []
    for share in shares:
        holder = json.loads(share.read_text())["holder"]
        words += ["--share", share, "--key", home.path / f"{holder}.pem"]
    return words


def names(folder):
    return [entry.name for entry in Path(folder).iterdir()]


def check_whole(folder):
    """Three share files, each whole: a cut or empty one is no JSON object with a seal.

    Beside them stands the text that restores the wallet, whole to its last line.
    """
    found = [name for name in names(folder) if not name.startswith(PART)]
    texts = [name for name in found if name.startswith("README-")]
    same("files", len(found), len(HOLDERS) + 1)
    same("texts", len(texts), 1)
    if not (folder / texts[0]).read_text().endswith("sys.exit(main(sys.argv[1:]))\n"):
        raise Failure(f"{folder / texts[0]} is not whole")
    for name in set(found) - set(texts):
        try:
            share = json.loads((folder / name).read_text())
            same("format", share["format"], "coffer.share.v1")
            same("seal", len(share["mac"]), 64)
        except (ValueError, KeyError) as error:
            raise Failure(f"{folder / name} is not whole: {error}") from error
