"""Throw-away homes with services that die at a wanted call and are started again at once."""

import ctypes
import json
import mmap
import os
import shutil
import subprocess
import threading
import time
from pathlib import Path

SERVICES = (
    "attempt-limiter",
    "credential-authority",
    "wallet-vault",
    "backup-shares",
    "migration",
)
PASSCODE = b"258037\n"
# Seconds that anything may take: enough on the slowest machine, for no check rests on them.
PATIENCE = 120
# What says that nothing happened and that the same may be asked again.
AGAIN = (
    "lease.over",
    "lease.authority_unreachable",
    "credential.limiter_unreachable",
    "bus.unreachable",
    "bus.busy",
)
PIN = "4321"
SOFTHSM = "/usr/lib/softhsm/libsofthsm2.so"
TOKEN_TOOL = Path(__file__).resolve().parent.parent / "Tokens/token.py"
PASSPHRASE = b"maple onward 77 quartz\n"


def readable(secret):
    """A descriptor from which a secret can be read once."""
    reading, writing = os.pipe()
    os.write(writing, secret)
    os.close(writing)
    return reading


class Failure(Exception):
    """What must not be so after a kill."""


class Killer:
    """What killpoints.c shares with a process: whether it counts, how far it is, where it dies.

    One that `draws` keeps what the process draws 16 bytes at a time, the keys of its changes.
    """

    def __init__(self, path, logs=False, draws=False):
        self.path = Path(path)
        # A file of its own: what an earlier process has mapped stays as it is.
        self.path.unlink(missing_ok=True)
        self.path.write_bytes(bytes(40))
        self.log = self.path.with_name(self.path.name + ".log")
        if logs:
            self.log.touch()
        self.drawn = self.path.with_name(self.path.name + ".drawn")
        self.drawn.unlink(missing_ok=True)
        if draws:
            self.drawn.touch()
        with self.path.open("r+b") as file:
            self.numbers = (ctypes.c_uint64 * 5).from_buffer(mmap.mmap(file.fileno(), 40))

    def count(self, fatal=0):
        self.numbers[2] = fatal
        self.numbers[0] = 1

    def aim(self, process):
        """Has another process killed in the place of its own."""
        self.numbers[4] = process

    def rest(self):
        self.numbers[0] = 0

    @property
    def has_struck(self):
        return self.numbers[3] == 1

    @property
    def counted(self):
        return self.numbers[1]

    def calls(self):
        """Each as a moment in nanoseconds and the call itself."""
        lines = [line.partition(" ") for line in self.log.read_text().splitlines()]
        return [(int(moment), call) for moment, _, call in lines]

    def keys(self):
        return self.drawn.read_text().split()


class Result:
    """How a command ended and what it printed."""

    def __init__(self, code, output, complaints):
        self.code = code
        self.output = output
        self.complaints = complaints

    @property
    def json(self):
        return json.loads(self.output)

    @property
    def outcome(self):
        """What the command said of its change: `done`, `rejected` or `unknown`.

        It runs with --json. One that was killed said nothing.
        """
        if self.code == 0:
            return "done"
        return "unknown" if self.code < 0 else self.json["error"]["outcome"]

    def __str__(self):
        return f"exit code {self.code}: {self.output} {self.complaints}".strip()


class Home:
    """An installation with its services, which are started again when they die."""

    def __init__(self, path, programs, library, logs=False):
        self.path = Path(path)
        self.programs = Path(programs)
        self.library = library
        self.logs = logs
        self.processes = {}
        self.killers = {}
        self.told = None
        self.keys = []
        self.watcher = None
        self.ending = threading.Event()

    # Making one

    def make(self, passcode=PASSCODE):
        """Leaves the services running, with this passcode set if there is one."""
        self.path.mkdir(parents=True, mode=0o700)
        self.coffer("init", check=True)
        # Derivations are as short as they may be.
        with (self.path / "home/coffer.conf").open("a") as settings:
            settings.write("kdf_target_ms = 1\n")
        self.start()
        if passcode:
            self.coffer("passcode", "set", "--kind", "digits6", passcode=passcode, check=True)

    def copied(self, path):
        """The same home elsewhere, with its services stopped."""
        shutil.copytree(self.path, path, symlinks=True, copy_function=shutil.copy2)
        return Home(path, self.programs, self.library, self.logs)

    # Services

    def start(self):
        if (self.path / "tokens").exists():
            self.point_at_tokens()
        self.ending.clear()
        for service in SERVICES:
            self.start_one(service)
        self.wait_healthy()
        self.watcher = threading.Thread(target=self.watch)
        self.watcher.start()

    def start_one(self, service):
        killer = Killer(self.path / f"{service}.killer", self.logs)
        self.killers[service] = killer
        with (self.path / f"{service}.log").open("ab") as log:
            self.processes[service] = subprocess.Popen(
                [self.programs / service, "serve", "--home", self.path / "home"],
                env=self.environment(killer),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )

    def watch(self):
        """What a supervisor does."""
        while not self.ending.wait(0.02):
            for service, process in list(self.processes.items()):
                if process.poll() is not None and not self.ending.is_set():
                    self.start_one(service)

    def wait_healthy(self):
        deadline = time.monotonic() + PATIENCE
        for service in SERVICES:
            while not self.is_healthy(service):
                if time.monotonic() > deadline:
                    log = (self.path / f"{service}.log").read_text()
                    raise Failure(f"{service} is not healthy: {log[-2000:]}")
                time.sleep(0.02)

    def is_healthy(self, service):
        probe = [self.programs / service, "probe", "--home", self.path / "home"]
        return subprocess.run(probe, capture_output=True).returncode == 0

    def stop(self):
        self.ending.set()
        if self.watcher:
            self.watcher.join()
            self.watcher = None
        for process in self.processes.values():
            process.terminate()
        for process in self.processes.values():
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self.processes.clear()

    def count(self, counted=True):
        for killer in self.killers.values():
            killer.count() if counted else killer.rest()

    # Hardware tokens

    def make_tokens(self, *labels):
        """Tokens of SoftHSM in the home."""
        (self.path / "tokens").mkdir(mode=0o700)
        self.point_at_tokens()
        for label in labels:
            words = ["softhsm2-util", "--init-token", "--free", "--label", label]
            words += ["--so-pin", "12345678", "--pin", PIN]
            subprocess.run(words, env=self.environment(None), check=True, capture_output=True)

    def point_at_tokens(self):
        """A copy of a home has tokens of its own."""
        text = f"directories.tokendir = {self.path}/tokens\nlog.level = ERROR\n"
        (self.path / "softhsm2.conf").write_text(text)

    def token(self, label, verb):
        """Has `token.py` do something; answers what it prints."""
        tool = [TOKEN_TOOL, SOFTHSM, label, PIN, verb]
        done = subprocess.run(
            tool, env=self.environment(None), check=True, capture_output=True, text=True)
        return done.stdout.strip()

    # The command

    def coffer(self, *words, check=False, patient=False, **options):
        """Runs the command; the options are those of `once`.

        One that is checked must be done. That and a patient one are run again where the command
        says so, as on a busy machine a lease may run out.
        """
        for _ in range(30):
            result = self.once(*words, **options)
            said = result.output + result.complaints
            if not (check or patient) or not any(code in said for code in AGAIN):
                break
            time.sleep(0.3)
        if check and result.code != 0:
            raise Failure(f"`coffer {' '.join(map(str, words))}` ended with {result}")
        return result

    def once(
        self, *words, passcode=False, pin=False, passphrase=False, new=None, phrase=None,
        killer=None, begun=None,
    ):
        """Runs the command, without a terminal and with its secrets on descriptors.

        `passcode` is one, or whether the usual one is given; `new` is one to change to. `begun` is
        called with the process.
        """
        command = [self.programs / "coffer", *map(str, words), "--home", self.path / "home"]
        command += ["--timeout", str(PATIENCE)]
        descriptors = []
        secrets = {"--passcode-fd": PASSCODE if passcode is True else passcode}
        secrets["--new-passcode-fd"] = new
        secrets["--pin-fd"] = PIN.encode() if pin else None
        secrets["--passphrase-fd"] = PASSPHRASE if passphrase else None
        secrets["--phrase-fd"] = phrase.encode() if phrase else None
        for option, secret in secrets.items():
            if secret:
                descriptors.append(readable(secret))
                command += [option, str(descriptors[-1])]
        process = subprocess.Popen(
            command,
            env=self.environment(killer),
            pass_fds=descriptors,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        if begun:
            begun(process)
        for descriptor in descriptors:
            os.close(descriptor)
        try:
            output, complaints = process.communicate(timeout=2 * PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            raise
        return Result(process.returncode, output, complaints)

    def wallets(self, namespace, passcode=True):
        """The wallets of a namespace as the vault lists them."""
        return self.coffer(
            "wallet", "list", "--namespace", namespace, "--json", passcode=passcode, check=True
        ).json["wallets"]

    def status(self, *words):
        """How the owner's credential stands; the words may name another one."""
        return self.coffer("passcode", "status", "--json", *words, check=True).json

    def outcome(self, service, key):
        """What a service says of a change that nobody acknowledged, once it is over."""
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            result = self.coffer("outcome", service, key, "--json")
            if result.code in (0, 7):
                return result.json["outcome"]
            time.sleep(0.1)
        raise Failure(f"{service} never says what became of {key}: {result}")

    def environment(self, killer):
        environment = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8", "HOME": str(self.path)}
        environment["SOFTHSM2_CONF"] = str(self.path / "softhsm2.conf")
        if killer and self.library:
            environment |= {"LD_PRELOAD": str(self.library), "KILLPOINTS": str(killer.path)}
        return environment
