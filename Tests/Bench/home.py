"""An installation in a folder of its own, whose services run as long as a measurement."""

import os
import secrets
import signal
import socket
import subprocess
import time
from pathlib import Path

import zmq
from client import SOCKETS, Refusal, Service
from zmq.auth import load_certificate


LIMITER, AUTHORITY, VAULT, SHARES, MIGRATION = (
    "attempt-limiter", "credential-authority", "wallet-vault", "backup-shares", "migration")
SERVICES = (LIMITER, AUTHORITY, VAULT, SHARES, MIGRATION)
PASSCODE = b"284711"
NAMESPACE = "bench"
# 256 clients with one key, and thousands of sessions that live at once.
SETTINGS = """
limits.in_flight_per_peer = 1024
limits.unsettled_per_peer = 65536
limits.sessions = 1000000
"""


class Trouble(Exception):
    """The measurement cannot go on."""


class Home:
    """Its folder, its processes, and requests to them."""

    def __init__(self, folder, programs, settings=SETTINGS):
        self.path = Path(folder)
        self.programs = Path(programs)
        self.processes = {}
        self.context = zmq.Context()
        self._links = {}
        self._settings = settings

    def make(self):
        self.run("coffer", "init", "--home", self.path)
        with open(self.path / "coffer.conf", "a", encoding="utf-8") as file:
            file.write(self._settings)
        # The command speaks for every owner of the measurements.
        entry = self.path / "peers" / "coffer.key"
        entry.write_text(entry.read_text().replace('owners = "local"', 'owners = "*"'))

    def run(self, program, *words):
        words = [str(word) for word in (self.programs / program, *words)]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise Trouble(f"{program} {words[1]} ends with {done.returncode}: {done.stderr}")
        return done.stdout

    # Processes

    def start(self, names=SERVICES):
        for name in names:
            self.spawn(name)
        for name in names:
            self.wait_serving(name, healthy=True)

    def spawn(self, name):
        with open(self.path / f"{name}.log", "ab") as log:
            self.processes[name] = subprocess.Popen(
                [self.programs / name, "serve", "--home", self.path],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def wait_serving(self, name, healthy=False, seconds=60):
        """Until the service answers, on a connection of its own that is tried again at once."""
        end = time.monotonic() + seconds
        while not self._listens(name):
            if time.monotonic() > end or self.processes[name].poll() is not None:
                log = (self.path / f"{name}.log").read_text()[-600:]
                raise Trouble(f"{name} does not listen: {log}")
            time.sleep(0.0005)
        method = f"{SOCKETS[name].removesuffix('.sock')}.health"
        link = self.connect(name)
        while time.monotonic() < end:
            answer, _ = link.call(method, timeout_ms=30_000)
            if answer["healthy"] or not healthy:
                return
            time.sleep(0.005)
        raise Trouble(f"{name} does not become healthy")

    def _listens(self, name):
        with socket.socket(socket.AF_UNIX) as probe:
            try:
                probe.connect(str(self.path / "run" / SOCKETS[name]))
            except OSError:
                return False
        return True

    def kill(self, name):
        self.processes[name].kill()
        self.processes[name].wait()

    def stop(self):
        for link in self._links.values():
            close(link)
        self._links = {}
        for process in self.processes.values():
            process.send_signal(signal.SIGTERM)
        for process in self.processes.values():
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self.processes = {}

    def pin(self, name, core):
        """Keeps all threads of a service on one core, or on any where none is named."""
        cores = {core} if core is not None else range(os.cpu_count() or 1)
        for thread in os.listdir(f"/proc/{self.processes[name].pid}/task"):
            os.sched_setaffinity(int(thread), cores)

    # Requests

    def connect(self, name, owner="local"):
        link = Service(self.context, self.path, name, owner=owner)
        link.wait_until_ready(60)
        return link

    def link(self, name, owner="local"):
        """A connection that is kept."""
        if (name, owner) not in self._links:
            self._links[name, owner] = self.connect(name, owner)
        return self._links[name, owner]

    def call(self, name, method, body=None, token=b"", attachments=(), owner="local", **more):
        """Asks, and asks again where a refusal says when."""
        link = self.link(name, owner)
        while True:
            try:
                return link.call(method, body, token, attachments, timeout_ms=30_000, **more)
            except Refusal as refusal:
                if refusal.retry_after_ms is None:
                    raise
                time.sleep(refusal.retry_after_ms / 1000)

    def verify(self, scope, audience, owner="local", **details):
        body = {"scope": scope, **details, "audience": audience}
        reply, attachments = self.call(
            AUTHORITY, "authority.verify", body, attachments=[PASSCODE], owner=owner)
        if reply["result"] != "verified":
            raise Trouble(f"an unlock answers {reply}")
        return attachments[0]

    def change(self, name, method, body, token=b"", attachments=(), owner="local"):
        key = secrets.token_hex(16)
        return self.call(name, method, body, token, attachments, owner, key=key)[0]

    def enrol(self, owner="local"):
        """Gives an owner a passcode, a wallet, and sessions without the passcode."""
        self.change(
            AUTHORITY, "authority.set_passcode", {"kind": "digits6"}, attachments=[PASSCODE],
            owner=owner)
        settings = self.verify("settings", [], owner)
        self.change(
            AUTHORITY, "authority.set_sign_policy", {"policy": "session"}, settings, owner=owner)
        self.change(
            AUTHORITY, "authority.set_protection", {"protection": False}, settings, owner=owner)
        wanted = {"namespace": NAMESPACE, "label": "A label", "words": 12}
        token = self.session([VAULT], owner)
        return self.change(VAULT, "vault.create", wanted, token, owner=owner)["wallet"]

    def session(self, audience, owner="local", namespace=NAMESPACE):
        """A session without a passcode, for an owner whose gate is open."""
        body = {"scope": "resource", "namespace": namespace, "audience": audience}
        return self.call(AUTHORITY, "authority.open_session", body, owner=owner)[1][0]

    # What the load generator needs

    def endpoint(self, name):
        return f"ipc://{self.path}/run/{SOCKETS[name]}"

    def bus_words(self, name):
        """Where it connects to and with which keys."""
        server, _ = load_certificate(f"{self.path}/keys/{name}.key")
        public, secret = load_certificate(f"{self.path}/keys/coffer.key_secret")
        return [self.endpoint(name), server.decode(), public.decode(), secret.decode()]


def header(method, owner="local", changes=False):
    """A header with the places that the load generator fills in."""
    more = ',"settled":[@SETTLED@],"idempotency":"@KEY@"' if changes else ""
    return f'{{"v":1,"id":@ID@,"method":"{method}","owner":"{owner}","timeout_ms":30000{more}}}'


def close(link):
    link.socket.disable_monitor()
    link.socket.close(0)
