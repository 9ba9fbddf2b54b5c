"""`python -m plyground` and the command `plyground`: a process of its own for a command line."""

from plyground.cli import leave, main


def run() -> None:
    """Run the command and end the process, without waiting for a compiler in the background."""
    try:
        main()
    except SystemExit as end:
        leave(end.code)
    leave(0)


if __name__ == "__main__":  # not in the processes that a command starts
    run()
