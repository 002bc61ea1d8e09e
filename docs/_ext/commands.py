"""The reference of the command line, made of what the program says: python docs/_ext/commands.py FOLDER.

One page for each command, with its own --help and that of its subcommands, and a list of the pages.
"""

import os
import re
import sys
import tempfile
from pathlib import Path

from lehr._lehr import run_command_line

COMMAND = re.compile(r"^  ([a-z]+) +(\S.*(?:\n {6,}\S.*)*)", re.M)


def helped(*words):
    """What `lehr WORDS --help` prints; in this process, since a process for each command would take a minute."""
    with tempfile.TemporaryFile() as said:
        sys.stdout.flush()
        own = os.dup(1)
        os.dup2(said.fileno(), 1)
        try:
            code = run_command_line(["lehr", *words, "--help"])
        finally:
            os.dup2(own, 1)
            os.close(own)
        said.seek(0)
        assert code == 0, words
        return said.read().decode().strip()


def commands(text):
    """The commands of a help text, with their summaries, but for `help` itself."""
    block = re.search(r"^(?:Commands|Models):\n((?: .*\n)*)", text + "\n", re.M)
    pairs = COMMAND.findall(block.group(1) if block else "")
    return [(name, " ".join(summary.split())) for name, summary in pairs if name != "help"]


def section(level, words, text):
    """A heading and the help text below it; what follows are the subcommands'."""
    parts = [f"{'#' * level} lehr {' '.join(words)}\n\n```text\n{text}\n```\n"]
    parts += [section(level + 1, [*words, name], helped(*words, name)) for name, _ in commands(text)]
    return "\n".join(parts)


def main(folder):
    """Write the pages."""
    folder.mkdir(parents=True, exist_ok=True)
    found = commands(helped())
    assert len(found) > 10, found
    for name, _ in found:
        page = section(1, [name], helped(name))
        path = folder / f"{name}.md"
        # Sphinx reads again what is newer than before.
        if not path.exists() or path.read_text(encoding="utf-8") != page:
            path.write_text(page, encoding="utf-8")
    rows = "".join(f"| [lehr {name}]({name}.md) | {summary} |\n" for name, summary in found)
    tree = "\n".join(name for name, _ in found)
    index = (
        "# Commands\n\nWhat `lehr COMMAND --help` prints, for every command. `-h` prints less of it, `lehr man DIR` writes "
        "manual pages,\nand `lehr completions SHELL` a completion script.\n\n"
        f"| command | what it does |\n|---|---|\n{rows}\n```{{toctree}}\n:hidden:\n\n{tree}\n```\n"
    )
    (folder / "index.md").write_text(index, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
