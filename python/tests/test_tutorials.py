"""The pages for Python users: their programs run, print what the page shows, and draw its picture.

All ``python`` blocks of a page run in order, in one namespace and an empty directory. A ``text`` block shows what
the block before it printed: words are compared as they are, numbers to 2 % or 0.02, since other processors round
otherwise; ``...`` stands for anything. In a ``text sample`` block, whose words depend on the version of a library,
only the number of lines is compared.
"""

import contextlib
import io
import itertools
import re
from itertools import zip_longest
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = [
    "guide/topics.md",
    "guide/clusters.md",
    "guide/recommendations.md",
    "guide/coming_from.md",
    "guide/sweeps.md",
    "guide/steering_topics.md",
    "guide/implicit_feedback.md",
    "guide/report.md",
    "guide/search.md",
    "guide/install.md",
    "index.md",
    "reference/runs.md",
]
FENCED = re.compile(r"^```(python|text(?: sample)?)\n(.*?)^```$", re.M | re.S)
TOKEN = re.compile(r"\.\.\.|[+-]?\d+(?:\.\d*)?(?:e[+-]?\d+)?|[^\W\d]+|\S")


def difference(shown, printed):
    """What two outputs differ in, or None."""
    if "..." in shown:
        inner = re.escape(shown).replace(re.escape("..."), ".*?")
        return None if re.fullmatch(inner, printed, re.S) else f"{printed!r} does not look like {shown!r}"
    for mine, theirs in zip_longest(TOKEN.findall(shown), TOKEN.findall(printed)):
        try:
            same = float(theirs) == pytest.approx(float(mine), rel=0.02, abs=0.02)
        except (TypeError, ValueError):
            same = mine == theirs
        if not same:
            return f"the page has {mine!r} where {theirs!r} was printed"
    return None


def run(page, text):
    """Runs a page's programs and compares what they print."""
    space, printed = {"__name__": page}, None
    for block in FENCED.finditer(text):
        kind, body = block.groups()
        line = text[: block.start()].count("\n") + 1
        if kind == "python":
            out = io.StringIO()
            # As many empty lines before as the page has, so that errors name the page's lines.
            program = compile("\n" * line + body, page, "exec")
            with contextlib.redirect_stdout(out):
                exec(program, space)
            printed = out.getvalue()
        elif kind == "text":
            found = difference(body, printed)
            assert found is None, f"{page}, line {line}: {found}; all of it:\n{printed}"
        else:
            assert body.count("\n") == printed.count("\n"), f"{page}, line {line}: it printed\n{printed}"


@pytest.mark.parametrize("page", PAGES)
def test_the_page_does_what_it_shows(page, tmp_path, monkeypatch):
    plt = pytest.importorskip("matplotlib.pyplot")
    pytest.importorskip("pandas")
    monkeypatch.chdir(tmp_path)
    text = (DOCS / page).read_text(encoding="utf-8")
    try:
        run(page, text)
    finally:
        plt.close("all")
    for picture in re.findall(r"\]\(\.\./pictures/(python_\S+\.png)\)", text):
        assert (tmp_path / picture).exists(), f"{page} shows {picture}, which its programs do not draw"
        assert (DOCS / "pictures" / picture).exists()


def test_the_data_to_try_are_all_that_commands_need(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run("guide/install.md", (DOCS / "guide/install.md").read_text(encoding="utf-8"))
    commands = [line for page in [ROOT / "README.md", *(DOCS / page for page in PAGES)]
                for line in page.read_text(encoding="utf-8").splitlines() if line.startswith("$ lehr ")]
    assert len(commands) > 50
    for command in commands:
        words = command.split("#")[0].split()
        for before, word in itertools.pairwise(words):
            if before != "-o" and word.endswith((".csv", ".jsonl", ".dat", ".txt")):
                assert (tmp_path / word).exists(), f"{command}: {word} is not among the data to try"
    # A reader who pastes all pages in one folder never finds that a run or a file is there already.
    written = [word for command in commands for before, word in itertools.pairwise(command.split()) if before == "-o"]
    assert len(written) > 30
    assert [name for name in written if written.count(name) > 1] == []


def test_links_lead_somewhere():
    pages = [*ROOT.glob("*.md"), *ROOT.glob("*/*.md"), *DOCS.glob("*/*.md"), *ROOT.glob("benchsuite/runs/*/*.md")]
    assert len(pages) > 25
    for page in pages:
        for link in re.findall(r"\]\(([^)#:\s]+)(?:#[^)\s]*)?\)", page.read_text(encoding="utf-8")):
            # The pages of commands are made when the site is built.
            made = link.startswith("commands/") and page.parent.name == "reference"
            assert made or (page.parent / link).exists(), f"{page.relative_to(ROOT)}: {link}"


@pytest.mark.parametrize(
    ("shown", "printed", "same"),
    [
        ("a 1.00 [0.5 2]\n", "a 1.01 [0.5 2]\n", True),
        ("a 1.00\n", "a 1.10\n", False),
        ("a 100.0\n", "b 100.0\n", False),
        ("one two\n", "one two three\n", False),
        ("(3, 2)\n", "(3, 4)\n", False),
        ("[1 ... 9]\n", "[1 2 3 9]\n", True),
        ("[1 ... 9]\n", "[1 2 3 8]\n", False),
    ],
)
def test_differences_are_noticed(shown, printed, same):
    assert (difference(shown, printed) is None) == same


def test_a_page_that_is_wrong_fails():
    with pytest.raises(AssertionError, match="page, line 4: the page has '3' where '2' was printed"):
        run("page", "```python\nprint(1 + 1)\n```\n```text\n3\n```\n")
    with pytest.raises(ZeroDivisionError):
        run("page", "```python\n1 / 0\n```\n")
    with pytest.raises(AssertionError, match="it printed"):
        run("page", "```python\nprint(1)\n```\n```text sample\n1\n2\n```\n")
