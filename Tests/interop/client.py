"""A minimal client of Coffer. Python 3.11 or later, pyzmq 24 or later."""

import json
import os
import secrets
import sys
import time

import zmq
from zmq.auth import load_certificate
from zmq.utils.monitor import recv_monitor_message

SOCKETS = {
    "credential-authority": "authority.sock",
    "attempt-limiter": "limiter.sock",
    "wallet-vault": "vault.sock",
    "backup-shares": "shares.sock",
    "migration": "migration.sock",
}


class Refusal(Exception):
    """The absence of an answer: what went wrong, and whether anything happened."""

    def __init__(self, code, message, outcome, retry_after_ms=None):
        super().__init__(f"{code}: {message}")
        self.code = code
        self.outcome = outcome
        self.retry_after_ms = retry_after_ms


def pack(secret):
    """The frame of an attachment: length, bytes, zeros up to a multiple of 64."""
    frame = len(secret).to_bytes(4, "big") + secret
    return frame + bytes(-len(frame) % 64)


def unpack(frame):
    count = int.from_bytes(frame[:4], "big")
    secret = frame[4 : 4 + count]
    if len(secret) != count or frame != pack(secret):
        raise ValueError("this frame is not an attachment")
    return secret


def compact(value):
    return json.dumps(value, separators=(",", ":")).encode()


class Service:
    """A connection to one service, which speaks for one owner."""

    def __init__(self, context, home, name, owner="local", key="coffer", endpoint=None):
        server_key, _ = load_certificate(f"{home}/keys/{name}.key")
        public_key, secret_key = load_certificate(f"{home}/keys/{key}.key_secret")
        self.name = name
        self.owner = owner
        self.last_id = 0
        self.settled = []
        self.is_ready = False
        self.socket = context.socket(zmq.DEALER)
        self.socket.linger = 0
        self.socket.curve_serverkey = server_key
        self.socket.curve_publickey = public_key
        self.socket.curve_secretkey = secret_key
        self.monitor = self.socket.get_monitor_socket(
            zmq.EVENT_HANDSHAKE_SUCCEEDED | zmq.EVENT_HANDSHAKE_FAILED_AUTH
        )
        self.socket.connect(endpoint or f"ipc://{home}/run/{SOCKETS[name]}")

    def wait_until_ready(self, seconds=2.0):
        """Sending to a dead service succeeds, so look at the handshake first."""
        end = time.monotonic() + seconds
        while not self.is_ready:
            if not self.monitor.poll(max(0, int((end - time.monotonic()) * 1000))):
                raise Refusal("bus.unreachable", f"{self.name} cannot be reached", "rejected")
            event = recv_monitor_message(self.monitor)["event"]
            if event == zmq.EVENT_HANDSHAKE_FAILED_AUTH:
                raise Refusal("bus.unadmitted", f"{self.name} does not know our key", "rejected")
            self.is_ready = event == zmq.EVENT_HANDSHAKE_SUCCEEDED

    def call(self, method, body=None, token=b"", attachments=(), key=None, timeout_ms=5000):
        """Sends a request and gives the reply's body and attachments."""
        self.wait_until_ready()
        self.last_id += 1
        header = {
            "v": 1,
            "id": self.last_id,
            "method": method,
            "owner": self.owner,
            "timeout_ms": timeout_ms,
        }
        if key:
            header["idempotency"] = key
            header["settled"] = self.settled[:128]
        frames = [compact(header), token, compact(body or {})]
        self.socket.send_multipart(frames + [pack(secret) for secret in attachments])
        end = time.monotonic() + timeout_ms / 1000
        while self.socket.poll(max(0, int((end - time.monotonic()) * 1000))):
            head, content, *rest = self.socket.recv_multipart()
            reply = json.loads(head)
            if reply["id"] != self.last_id:
                continue  # a late answer to a request that was given up
            if reply["status"] == "error":
                refusal = json.loads(content)
                raise Refusal(
                    refusal["code"],
                    refusal["message"],
                    refusal["outcome"],
                    refusal.get("retry_after_ms"),
                )
            if key:
                del self.settled[:128]
            return json.loads(content), [unpack(frame) for frame in rest]
        raise Refusal("bus.expired", f"{self.name} did not answer in time", "unknown")

    def change(self, method, body=None, token=b"", attachments=(), attempts=5):
        """Makes a change once, however often it has to be sent."""
        key = secrets.token_hex(16)
        for attempt in range(attempts):
            try:
                reply, _ = self.call(method, body, token, attachments, key)
                break
            except Refusal as refusal:
                if refusal.outcome == "rejected":
                    self.settled.append(key)
                    raise
                if attempt == attempts - 1:
                    raise
                time.sleep((refusal.retry_after_ms or 200) / 1000)
        self.settled.append(key)
        return reply


def unlock(authority, passcode, scope, audience, **details):
    """A session of one scope, or a sentence that says why there is none."""
    body = {"scope": scope, **details, "audience": audience}
    reply, attachments = authority.call(
        "authority.verify", body, attachments=[passcode], timeout_ms=30_000
    )
    if reply["result"] == "verified":
        return attachments[0]
    raise SystemExit(f"{reply['result']}: {reply['failed']} failed, wait {reply['remaining_ms']} ms")


def main(home):
    context = zmq.Context()
    authority = Service(context, home, "credential-authority")
    vault = Service(context, home, "wallet-vault")
    passcode = sys.stdin.buffer.readline().removesuffix(b"\n")

    status, _ = authority.call("authority.status")
    if "kind" not in status:
        authority.change("authority.set_passcode", {"kind": "digits6"}, attachments=[passcode])
    session = unlock(authority, passcode, "resource", ["wallet-vault"], namespace="example")
    listing, _ = vault.call("vault.list", {"namespace": "example"}, session)
    if not listing["wallets"]:
        wanted = {"namespace": "example", "label": "From Python", "words": 12}
        listing["wallets"] = [vault.change("vault.create", wanted, session)]
    place = {"namespace": "example", "wallet": listing["wallets"][0]["wallet"]}
    proof = unlock(authority, passcode, "sign", ["wallet-vault"], **place)
    path = {"scheme": "ed25519", "path": "m/44'/501'/0'/0'"}
    signed, _ = vault.call("vault.sign", {**place, **path}, proof, [b"a message"])
    print(json.dumps(signed))


if __name__ == "__main__":
    main(os.environ["COFFER_HOME"])
