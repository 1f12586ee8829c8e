"""tab.py TYPED EXPECTED SECONDS SHELL…: types TYPED, in which `\\t` is Tab and `\\r` Enter, into an interactive shell on a terminal of its own, and prints
what the terminal shows until the pattern EXPECTED is there; with status 1 if it is not there after SECONDS."""

import os
import pty
import re
import select
import sys
import time

typed, expected, seconds, shell = sys.argv[1], sys.argv[2], float(sys.argv[3]), sys.argv[4:]
pid, terminal = pty.fork()
if pid == 0:
    os.environ["TERM"] = "dumb"
    os.execvp(shell[0], shell)


def read_until(pattern, seconds):
    """What the terminal shows, without the sequences that colour and move; None where `pattern` does not come."""
    shown, end = b"", time.monotonic() + seconds
    while time.monotonic() < end:
        if select.select([terminal], [], [], 0.1)[0]:
            try:
                shown += os.read(terminal, 65536)
            except OSError:
                break
        text = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", shown.decode(errors="replace"))
        if re.search(pattern, text, re.S):
            return text
    print(repr(shown), file=sys.stderr)
    return None


if read_until("READY> ", 30) is None:
    sys.exit("no shell")
for key in re.split(r"(\\[tr])", typed):
    os.write(terminal, {"\\t": b"\t", "\\r": b"\r"}.get(key, key.encode()))
shown = read_until(expected, seconds)
os.kill(pid, 9)
print(shown)
sys.exit(1 if shown is None else 0)
