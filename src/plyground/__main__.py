"""`python -m plyground` and the command `plyground`: a process of its own for a command line."""

import atexit
import os
import signal
import sys


def run() -> None:
    """Run the command and end the process, without waiting for a compiler in the background.

    Ctrl-C and SIGTERM end the process at once, until a command has something to save: an exception among the first
    imports would be shown as a traceback, and one in those of torch would abort the process.
    """
    try:
        from plyground.cli.ctrl_c import leave, stop_at_once

        stop_at_once(kept="")
        atexit.register(signal.signal, signal.SIGINT, signal.SIG_IGN)  # Python ends: nothing is left to be stopped
        from plyground.cli.app import main
    except KeyboardInterrupt:
        sys.stderr.write("plyground: stopped\n")
        os._exit(130)
    try:
        main()
    except SystemExit as end:
        leave(end.code)
    leave(0)


if __name__ == "__main__":  # not in the processes that a command starts
    run()
