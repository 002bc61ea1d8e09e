"""The site in docs/: its reference has every public name, its gallery pictures, and no program of a page is left unrun."""

import importlib
import re
from pathlib import Path

import pytest

import lehr

DOCS = Path(__file__).resolve().parents[2] / "docs"
MODULES = ["lehr", "lehr.anneal", "lehr.distributed", "lehr.errors", "lehr.plot"]
# Pages whose `python` blocks another test runs: test_distributed.py.
ELSEWHERE = ["guide/distributed.md"]


def listed(page):
    """The names below each `currentmodule` of a page."""
    names, module = {}, None
    for line in page.splitlines():
        if found := re.match(r"\.\. currentmodule:: (\S+)", line):
            module = found.group(1)
        elif found := re.match(r"   (\w+)$", line):
            names.setdefault(module, set()).add(found.group(1))
    return names


@pytest.mark.parametrize("module", MODULES)
def test_the_reference_has_every_public_name(module):
    page = (DOCS / "api" / "index.md").read_text(encoding="utf-8")
    public = importlib.import_module(module)
    modules = {name.rpartition(".")[2] for name in MODULES}
    # Re-exported from lehr.errors, constants, and modules have no entry of their own.
    wanted = {name for name in public.__all__ if name not in modules and callable(getattr(public, name))}
    if module == "lehr":
        wanted.remove("LehrError")
    assert listed(page)[module] == wanted
    for name in public.__all__:
        assert f"{module}.{name}" in page or name in wanted | modules or name == "LehrError", name


def test_every_error_is_public():
    errors = {name for name, value in vars(lehr.errors).items() if isinstance(value, type)
              and issubclass(value, Exception) and value.__module__ == "lehr.errors"}
    assert errors == {name for name in lehr.errors.__all__ if isinstance(getattr(lehr.errors, name), type)}


def test_the_gallery_has_pictures_to_show():
    examples = sorted((DOCS / "gallery").glob("plot_*.py"))
    assert len(examples) >= 10
    for example in examples:
        text = example.read_text(encoding="utf-8")
        assert re.match(r'"""\n\S.*\n=+\n\n', text), f"{example.name} has no title"
        assert "plt.show()" in text, example.name
        assert "http" not in text and "fetch_" not in text, f"{example.name} needs a network"


def test_no_program_of_a_page_is_left_unrun():
    from test_tutorials import PAGES

    for path in [*DOCS.glob("*.md"), *DOCS.glob("*/*.md")]:
        page = path.relative_to(DOCS).as_posix()
        if "```python\n" in path.read_text(encoding="utf-8"):
            assert page in PAGES or page in ELSEWHERE, f"{page} has programs that no test runs"
