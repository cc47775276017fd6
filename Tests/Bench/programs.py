"""The key derivation, and what the programs take to start, to come back, to revoke and to hold."""

import contextlib
import json
import shutil
import sqlite3
import statistics
import subprocess
import time

from client import Refusal
from home import AUTHORITY, MIGRATION, NAMESPACE, SERVICES, SHARES, VAULT
from measure import OPENBAO, Row, Target, last_core, proportional_memory

PROBE = {"scope": "app_unlock", "audience": []}


def kdf(bench):
    """Iterations a second on one core, by the product's code and by OpenSSL's function."""
    count = 100_000 if bench.short else 1_000_000
    yield bench.compare(
        "key derivation", "iterations/s", Target(2, at_most=False),
        lambda: count / bench.seconds(bench.programs / "time-kdf", count, core=last_core()),
        lambda: count / bench.seconds(bench.folder / "pbkdf2", count, core=last_core()),
        "OpenSSL")


def unlock(bench):
    """A right passcode from request to reply, and its derivation alone, both on one core."""
    home, core = bench.home, last_core()
    count = iterations(bench)
    home.pin(AUTHORITY, core)
    # What follows is the unlock's own cost only once: the first one meets cold caches.
    verify(home)
    yield bench.compare(
        "unlock", "ms", Target(1.03), lambda: 1000 * verify(home),
        lambda: 1000 * bench.seconds(bench.programs / "time-kdf", count, core=core),
        "its derivation alone")
    home.pin(AUTHORITY, None)


def verify(home):
    begun = time.perf_counter()
    home.verify(**PROBE)
    return time.perf_counter() - begun


def iterations(bench):
    """Of the owner's passcode, read from a copy of the store, which nobody else may open."""
    copy = bench.folder / "copy"
    shutil.copytree(bench.home.path / "state" / AUTHORITY, copy)
    with contextlib.closing(sqlite3.connect(copy / "store.sqlite")) as store:
        record = store.execute("SELECT record FROM credentials WHERE owner = 'local'").fetchone()
    shutil.rmtree(copy)
    return json.loads(record[0])["iterations"]


def revocation(bench):
    """From sending a lock to the first refusal of each service, of sessions that were in use."""
    home, owner = bench.home, "passcodeless"
    home.enrol(owner)
    settings = home.verify("settings", [], owner)
    home.change(AUTHORITY, "authority.disable_passcode", {}, settings, owner=owner)
    times = {VAULT: [], SHARES: [], MIGRATION: []}
    for _ in range(10 if bench.short else 200):
        home.call(AUTHORITY, "authority.unlock", owner=owner)
        split = home.session([VAULT, SHARES], owner)
        moved = home.session([VAULT, MIGRATION], owner)
        absent = {"source": "/nonexistent", "network": "mainnet", "namespace": NAMESPACE}
        asked = {
            VAULT: ("vault.list", {"namespace": NAMESPACE}, split),
            SHARES: ("shares.splits", {"namespace": NAMESPACE}, split),
            MIGRATION: ("migration.verify", absent, moved),
        }
        for name in asked:
            is_refused(home, name, owner, *asked[name])
        for name, seconds in first_refusals(home, owner, asked).items():
            times[name].append(1000 * seconds)
    slowest = max(times.values(), key=percentile)
    yield Row(
        "revocation in the slowest service, p99", "ms", percentile(slowest),
        Target(5, of_ratio=False))


def first_refusals(home, owner, asked):
    """When each service refused first after a lock was sent; each is asked again and again."""
    authority = home.link(AUTHORITY, owner)
    authority.last_id += 1
    lock = {"v": 1, "id": authority.last_id, "method": "authority.lock", "owner": owner,
            "timeout_ms": 5000}
    found = {}
    begun = time.perf_counter()
    authority.socket.send_multipart([json.dumps(lock).encode(), b"", b"{}"])
    while len(found) < len(asked):
        for name in asked:
            if name not in found and is_refused(home, name, owner, *asked[name]):
                found[name] = time.perf_counter() - begun
    authority.socket.poll(5000)
    authority.socket.recv_multipart()
    return found


def is_refused(home, name, owner, method, body, token):
    """Whether the session is over; that a source is not there says that it is not."""
    try:
        home.call(name, method, body, token, owner=owner)
    except Refusal as refusal:
        return refusal.code.startswith("session.")
    return False


def percentile(values):
    return sorted(values)[min(len(values) - 1, int(0.99 * len(values)))]


def restart(bench):
    """From SIGKILL to the first answer, started again at once; the slowest of the services."""
    home = bench.home
    medians = []
    for name in SERVICES:
        figures = []
        for _ in range(2 if bench.short else 10):
            begun = time.perf_counter()
            home.kill(name)
            home.spawn(name)
            home.wait_serving(name)
            figures.append(1000 * (time.perf_counter() - begun))
        medians.append(statistics.median(figures))
    for name in SERVICES:
        home.wait_serving(name, healthy=True)
    # An authority that began anew knows no open gate.
    home.verify(**PROBE)
    yield Row(
        "kill -9 to serving, slowest service", "ms", max(medians), Target(150, of_ratio=False))


def command(bench):
    """`coffer version`, from its start to its end."""
    figures = []
    for _ in range(5 if bench.short else 40):
        begun = time.perf_counter()
        subprocess.run([bench.programs / "coffer", "version"], capture_output=True, check=True)
        figures.append(1000 * (time.perf_counter() - begun))
    yield Row("command start", "ms", statistics.median(figures), Target(20, of_ratio=False))


def memory(bench):
    """All services and OpenBao after a start, when nobody asks anything."""
    fresh = bench.new_home("idle")
    fresh.make()
    fresh.start()
    time.sleep(1)
    total = sum(proportional_memory(process.pid) for process in fresh.processes.values())
    fresh.stop()
    rival = proportional_memory(bench.bao.process.pid) if bench.bao else None
    yield Row(
        "memory of five idle services", "MB", total, Target(1), rival, f"{OPENBAO}, idle",
        total / rival if rival else None)
