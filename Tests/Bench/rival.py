"""OpenBao beside Coffer: one server on loopback with raft storage on the same disk, without TLS."""

import base64
import contextlib
import http.client
import json
import os
import secrets
import socket
import subprocess
import time

from home import Trouble

SECRET = "abandon " * 11 + "about"


class OpenBao:
    """A server with a secret of key/value version 1 and an Ed25519 key of transit."""

    def __init__(self, folder, program):
        self.folder = folder
        self.process = None
        self._program = program
        self._token = None

    def version(self):
        done = subprocess.run(
            [self._program, "version"], capture_output=True, text=True, check=True)
        return done.stdout.split(",")[0].strip()

    def start(self):
        (self.folder / "raft").mkdir(parents=True)
        self.port = free_port()
        settings = self.folder / "bao.hcl"
        settings.write_text(self._settings(self.port, free_port()))
        with open(self.folder / "bao.log", "wb") as log:
            self.process = subprocess.Popen(
                [self._program, "server", f"-config={settings}"], stdin=subprocess.DEVNULL,
                stdout=log, stderr=log, env={"PATH": os.environ["PATH"], "HOME": str(self.folder)})
        self._wait("GET", "/v1/sys/seal-status")
        made = self.ask("PUT", "/v1/sys/init", {"secret_shares": 1, "secret_threshold": 1})
        self.ask("PUT", "/v1/sys/unseal", {"key": made["keys"][0]})
        self._token = made["root_token"]
        self._wait("GET", "/v1/sys/health")
        self.ask("POST", "/v1/sys/mounts/kv", {"type": "kv", "options": {"version": "1"}})
        self.ask("POST", "/v1/sys/mounts/transit", {"type": "transit"})
        self.ask("POST", "/v1/kv/wallet", {"phrase": SECRET})
        self.ask("POST", "/v1/transit/keys/wallet", {"type": "ed25519"})
        # A token with a policy, as a client has one; root's is checked against none.
        rules = 'path "kv/*" { capabilities = ["create", "read", "update"] }\n' \
            'path "transit/sign/*" { capabilities = ["update"] }'
        self.ask("PUT", "/v1/sys/policies/acl/bench", {"policy": rules})
        wanted = {"policies": ["bench"], "no_parent": True}
        made = self.ask("POST", "/v1/auth/token/create", wanted)
        self._token = made["auth"]["client_token"]

    def stop(self):
        if self.process:
            self.process.terminate()
            self.process.wait(20)
            self.process = None

    def ask(self, method, path, body=None):
        link = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        headers = {"X-Vault-Token": self._token} if self._token else {}
        with contextlib.closing(link):
            link.request(method, path, json.dumps(body) if body else None, headers)
            reply = link.getresponse()
            text = reply.read()
        if reply.status >= 300:
            raise Trouble(f"OpenBao's {path} answers {reply.status}: {text.decode()}")
        return json.loads(text) if text else {}

    # Requests for the load generator

    def reading(self):
        return self._request("GET", "/v1/kv/wallet", None)

    def writing(self):
        return self._request("POST", "/v1/kv/another", {"phrase": SECRET})

    def signing(self):
        message = base64.b64encode(secrets.token_bytes(32)).decode()
        return self._request("POST", "/v1/transit/sign/wallet", {"input": message})

    def _request(self, method, path, body):
        """A file with the whole request."""
        content = json.dumps(body) if body else ""
        length = f"Content-Length: {len(content)}\r\n" if body else ""
        text = (
            f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Vault-Token: {self._token}\r\n"
            f"{length}\r\n{content}")
        file = self.folder / f"{method}-{path.replace('/', '-')}"
        file.write_text(text)
        return file

    def _wait(self, method, path, seconds=30):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            with contextlib.suppress(OSError, http.client.HTTPException, Trouble):
                return self.ask(method, path)
            time.sleep(0.05)
        raise Trouble(f"OpenBao does not answer: {(self.folder / 'bao.log').read_text()[-400:]}")

    def _settings(self, port, cluster_port):
        return f"""
storage "raft" {{
  path = "{self.folder}/raft"
  node_id = "one"
}}
listener "tcp" {{
  address = "127.0.0.1:{port}"
  cluster_address = "127.0.0.1:{cluster_port}"
  tls_disable = true
}}
api_addr = "http://127.0.0.1:{port}"
cluster_addr = "http://127.0.0.1:{cluster_port}"
"""


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
