"""`python -m plyground`: the same as the command `plyground`."""

from plyground.cli import main

main()
