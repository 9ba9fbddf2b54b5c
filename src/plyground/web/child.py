"""A command of Plyground as a process of the server: it stops and saves when the server is gone."""

from __future__ import annotations

import os
import signal
import sys
import threading


def stop_with_server() -> None:
    """Ctrl-C for this process as soon as its standard input ends, which the server holds open."""

    def wait() -> None:
        while os.read(0, 1):
            pass
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=wait, daemon=True).start()


def main() -> None:
    """Run the command in the arguments."""
    from plyground.cli.app import main as run

    stop_with_server()
    sys.argv[0] = "plyground"
    run()


if __name__ == "__main__":
    main()
