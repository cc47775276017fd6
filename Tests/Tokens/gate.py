#!/usr/bin/env python3
"""A PKCS #11 module behind a gate: slow, or pulled out in the middle of a call.

p11-kit's client module connects to SOCKET; every connection gets a process of its own that runs
MODULE (`p11-kit remote`). Files in FOLDER count the calls of all connections and say what becomes
of them:

  count how many came; whoever removes it begins anew
  cut   a number: when that call comes, its connection and the token's process end
  hold  a number: that call waits until the file is gone; `held` is there meanwhile
"""

import os
import socket
import struct
import subprocess
import sys
import threading
import time

HEADER = struct.Struct(">III")
REMOTE = ["p11-kit", "remote"]
COUNTING = threading.Lock()


def wanted(folder, name):
    """The number that a file of the folder gives; 0 where there is none."""
    try:
        with open(os.path.join(folder, name), encoding="ascii") as file:
            return int(file.read().strip() or 0)
    except (FileNotFoundError, ValueError):
        return 0


def put(folder, name, number):
    """Writes a number so that nobody reads half of it."""
    path = os.path.join(folder, name)
    with open(path + ".new", "w", encoding="ascii") as file:
        file.write(str(number))
    os.replace(path + ".new", path)


def count(folder):
    """The number of a call that came just now."""
    with COUNTING:
        number = wanted(folder, "count") + 1
        put(folder, "count", number)
        return number


def hold(folder):
    """Waits until the file `hold` is gone."""
    put(folder, "held", 1)
    while os.path.exists(os.path.join(folder, "hold")):
        time.sleep(0.01)
    os.unlink(os.path.join(folder, "held"))


def is_gone(client):
    """Whether the client has ended: a module in it would have ended too."""
    try:
        return client.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT) == b""
    except BlockingIOError:
        return False


def back(token, client):
    """Hands answers to the client as they come."""
    try:
        while answer := token.stdout.read1(65536):
            client.sendall(answer)
        client.shutdown(socket.SHUT_RDWR)
    except (OSError, ValueError):
        # Either side is gone.
        pass


def exactly(client, count):
    """So many bytes, or None at the end."""
    got = b""
    while len(got) < count:
        more = client.recv(count - len(got))
        if not more:
            return None
        got += more
    return got


def serve(client, folder, module):
    """One connection, from its first byte to its end."""
    with subprocess.Popen(
        REMOTE + [module], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as token:
        threading.Thread(target=back, args=(token, client), daemon=True).start()
        try:
            token.stdin.write(exactly(client, 1) or b"")
            token.stdin.flush()
            while True:
                header = exactly(client, HEADER.size)
                if header is None:
                    break
                _, options, length = HEADER.unpack(header)
                body = exactly(client, options + length) if options + length else b""
                number = count(folder)
                if wanted(folder, "hold") == number:
                    hold(folder)
                    if is_gone(client):
                        break
                if wanted(folder, "cut") == number or body is None:
                    break
                token.stdin.write(header + body)
                token.stdin.flush()
        except OSError:
            pass
        token.kill()
    client.close()


def main():
    """Listens until it is killed."""
    path, folder, module = sys.argv[1:]
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen(8)
    while True:
        client, _ = listener.accept()
        threading.Thread(target=serve, args=(client, folder, module), daemon=True).start()


if __name__ == "__main__":
    main()
