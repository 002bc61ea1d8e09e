"""The command line: ``python -m lehr``, and the program ``lehr`` that pip installs."""

import signal
import sys

from ._lehr import run_command_line


def main():
    """Run the command line with the arguments of this process, and end it with the exit code of that."""
    # Signals are the command line's own, as they are in the compiled program: the interpreter's handler would raise
    # KeyboardInterrupt when everything is done and saved.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.exit(run_command_line(["lehr", *sys.argv[1:]]))


if __name__ == "__main__":
    main()
