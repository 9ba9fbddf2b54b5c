"""The command line and the terminal."""

from plyground.cli.app import main as main
from plyground.cli.ctrl_c import leave as leave
