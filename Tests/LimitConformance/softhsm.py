"""SoftHSM 2: a token in files, used through PKCS #11 by processes of their own.

There is no daemon: the library in each process reads the token's files. So a connection is a
process, which this file is as a program too: it reads codes and answers with what `C_Login` gives.
"""

import subprocess
import sys
from pathlib import Path

from system import Answer, Reply, System

LIBRARY = "/usr/lib/softhsm/libsofthsm2.so"
LABEL = "limits"


class SoftHSM(System):
    name = "softhsm"
    threshold = None
    promise = (
        "No limit: the token's files can be guessed against offline anyway, say its maintainers"
        " (softhsm/SoftHSMv2 issues 221 and 399); a slow key derivation is what it has instead."
    )
    without = {
        "count across SIGTERM": "a library, without a daemon and without a count",
        "count across SIGKILL": "a library, without a daemon and without a count",
        "two daemons on one state": "a library that many processes use at once, by design",
    }

    def version(self):
        words = ["dpkg-query", "-W", "-f", "SoftHSM ${Version}", "softhsm2"]
        return subprocess.run(words, capture_output=True, text=True, check=True).stdout

    def settings(self):
        return ["a user's PIN, object store `file`, defaults otherwise"]

    def install(self, folder):
        (folder / "tokens").mkdir()
        self._settings = folder / "softhsm2.conf"
        self._settings.write_text(f"directories.tokendir = {folder}/tokens\n")
        words = [
            "softhsm2-util", "--init-token", "--free", "--label", LABEL, "--so-pin", "46810357",
            "--pin", self.right_code,
        ]
        subprocess.run(words, env=self._environment(), check=True, capture_output=True)

    def connect(self):
        return Connection(self._environment())

    def _environment(self):
        return {"SOFTHSM2_CONF": str(self._settings), "PATH": "/usr/bin:/bin"}


class Connection:
    def __init__(self, environment):
        self._process = subprocess.Popen(
            [sys.executable, Path(__file__)], env=environment, text=True, bufsize=1,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._process.stdout.readline()

    def close(self):
        self._process.stdin.close()
        self._process.wait(10)
        self._process.stdout.close()

    def guess(self, code):
        self._process.stdin.write(code + "\n")
        self._process.stdin.flush()
        said = self._process.stdout.readline().strip()
        answers = {
            "CKR_OK": Answer.RIGHT, "CKR_PIN_INCORRECT": Answer.WRONG,
            "CKR_PIN_LOCKED": Answer.REFUSED,
        }
        return Reply(answers.get(said, Answer.FAILED), said)


def log_in_for_each_line():
    import PyKCS11

    library = PyKCS11.PyKCS11Lib()
    library.load(LIBRARY)
    slot = next(
        one for one in library.getSlotList(tokenPresent=True)
        if library.getTokenInfo(one).label.strip() == LABEL)
    session = library.openSession(slot)
    print("ready", flush=True)
    for line in sys.stdin:
        try:
            session.login(line.strip())
            session.logout()
            print("CKR_OK", flush=True)
        except PyKCS11.PyKCS11Error as error:
            print(PyKCS11.CKR.get(error.value, error.value), flush=True)


if __name__ == "__main__":
    log_in_for_each_line()
