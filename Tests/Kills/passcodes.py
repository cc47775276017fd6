"""The operations of the passcode path that are killed, and what must be so after each kill."""

import json
import time
from pathlib import Path

from homes import PASSCODE, Failure
from scenarios import LABEL, LEGACY, Scenario, make_wallet, same, until_done

VECTORS = Path(__file__).resolve().parent.parent / "Vectors"
OTHER = b"417702\n"
WRONG = b"000000\n"
IDENTITY = "03d902f35f560e0470c63313c7369168d9d7df2d49bf295fd9fb7cb109ccee0494"
# Evaluations that anybody gets before the first wait.
GUESSES = 6


def is_right(home, passcode):
    """Whether a passcode opens the owner. A wrong one is charged, the next right one drops that."""
    result = home.coffer("wallet", "list", "--json", passcode=passcode, patient=True)
    if result.code not in (0, 3):
        raise Failure(f"a passcode is neither right nor wrong: {result}")
    return result.code == 0


def working(home, *passcodes):
    """The one of several passcodes that works."""
    found = [passcode for passcode in passcodes if is_right(home, passcode)]
    if len(found) != 1:
        raise Failure(f"{len(found)} of {len(passcodes)} passcodes work")
    return found[0]


def wallet_opens(home, passcode=PASSCODE):
    """The wallet that was there before is whole. Without a passcode the owner is unlocked first."""
    if not passcode:
        home.coffer("unlock", check=True)
    result = home.coffer("wallet", "check", LABEL, "--json", passcode=passcode, check=True)
    same("identity", result.json["identity"], IDENTITY)


class Change(Scenario):
    """A change that is journalled: what was told of it and what its outcome says are true."""

    ground = "owner"
    service = "authority"
    draws = True

    def stands(self, home):
        """Whether the change is made. All else must be as before it, or as after it."""

    def judge(self, home):
        """Compares what the command was told, and the outcome of every key, with what is so."""
        told = home.told.outcome
        done = None
        if told == "unknown":
            done = "done" in [home.outcome(self.service, key) for key in home.keys]
        stands = self.stands(home)
        if told != "unknown" and stands != (told == "done"):
            raise Failure(f"told that it is {told}, and it {'stands' if stands else 'is not there'}")
        if done is not None and stands != done:
            raise Failure(f"the outcome says done: {done}, and the change stands: {stands}")
        return stands

    def look(self, home):
        self.judge(home)


class FirstSet(Change):
    name = "coffer passcode set"
    ground = "bare"

    def act(self, home, passcode=PASSCODE, **options):
        return home.coffer(
            "passcode", "set", "--kind", "digits6", "--json", passcode=passcode, **options)

    def stands(self, home):
        is_set = "kind" in home.status()
        if is_set and not is_right(home, PASSCODE):
            raise Failure("a passcode is set, and not the one that was given")
        return is_set

    def finish(self, home):
        until_done(home, "passcode", "set", "--kind", "digits6", accepted=["coffer.passcode_set"])
        working(home, PASSCODE, WRONG)
        make_wallet(home)
        wallet_opens(home)

    def spoil(self, home):
        """The passcode is gone."""
        home.coffer("passcode", "disable", passcode=True, check=True)


class Changing(Change):
    name = "coffer passcode change"

    def act(self, home, **options):
        return home.coffer(
            "passcode", "change", "--json", passcode=PASSCODE, new=OTHER, **options)

    def stands(self, home):
        return working(home, OTHER, PASSCODE) == OTHER

    def finish(self, home):
        if is_right(home, PASSCODE):
            home.coffer("passcode", "change", passcode=PASSCODE, new=OTHER, check=True)
        same("the passcode", working(home, OTHER, PASSCODE), OTHER)
        wallet_opens(home, OTHER)

    def spoil(self, home):
        """The earlier passcode is back."""
        home.coffer("passcode", "change", passcode=OTHER, new=PASSCODE, check=True)


class Disabling(Change):
    name = "coffer passcode disable"

    def act(self, home, **options):
        return home.coffer("passcode", "disable", "--json", passcode=PASSCODE, **options)

    def stands(self, home):
        is_set = "kind" in home.status()
        wallet_opens(home, PASSCODE if is_set else None)
        return not is_set

    def finish(self, home):
        until_done(home, "passcode", "disable", accepted=["credential.no_passcode"])
        home.coffer(
            "passcode", "set", "--kind", "digits6", passcode=OTHER, check=True)
        same("the passcode", working(home, OTHER, PASSCODE), OTHER)
        wallet_opens(home, OTHER)

    def spoil(self, home):
        """A passcode is set."""
        home.coffer("passcode", "set", "--kind", "digits6", passcode=True, check=True)


class Protection(Change):
    """`wanted` is what protection is turned to."""

    wanted = False

    def __init__(self):
        self.word = "on" if self.wanted else "off"
        self.name = f"coffer protection {self.word}"

    def act(self, home, **options):
        return home.coffer("protection", self.word, "--json", passcode=PASSCODE, **options)

    def stands(self, home):
        wallet_opens(home)
        return home.status()["protection"] == self.wanted

    def finish(self, home):
        until_done(home, "protection", self.word)
        same("protection", home.status()["protection"], self.wanted)
        if not self.wanted:
            home.coffer("wallet", "check", LABEL, check=True)
        working(home, PASSCODE, WRONG)

    def spoil(self, home):
        """Protection is turned back."""
        back = "off" if self.wanted else "on"
        home.coffer("protection", back, passcode=True, check=True)


class ProtectionOn(Protection):
    wanted = True

    def prepare(self, home):
        home.coffer("protection", "off", passcode=True, check=True)


class Creating(Change):
    name = "coffer wallet create"
    service = "vault"
    label = "drawn"

    def act(self, home, **options):
        return home.coffer(
            "wallet", "create", "--label", self.label, "--json", passcode=PASSCODE, **options)

    def stands(self, home):
        wallet_opens(home)
        return len(self.found(home)) == 1

    def found(self, home):
        found = [one for one in home.wallets("main") if one["label"] == self.label]
        if len(found) > 1:
            raise Failure("one creation made two wallets")
        return found

    def finish(self, home):
        if not self.found(home):
            self.act(home, check=True)
        home.coffer("wallet", "check", self.label, passcode=True, check=True)
        wallet_opens(home)

    def spoil(self, home):
        """The wallet is lost."""
        home.coffer("wallet", "remove", self.label, "--yes", passcode=True, check=True)


class Importing(Creating):
    name = "coffer wallet import"
    label = "taken in"

    def act(self, home, **options):
        phrase = (LEGACY / "phrases").read_text().splitlines()[1]
        return home.coffer("wallet", "import", "--label", self.label, "--json", phrase=phrase,
                           passcode=PASSCODE, **options)


class Removing(Change):
    name = "coffer wallet remove"
    service = "vault"

    def act(self, home, **options):
        return home.coffer(
            "wallet", "remove", LABEL, "--yes", "--json", passcode=PASSCODE, **options)

    def stands(self, home):
        if not home.wallets("main"):
            return True
        wallet_opens(home)
        return False

    def finish(self, home):
        if home.wallets("main"):
            self.act(home, check=True)
        same("wallets", home.wallets("main"), [])
        make_wallet(home)
        wallet_opens(home)

    def spoil(self, home):
        """The wallet is back."""
        make_wallet(home)


class TakingOver(Change):
    name = "coffer passcode import"
    ground = "bare"
    passcode = b"1234\n"

    def prepare(self, home):
        cases = json.loads((VECTORS / "passcode_verify.json").read_text())["cases"]
        inputs = next(case for case in cases if case["name"] == "right code")["inputs"]
        (home.path / "record").write_text(inputs["record"]["text"])
        (home.path / "secret").write_bytes(bytes.fromhex(inputs["deviceSecret"]))

    def act(self, home, **options):
        return home.coffer("passcode", "import", "--record", home.path / "record",
                           "--device-secret", home.path / "secret", "--json",
                           passcode=self.passcode, **options)

    def stands(self, home):
        is_there = "kind" in home.status()
        if is_there:
            same("the passcode", working(home, self.passcode, WRONG), self.passcode)
        return is_there

    def finish(self, home):
        if not self.stands(home):
            self.act(home, check=True)
        make_wallet(home, passcode=self.passcode)
        wallet_opens(home, self.passcode)

    def spoil(self, home):
        """The passcode is gone."""
        home.coffer("passcode", "disable", passcode=self.passcode, check=True)


class Reset(Scenario):
    """Not journalled: whoever broke off runs it again."""

    name = "coffer owner reset"
    ground = "owner"
    kind = "reset"

    def act(self, home, **options):
        return home.coffer("owner", self.kind, "--yes", "--json", passcode=PASSCODE, **options)

    def look(self, home):
        status = settled(home)
        if status.get("removal") == self.kind:
            return
        if "kind" in status:
            if home.told.outcome == "done":
                raise Failure(f"the {self.kind} of the owner is done, and he has a passcode")
            # Nothing has begun, so nothing is lost.
            wallet_opens(home)
        else:
            self.look_after(home)

    def look_after(self, home):
        """What must be so once it is done, whether the command was told so or not."""
        home.coffer("unlock", check=True)
        same("wallets of a reset owner", home.wallets("main", passcode=None), [])

    def finish(self, home):
        until_done(home, "owner", self.kind, "--yes", accepted=["credential.no_passcode"])
        self.look_after(home)
        FirstSet().finish(home)

    def spoil(self, home):
        """A passcode is set."""
        home.coffer("passcode", "set", "--kind", "digits6", passcode=True, check=True)


def settled(home, *words):
    """The standing, once what was under way is over."""
    status = home.status(*words)
    while True:
        time.sleep(0.3)
        earlier, status = status, home.status(*words)
        if status == earlier:
            return status


class FreshReset(Scenario):
    """The reset of an owner of whom nobody knows anything, beside one who has a wallet."""

    name = "coffer owner reset --fresh"
    ground = "owner"
    stranger = ("--owner", "stranger")

    def prepare(self, home):
        """The command may speak for both."""
        home.stop()
        entry = home.path / "home/peers/coffer.key"
        text = entry.read_text()
        if '"local"' not in text:
            raise Failure(f"the command's entry names no owner: {text}")
        entry.write_text(text.replace('"local"', '"local,stranger"'))
        home.start()

    def act(self, home, **options):
        return home.coffer("owner", "reset", "--fresh", "--json", *self.stranger, **options)

    def look(self, home):
        status = settled(home, *self.stranger)
        is_under_way = status.get("removal") == "reset"
        if home.told.outcome == "done" and (is_under_way or "credential" not in status):
            raise Failure(f"the stranger is told to be reset, and stands so: {status}")
        if "kind" in status:
            raise Failure("the stranger has a passcode")
        if "credential" in status and not is_under_way:
            home.coffer("unlock", *self.stranger, check=True)
            found = home.coffer("wallet", "list", "--json", *self.stranger, check=True)
            same("wallets of the stranger", found.json["wallets"], [])
        wallet_opens(home)

    def finish(self, home):
        """One that is over is not done again: the authority knows the owner then."""
        words = ("owner", "reset", "--fresh", *self.stranger)
        until_done(home, *words, accepted=["coffer.known_owner"], passcode=False)
        same("removal", home.status(*self.stranger).get("removal"), None)
        words = ("passcode", "set", "--kind", "digits6", *self.stranger)
        home.coffer(*words, passcode=OTHER, check=True)
        make_wallet(home, number=1, passcode=OTHER, owner=self.stranger)
        home.coffer("wallet", "check", LABEL, *self.stranger, passcode=OTHER, check=True)
        same("the passcode of the other", working(home, PASSCODE, OTHER), PASSCODE)
        wallet_opens(home)

    def spoil(self, home):
        """The stranger has a passcode."""
        words = ("passcode", "set", "--kind", "digits6", *self.stranger)
        home.coffer(*words, passcode=OTHER, check=True)


class RemovingOwner(Reset):
    name = "coffer owner remove"
    kind = "remove"

    def look_after(self, home):
        owners = home.coffer("owner", "list", "--json", check=True).json["owners"]
        same("owners after a removal", owners, [])


class RightGuess(Scenario):
    name = "coffer wallet check, right passcode"
    ground = "owner"

    def act(self, home, **options):
        return home.coffer("wallet", "check", LABEL, "--json", passcode=PASSCODE, **options)

    def look(self, home):
        failed = home.status()["failed"]
        if failed > 1:
            raise Failure(f"one right passcode counts as {failed} wrong ones")
        wallet_opens(home)
        same("failed attempts after a right passcode", home.status()["failed"], 0)

    def finish(self, home):
        working(home, PASSCODE, WRONG)

    def spoil(self, home):
        """The wallet is lost."""
        home.coffer("wallet", "remove", LABEL, "--yes", passcode=True, check=True)


class WrongGuess(Scenario):
    name = "coffer wallet check, wrong passcode"
    ground = "owner"
    expected = 3

    def act(self, home, **options):
        return home.coffer("wallet", "check", LABEL, "--json", passcode=WRONG, **options)

    def look(self, home):
        failed = home.status()["failed"]
        if home.told.code == self.expected and failed < 1:
            raise Failure("an answered guess is not counted")
        if failed > 1:
            raise Failure(f"one guess counts as {failed}")

    def finish(self, home):
        """Guesses until a wait: with those before, no more were answered than may be."""
        answered = int(home.told.code == self.expected)
        for _ in range(GUESSES + 2):
            result = self.act(home)
            if result.code == 4:
                break
            if result.code != self.expected:
                raise Failure(f"a wrong passcode ends with {result}")
            answered += 1
        if result.code != 4 or answered > GUESSES:
            raise Failure(f"{answered} guesses were answered without a wait")
        if answered < GUESSES - 1:
            raise Failure(f"a wait came after {answered} guesses")
        same("the right passcode in a wait", RightGuess().act(home).code, 4)

    def spoil(self, home):
        """The count is dropped."""
        wallet_opens(home)


PASSCODE_SCENARIOS = (
    FirstSet(), Changing(), RightGuess(), WrongGuess(), Disabling(), Protection(), ProtectionOn(),
    Reset(), RemovingOwner(), FreshReset(), Creating(), Importing(), Removing(), TakingOver(),
)
