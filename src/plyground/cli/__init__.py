"""The command line and the terminal."""

from plyground.cli.app import main as main
