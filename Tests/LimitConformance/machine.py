"""Processes that live in boots and under wall clocks of their own, and disks that are small.

Nothing here changes the machine itself: a boot is a time namespace and a mount namespace of Linux,
a wall clock is libfaketime before one program, and a disk is a tmpfs. What the machine does not
allow has a reason, in words.
"""

import glob
import os
import shutil
import signal
import socket
import subprocess
import time
import uuid
from dataclasses import dataclass
from pathlib import Path

BOOT_ID = "/proc/sys/kernel/random/boot_id"
# In the new namespaces: its own pid is told, its boot id put in place, and the program takes over.
ENTER = f'echo $$ >"$1" && mount --bind "$2" {BOOT_ID} && shift 2 && exec "$@"'


class Trouble(Exception):
    """The test itself cannot go on; nothing is said of the system."""


@dataclass(frozen=True)
class Boot:
    """A run of the machine between two reboots, at one moment of it."""

    id: str
    # CLOCK_BOOTTIME and CLOCK_MONOTONIC when a program is started in it, against the machine's own.
    seconds_ahead: int

    @staticmethod
    def new(up=None):
        """A boot with an id of its own, in which the machine has been up for so many seconds."""
        ahead = 0 if up is None else int(up - time.clock_gettime(time.CLOCK_BOOTTIME))
        return Boot(str(uuid.uuid4()), ahead)

    def later(self, seconds):
        """The same boot, some seconds on."""
        return Boot(self.id, self.seconds_ahead + seconds)


class WallClock:
    """A wall clock that can be set while programs read it."""

    def __init__(self, path):
        self.path = path
        self.set_years(0)

    def set_years(self, years):
        self.offset_s = years * 365 * 86_400
        # Replaced whole, because programs read it at any moment.
        new = self.path.with_suffix(".new")
        new.write_text(f"{self.offset_s:+d}\n")
        new.rename(self.path)

    @property
    def now(self):
        return time.time() + self.offset_s


class Process:
    """A program that was started."""

    def __init__(self, popen, pid_file=None):
        self._popen = popen
        self._pid_file = pid_file

    @property
    def has_ended(self):
        return self._popen.poll() is not None

    @property
    def pid(self):
        """The program's own, also where a helper waits for it."""
        if self._pid_file is None:
            return self._popen.pid
        end = time.monotonic() + 5
        while time.monotonic() < end and not self.has_ended:
            text = self._pid_file.read_text() if self._pid_file.exists() else ""
            if text.endswith("\n"):
                return int(text)
            time.sleep(0.005)
        return self._popen.pid

    def wait(self, seconds):
        """Waits for the end, which is a trouble if it does not come."""
        try:
            self._popen.wait(seconds)
        except subprocess.TimeoutExpired:
            raise Trouble(f"a program did not end within {seconds} s") from None

    def end(self, number=signal.SIGKILL, seconds=10):
        """Sends a signal and waits for the end; what does not end in time is killed."""
        if not self.has_ended:
            os.kill(self.pid, number)
        try:
            self.wait(seconds)
        except Trouble:
            os.kill(self.pid, signal.SIGKILL)
            self.wait(seconds)


class Machine:
    """What this machine lets a test do, in a folder that is the test's own."""

    def __init__(self, folder):
        self.folder = folder
        self._number = 0
        self._disks = []
        self._processes = []
        # Processes for which libfaketime made shared memory, which it leaves behind.
        self._shared = []
        is_root = os.geteuid() == 0
        self.no_disk = None if is_root else "needs root, for a small disk"
        self.no_boot = None if is_root else "needs root, for time and mount namespaces"
        if is_root:
            self.no_disk = self._try_disk()
            self.no_boot = self._try_boot()
        self._faketime = next(iter(glob.glob("/usr/lib/*/faketime/libfaketimeMT.so.1")), None)
        self.no_clock = None if self._faketime else "needs libfaketime, for a wall clock of its own"

    # Processes

    def spawn(self, words, log, boot=None, clock=None, environment=None):
        """Starts a program, in a boot and under a wall clock where they are given."""
        everything = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8", **(environment or {})}
        words = [str(word) for word in words]
        if clock:
            # Given to the program alone: a helper would be moved as well.
            words = [*self._clock_words(clock), *words]
        pid_file = None
        if boot:
            pid_file = self.new_path("pid")
            words = self._boot_words(boot, pid_file) + words
        with open(log, "ab") as output:
            popen = subprocess.Popen(
                words, stdin=subprocess.DEVNULL, stdout=output, stderr=output, env=everything)
        process = Process(popen, pid_file)
        self._processes.append(process)
        if clock:
            self._shared.append(process.pid)
        return process

    def _clock_words(self, clock):
        return [
            "env", f"LD_PRELOAD={self._faketime}", f"FAKETIME_TIMESTAMP_FILE={clock.path}",
            # Without this it moves the boot clock too, which nobody can set on a real machine.
            "FAKETIME_DONT_FAKE_MONOTONIC=1", "FAKETIME_NO_CACHE=1", "NO_FAKE_STAT=1",
            # It sets a variable in the first program that it meets, which moves the environment;
            # and Swift looks for a program's arguments beside that. So a shell is the first.
            "sh", "-c", 'exec "$@"', "sh",
        ]

    def _boot_words(self, boot, pid_file):
        boot_id = self.new_path("boot-id")
        boot_id.write_text(boot.id + "\n")
        ahead = str(boot.seconds_ahead)
        return [
            "unshare", "--mount", "--time", "--boottime", ahead, "--monotonic", ahead,
            "--fork", "--kill-child", "--", "sh", "-c", ENTER, "sh", str(pid_file), str(boot_id),
        ]

    def _try_boot(self):
        boot = Boot.new(up=7)
        seen = self.new_path("seen")
        words = ["sh", "-c", f'cat {BOOT_ID} /proc/uptime >"$1"', "sh", seen]
        process = self.spawn(words, self.new_path("log"), boot=boot)
        process.wait(10)
        text = seen.read_text().split() if seen.exists() else []
        if len(text) >= 2 and text[0] == boot.id and 6 <= float(text[1]) <= 17:
            return None
        return "this kernel gives root no time namespace, or no mount over the boot id"

    def end_all(self):
        for process in self._processes:
            process.end()
        for disk in self._disks:
            subprocess.run(["umount", "--lazy", disk], check=False)
        for pid in self._shared:
            for name in (f"sem.faketime_sem_{pid}", f"faketime_shm_{pid}"):
                Path("/dev/shm", name).unlink(missing_ok=True)
        self._processes, self._disks, self._shared = [], [], []

    # Folders and disks

    def new_path(self, name):
        self._number += 1
        return self.folder / f"{name}-{self._number}"

    def new_folder(self, name):
        path = self.new_path(name)
        path.mkdir(mode=0o700)
        return path

    def small_disk(self, megabytes):
        """A folder on a file system of its own."""
        path = self.new_folder("disk")
        words = ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m,mode=700", "none", str(path)]
        subprocess.run(words, check=True, capture_output=True)
        self._disks.append(path)
        return path

    def _try_disk(self):
        try:
            full = FullDisk(self.small_disk(1))
        except (OSError, subprocess.CalledProcessError):
            return "mounting is not allowed here"
        return None if full.is_full else "a small disk cannot be filled here"


class FullDisk:
    """A disk without room, until it is given back."""

    def __init__(self, folder):
        self._ballast = folder / "ballast"
        with open(self._ballast, "wb", buffering=0) as file:
            for size in (1 << 20, 4096, 1):
                try:
                    while file.write(bytes(size)):
                        pass
                except OSError:
                    continue

    @property
    def is_full(self):
        """Whether another file gets not a single byte."""
        probe = self._ballast.with_name("probe")
        try:
            with open(probe, "wb", buffering=0) as file:
                file.write(b"x")
        except OSError:
            return True
        finally:
            probe.unlink(missing_ok=True)
        return False

    def give_back(self):
        self._ballast.unlink()


def copy_store(source, target):
    """Puts a copy in place of a store, which is a folder or a file."""
    if target.is_dir():
        shutil.rmtree(target)
    if source.is_dir():
        shutil.copytree(source, target, copy_function=shutil.copy2)
    else:
        shutil.copy2(source, target)


def free_port():
    """A port of the loopback address that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
