"""Coffer: the real limiter and the real authority, asked over the bus by the client in Python."""

import contextlib
import json
import subprocess
import sys
import time
from pathlib import Path

import zmq
from machine import Trouble
from system import Answer, Reply, System

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "interop"))
from client import Refusal, Service, compact, pack  # noqa: E402

LIMITER, AUTHORITY = "attempt-limiter", "credential-authority"
RESULTS = {"verified": Answer.RIGHT, "wrong": Answer.WRONG, "cooling_down": Answer.REFUSED}
VERIFY = {"scope": "app_unlock", "audience": []}
PATIENCE_MS = 60_000


class Coffer(System):
    name = "coffer"
    threshold = 6
    wait_s = 60
    promise = (
        "Six evaluations since the count was last lowered, then one in 60 s, whatever is killed,"
        " restarted, repeated or sent in parallel (docs/threat-model.md)."
    )
    waits_on_boot_clock = True
    right_code = "284711"
    wrong_code = "999999"
    stores = (LIMITER, AUTHORITY)

    def __init__(self, machine, programs):
        super().__init__(machine)
        self._programs = Path(programs)
        self._context = zmq.Context()
        self._running = {}

    def version(self):
        return self._run("version").strip()

    def settings(self):
        return ["kdf_target_ms = 1, which gives the least that there is: 600,000 iterations"]

    def install(self, folder):
        self.home = folder
        self._run("init", "--home", folder, "--run", folder / "run")
        with open(folder / "coffer.conf", "a", encoding="utf-8") as file:
            file.write("\nkdf_target_ms = 1\n")
        self.start()
        with contextlib.closing(self.connect()) as connection:
            connection.set_passcode(self.right_code)

    def start(self):
        for name in (LIMITER, AUTHORITY):
            self._running[name] = self._spawn(name)
        self._wait_until_whole()

    def stop(self, number):
        for name in list(self._running):
            self._running.pop(name).end(number)

    def connect(self, endpoint=None):
        return Connection(Service(self._context, self.home, AUTHORITY, endpoint=endpoint))

    def guess_all(self, connection, codes):
        return connection.guess_all(codes)

    def evaluations(self):
        with contextlib.closing(self.connect()) as connection:
            return connection.metric("coffer_kdf_runs_total")

    def told_wall_time(self):
        tries = self.standing()["tries"]
        return tries[-1]["at_ms"] / 1000 if tries else None

    def store_path(self, name):
        return self.home / "state" / name

    def recover(self, seconds):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            for name, process in self._running.items():
                if process.has_ended:
                    self._running[name] = self._spawn(name)
            if self._is_whole():
                return
            # As long as runit waits.
            time.sleep(1)

    def start_second(self):
        """With sockets of their own, so that nothing but the state is shared."""
        endpoints = {name: f"ipc://{self.home}/run/second-{name}.sock" for name in self._running}
        settings = self.home / "coffer.conf"
        kept = settings.read_text()
        more = "".join(f"endpoint.{name} = {value}\n" for name, value in endpoints.items())
        settings.write_text(kept + more)
        second = {name: self._spawn(name, "second") for name in endpoints}
        end = time.monotonic() + 5
        while time.monotonic() < end and not all(one.has_ended for one in second.values()):
            time.sleep(0.02)
        settings.write_text(kept)
        if all(one.has_ended for one in second.values()):
            said = self._log(LIMITER, "second").read_text().strip().splitlines()
            return None, f"both second services end at once (\"{said[-1].split('/')[-1]}\")"
        return self.connect(endpoints[AUTHORITY]), "a second one serves"

    # For Coffer's own rules.

    def standing(self):
        with contextlib.closing(self.connect()) as connection:
            return connection.standing()

    # Help

    def _run(self, *words):
        words = [str(word) for word in (self._programs / "coffer", *words)]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise Trouble(f"coffer {words[1]} ends with {done.returncode}: {done.stderr}")
        return done.stdout

    def _log(self, name, which="first"):
        return self.machine.folder / f"{name}-{which}.log"

    def _spawn(self, name, which="first"):
        words = [self._programs / name, "serve", "--home", self.home]
        log = self._log(name, which)
        return self.machine.spawn(words, log, boot=self.boot, clock=self.clock)

    def _wait_until_whole(self):
        end = time.monotonic() + 30
        while not self._is_whole():
            for name, process in self._running.items():
                if process.has_ended:
                    raise Trouble(f"{name} ended: {self._log(name).read_text()[-600:]}")
            if time.monotonic() > end:
                raise Trouble(f"Coffer does not answer: {self._log(AUTHORITY).read_text()[-600:]}")
            time.sleep(0.02)

    def _is_whole(self):
        """Whether the authority answers, and the limiter answers the authority."""
        try:
            return self.standing()["limiter_answers"]
        except Refusal:
            return False


class Connection:
    """Guesses over one link to the authority."""

    def __init__(self, service):
        self._service = service

    def close(self):
        self._service.socket.disable_monitor()
        self._service.socket.close(0)

    def guess(self, code):
        try:
            body, _ = self._service.call(
                "authority.verify", VERIFY, attachments=[code.encode()], timeout_ms=PATIENCE_MS)
        except Refusal as refusal:
            return Reply(Answer.FAILED, refusal.code)
        return read(body)

    def guess_all(self, codes):
        """Sends every guess before it reads the first reply; what was too much is sent again."""
        service = self._service
        service.wait_until_ready(30)
        waiting = {}
        for code in codes:
            waiting[self._send(code)] = code
        replies = []
        while waiting and service.socket.poll(PATIENCE_MS):
            head, content, *_ = service.socket.recv_multipart()
            reply, body = json.loads(head), json.loads(content)
            code = waiting.pop(reply["id"], None)
            if code is None:
                continue
            if reply["status"] != "error":
                replies.append(read(body))
            elif body["code"] == "bus.busy":
                time.sleep(body["retry_after_ms"] / 1000)
                waiting[self._send(code)] = code
            else:
                replies.append(Reply(Answer.FAILED, body["code"]))
        return replies

    def _send(self, code):
        service = self._service
        service.last_id += 1
        header = {
            "v": 1, "id": service.last_id, "method": "authority.verify",
            "owner": service.owner, "timeout_ms": PATIENCE_MS,
        }
        service.socket.send_multipart(
            [compact(header), b"", compact(VERIFY), pack(code.encode())])
        return service.last_id

    def set_passcode(self, code):
        self._service.change(
            "authority.set_passcode", {"kind": "digits6"}, attachments=[code.encode()])

    def standing(self):
        return self._service.call("authority.status")[0]

    def metric(self, name):
        text = self._service.call("authority.metrics")[0]["text"]
        line = next((one for one in text.splitlines() if one.startswith(name + " ")), None)
        return int(line.split()[1]) if line else 0


def read(body):
    return Reply(RESULTS[body["result"]])
