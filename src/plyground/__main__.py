"""`python -m plyground`: the same as the command `plyground`."""

from plyground.cli import main

if __name__ == "__main__":  # not in the processes that a command starts
    main()
