"""A throw-away installation whose programs are watched."""

import json
import os
import signal
import subprocess
import time
from pathlib import Path

from searches import state_of

SERVICES = (
    "attempt-limiter",
    "credential-authority",
    "wallet-vault",
    "backup-shares",
    "migration",
)


class Failure(Exception):
    """What keeps the test from testing."""


def readable(secret):
    """A descriptor from which a secret can be read once."""
    reading, writing = os.pipe()
    os.write(writing, secret.encode() + b"\n")
    os.close(writing)
    return reading


class Installation:
    """Home, services, and the command. All that any of them prints is in the folder `log`."""

    def __init__(self, folder, programs, pause):
        self.folder = Path(folder)
        self.home = self.folder / "home"
        self.logs = self.folder / "log"
        self.temporary = self.folder / "tmp"
        self.programs = Path(programs)
        self.pause = pause
        self.services = {}
        self.commands = []
        self.count = 0
        # Called with the process of each command when it is about to end.
        self.at_end = lambda pid, words: None

    def make(self):
        self.logs.mkdir(mode=0o700)
        self.temporary.mkdir(mode=0o700)
        self.coffer("init")
        # The command may speak for a second owner too.
        entry = self.home / "peers/coffer.key"
        entry.write_text(entry.read_text().replace('"local"', '"local,other"'))
        # Derivations are as short as they may be.
        with (self.home / "coffer.conf").open("a") as settings:
            settings.write("kdf_target_ms = 1\n")
        for service in SERVICES:
            self.start(service)
        self.wait_healthy()

    def environment(self):
        return {
            "PATH": os.environ["PATH"], "LANG": "C.UTF-8", "HOME": str(self.folder),
            "TMPDIR": str(self.temporary),
        }

    def start(self, service):
        with (self.logs / service).open("ab") as log:
            self.services[service] = subprocess.Popen(
                [self.programs / service, "serve", "--home", self.home],
                env=self.environment(), cwd=self.temporary, stdin=subprocess.DEVNULL, stdout=log,
                stderr=log,
            )

    def wait_healthy(self):
        deadline = time.monotonic() + 20
        for service in SERVICES:
            probe = [self.programs / service, "probe", "--home", self.home]
            while subprocess.run(probe, capture_output=True).returncode != 0:
                if time.monotonic() > deadline:
                    raise Failure(f"{service} is not healthy")
                time.sleep(0.02)

    def stop(self):
        """Ends all that still runs, commands that a failure left behind too."""
        for process in self.commands:
            if process.poll() is None:
                process.kill()
                process.wait()
        for process in self.services.values():
            process.terminate()
        for process in self.services.values():
            process.wait(20)
        self.services.clear()

    def begin(self, *words, secrets=None, shown=False, pauses=True):
        """Starts the command; answers its process and, where a phrase is shown, a descriptor.

        It pauses at its end, to be looked at by `finish`, unless that is not wanted.

        `secrets` are pairs of an option and what is read from the descriptor that it names.
        """
        command = [self.programs / "coffer", *map(str, words), "--home", self.home, "--json"]
        descriptors, reading = [], None
        for option, secret in secrets or []:
            descriptors.append(readable(secret))
            command += [option, str(descriptors[-1])]
        if shown:
            reading, writing = os.pipe()
            descriptors.append(writing)
            command += ["--phrase-out-fd", str(writing)]
        self.count += 1
        output = self.logs / f"coffer-{self.count}"
        with output.open("wb") as file, output.with_suffix(".errors").open("wb") as errors:
            process = subprocess.Popen(
                command,
                env=self.environment() | ({"LD_PRELOAD": str(self.pause)} if pauses else {}),
                cwd=self.temporary, pass_fds=descriptors, stdin=subprocess.DEVNULL, stdout=file,
                stderr=errors, start_new_session=True,
            )
        for descriptor in descriptors:
            os.close(descriptor)
        self.commands.append(process)
        process.output = output
        return process, reading

    def finish(self, process, words, code=0):
        """Waits until the command is about to end, looks at it, and lets it end."""
        deadline = time.monotonic() + 120
        while state_of(process.pid) not in "TZ":
            if time.monotonic() > deadline:
                process.kill()
                raise Failure(f"`coffer {' '.join(map(str, words))}` does not end")
            time.sleep(0.005)
        if state_of(process.pid) == "T":
            self.at_end(process.pid, words)
            os.kill(process.pid, signal.SIGCONT)
        elif process.wait() >= 0:
            raise Failure(f"`coffer {words[0]}` could not be looked at before it ended")
        process.wait()
        if process.returncode != code:
            errors = process.output.read_text() + process.output.with_suffix(".errors").read_text()
            raise Failure(
                f"`coffer {' '.join(map(str, words))}` ended with {process.returncode}: {errors}")
        text = process.output.read_text()
        return json.loads(text) if text else {}

    def coffer(self, *words, secrets=None, code=0):
        """Runs the command; answers what it printed."""
        process, _ = self.begin(*words, secrets=secrets)
        return self.finish(process, words, code)

    def reveal(self, *words, secrets):
        """Runs the command that shows a phrase; answers that."""
        process, reading = self.begin(*words, secrets=secrets, shown=True)
        self.finish(process, words)
        with os.fdopen(reading) as file:
            return file.read().strip()
