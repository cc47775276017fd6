"""From one owner with one wallet to a hundred thousand."""

import contextlib
import shutil
import sqlite3
import statistics
import time

from home import AUTHORITY, LIMITER, NAMESPACE, VAULT, header
from measure import Row, Target, progress

OWNERS = (1, 10, 100, 1_000, 10_000, 100_000)
OWNERS_SHORT = (1, 1_000)
STORES = (LIMITER, AUTHORITY, VAULT)
FIRST = "o000000"
# The columns that differ from owner to owner, beside the name: everyone has an enrolment.
TABLES = {
    LIMITER: {"owners": "enrolment", "ledgers": None},
    AUTHORITY: {"credentials": "enrolment", "policies": None},
    VAULT: {"wallets": None, "envelopes": None},
}


class Grown:
    """An installation with so many owners, all of them copies of the first."""

    def __init__(self, bench, first, count):
        self.bench, self.count = bench, count
        self.home = bench.new_home(f"owners-{count}")
        shutil.copytree(first.path, self.home.path, symlinks=True)
        for name, tables in TABLES.items():
            path = self.home.path / "state" / name / "store.sqlite"
            with contextlib.closing(sqlite3.connect(path)) as store:
                for table, enrolment in tables.items():
                    copy_rows(store, table, enrolment, count)
                store.commit()
        self.home.start(STORES)
        self.home.verify("app_unlock", [], FIRST)
        self._session = self.home.session([VAULT], FIRST)

    def status(self):
        """Of owners drawn at random: the authority's store and the limiter's."""
        asked = header("authority.status", "@OWNER@")
        return self.bench.bus(self.home, AUTHORITY, asked, {}, "-o", self.count)

    def check(self, wallet):
        """Of the first owner's wallet: the vault's store."""
        body = {"namespace": NAMESPACE, "wallet": wallet}
        asked = header("vault.check", FIRST)
        return self.bench.bus(self.home, VAULT, asked, body, tokens=[self._session])

    def starts(self):
        """How long each store's service takes from start to serving, the slowest, in ms."""
        slowest = 0
        for name in STORES:
            figures = []
            for _ in range(self.bench.repeats):
                begun = time.perf_counter()
                self.home.kill(name)
                self.home.spawn(name)
                self.home.wait_serving(name)
                figures.append(1000 * (time.perf_counter() - begun))
            slowest = max(slowest, statistics.median(figures))
        return slowest


def copy_rows(store, table, enrolment, count):
    """Copies the first owner's rows for every other owner."""
    columns = [row[1] for row in store.execute(f"PRAGMA table_info({table})")]
    columns = [column for column in columns if column not in ("owner", "position")]
    values = [
        "CAST(printf('%016u', number) AS BLOB)" if column == enrolment else column
        for column in columns]
    store.execute(
        f"""
        WITH RECURSIVE others (number) AS (
            SELECT 1 WHERE ?1 > 1 UNION ALL SELECT number + 1 FROM others WHERE number + 1 < ?1)
        INSERT INTO {table} (owner, {", ".join(columns)})
        SELECT printf('o%06u', number), {", ".join(values)}
        FROM others, (SELECT * FROM {table} WHERE owner = '{FIRST}')
        """, (count,))


def owners(bench):
    first = bench.new_home("first")
    first.make()
    first.start(STORES)
    wallet = first.enrol(FIRST)
    first.stop()
    sizes = OWNERS_SHORT if bench.short else OWNERS
    points = {}
    grown = {}
    for count in sizes:
        progress(f"  {count} owners")
        one = grown[count] = Grown(bench, first, count)
        points[count] = {"status": one.status(), "check": one.check(wallet)}
    fewest, most = grown[sizes[0]], grown[sizes[-1]]
    name = f"{sizes[-1]:,} owners".replace(",", " ")
    for label, run in (("status", Grown.status), ("check", lambda one: one.check(wallet))):
        yield bench.compare(
            f"p99 at {name}, {label}", "us", Target(1.2), lambda: run(most)["p99"],
            lambda: run(fewest)["p99"], f"p99 at {sizes[0]}")
    starts = {count: one.starts() for count, one in grown.items()}
    for one in grown.values():
        one.home.stop()
    bench.curves["owners"] = {
        "counts": list(sizes), "start": [starts[count] for count in sizes], **{
            f"{label} {share}": [points[count][label][share] for count in sizes]
            for label in ("status", "check") for share in ("p50", "p99")}}
    yield Row(
        f"start at {name}, slowest service", "ms", starts[sizes[-1]], None, starts[sizes[0]],
        f"start at {sizes[0]}", starts[sizes[-1]] / starts[sizes[0]])
