"""An honest client: asks one service again and again, and prints how long each answer took.

    honest.py HOME SERVICE METHOD SECONDS

Prints a JSON object with the milliseconds of each call and the failures.
"""

import json
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "interop"))

import zmq
from client import Refusal, Service

PAUSE = 0.002


def main(home, name, method, seconds):
    context = zmq.Context()
    service = Service(context, home, name)
    begun = time.monotonic()
    service.wait_until_ready(10)
    result = {"connected": (time.monotonic() - begun) * 1000, "times": [], "failures": []}
    print("ready", flush=True)
    end = time.monotonic() + float(seconds)
    while time.monotonic() < end:
        begun = time.monotonic()
        try:
            service.call(method)
            result["times"].append((time.monotonic() - begun) * 1000)
        except Refusal as refusal:
            result["failures"].append(str(refusal))
        time.sleep(PAUSE)
    print(json.dumps(result))


main(*sys.argv[1:])
