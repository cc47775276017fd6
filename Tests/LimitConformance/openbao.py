"""OpenBao: one server with its `userpass` method and user lockout, asked over HTTP on loopback.

Storage is raft on the local disk, as its documentation recommends; there is no TLS, which has no
part in the limit.
"""

import contextlib
import http.client
import json
import subprocess
import time

from machine import Trouble, free_port
from system import Answer, Reply, System

# As the documentation has them; written out so that they stand in the report.
LOCKOUT = {
    "lockout_threshold": "5", "lockout_duration": "15m", "lockout_counter_reset": "15m",
}
LOGIN = "/v1/auth/userpass/login/somebody"
# 403 is what a locked user gets, 400 a wrong password.
ANSWERS = {200: Answer.RIGHT, 400: Answer.WRONG, 403: Answer.REFUSED}


class OpenBao(System):
    name = "openbao"
    threshold = 5
    wait_s = 15 * 60
    promise = (
        "Five failures, the default threshold, lock the user for 15 minutes; the count is reset by"
        " a success and after 15 minutes without a try (openbao.org/docs/concepts/user-lockout)."
        " What a restart or guesses at once do to the count is not said."
    )
    disk_mb = 96
    without = {
        "wall clock set": "the server is one static program, which libfaketime does not reach",
    }

    def __init__(self, machine, program):
        super().__init__(machine)
        self._program = program
        self._server = None

    def version(self):
        done = subprocess.run(
            [self._program, "version"], capture_output=True, text=True, check=True)
        return done.stdout.split(",")[0].strip()

    def settings(self):
        lockout = ", ".join(f"{name} = {value}" for name, value in LOCKOUT.items())
        return [f"userpass, {lockout}", "one node, raft storage, no TLS"]

    def install(self, folder):
        self.folder = folder
        (folder / "raft").mkdir()
        self._server = Server(self, "first")
        self._server.begin()
        made = self._ask("PUT", "/v1/sys/init", {"secret_shares": 1, "secret_threshold": 1})
        self._key, self._token = made["keys"][0], made["root_token"]
        self._server.unseal(self._key)
        self._ask("POST", "/v1/sys/auth/userpass", {"type": "userpass"})
        self._ask("POST", "/v1/auth/userpass/users/somebody", {"password": self.right_code})

    def start(self):
        self._server.begin()
        self._server.unseal(self._key)

    def stop(self, number):
        self._server.process.end(number)

    def connect(self):
        return Connection(self._server.port)

    def start_second(self):
        second = Server(self, "second")
        try:
            second.begin(seconds=10)
            second.unseal(self._key, seconds=10)
        except Trouble as trouble:
            second.process.end()
            return None, f"the second one does not come to serve ({trouble})"
        return Connection(second.port), "a second one serves"

    def recover(self, seconds):
        if self._server.process.has_ended:
            with contextlib.suppress(Trouble):
                self._server.begin(seconds)
                self._server.unseal(self._key, seconds)

    def _ask(self, method, path, body):
        return self._server.ask(method, path, body, getattr(self, "_token", None))


class Server:
    """One server process, on ports of its own."""

    def __init__(self, system, name):
        self._system, self._name = system, name
        self.port, self._cluster_port = free_port(), free_port()
        self.process = None

    def begin(self, seconds=20):
        """Starts it and waits until it answers at all."""
        system = self._system
        settings = system.machine.folder / f"bao-{self._name}.hcl"
        settings.write_text(self._settings())
        self._log = system.machine.folder / f"bao-{self._name}.log"
        words = [system._program, "server", f"-config={settings}"]
        self.process = system.machine.spawn(words, self._log, boot=system.boot)
        self._wait("answer", lambda: self.ask("GET", "/v1/sys/seal-status") is not None, seconds)

    def unseal(self, key, seconds=20):
        self.ask("PUT", "/v1/sys/unseal", {"key": key})
        self._wait("become active", self._is_active, seconds)

    def ask(self, method, path, body=None, token=None):
        """The body of the reply; it is a trouble where there is none."""
        link = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        headers = {"X-Vault-Token": token} if token else {}
        with contextlib.closing(link):
            link.request(method, path, json.dumps(body) if body else None, headers)
            reply = link.getresponse()
            text = reply.read()
        if reply.status >= 300:
            raise Trouble(f"{path} answers {reply.status}: {text.decode()}")
        return json.loads(text) if text else {}

    def _is_active(self):
        return "version" in self.ask("GET", "/v1/sys/health")

    def _wait(self, what, is_there, seconds):
        end = time.monotonic() + seconds
        while time.monotonic() < end and not self.process.has_ended:
            with contextlib.suppress(OSError, http.client.HTTPException, Trouble):
                if is_there():
                    return
            time.sleep(0.05)
        last = (self._log.read_text().strip().splitlines() or [""])[-1]
        raise Trouble(f"it did not {what} in {seconds} s; last line of its log: {last[-200:]}")

    def _settings(self):
        lockout = "\n".join(f'  {name} = "{value}"' for name, value in LOCKOUT.items())
        return f"""
storage "raft" {{
  path = "{self._system.folder}/raft"
  node_id = "one"
}}
listener "tcp" {{
  address = "127.0.0.1:{self.port}"
  cluster_address = "127.0.0.1:{self._cluster_port}"
  tls_disable = true
}}
api_addr = "http://127.0.0.1:{self.port}"
cluster_addr = "http://127.0.0.1:{self._cluster_port}"
user_lockout "userpass" {{
{lockout}
}}
"""


class Connection:
    """Guesses over one connection that is kept open."""

    def __init__(self, port):
        self._link = http.client.HTTPConnection("127.0.0.1", port, timeout=60)

    def close(self):
        self._link.close()

    def guess(self, code):
        try:
            self._link.request("POST", LOGIN, json.dumps({"password": code}))
            reply = self._link.getresponse()
            text = reply.read()
        except (OSError, http.client.HTTPException) as error:
            self._link.close()
            return Reply(Answer.FAILED, type(error).__name__)
        if reply.status in ANSWERS:
            return Reply(ANSWERS[reply.status])
        return Reply(Answer.FAILED, f"{reply.status} {text.decode()[:120].strip()}")
