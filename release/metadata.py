#!/usr/bin/env python3
"""The metadata that the registries get, checked: `metadata.py` reports what differs, `metadata.py --write` fixes it.

`--tag v1.2.3` checks that a tag is the version of Cargo.toml and has a dated section in CHANGELOG.md; `--changes v1.2.3`
prints that section.

The address of the repository has one home, `repository` in Cargo.toml. Here it is copied to where no tool can look it up:
the URLs of pyproject.toml, the READMEs of the crates, and the files for people who report or cite. The version has the
same home. `python/README.md`, the page of the Python package, is README.md with every relative link and picture made
absolute, since a registry shows the page without the repository around it, and with the commands of those who install
packages in place of those of a checkout.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = Path("python/README.md")
# Any address of a repository of that name is ours.
ADDRESS = re.compile(r"https://github\.com/[A-Za-z0-9-]+/lehr(?![A-Za-z0-9._-])")
# A link or picture of Markdown: what is in the round brackets, without a title.
LINK = re.compile(r"(!?)(\[(?:[^\[\]]|\[[^\[\]]*\])*\])\(([^()\s]+)\)")
FENCE = re.compile(r"^(```|~~~)")
HEAD = "<!-- Made of README.md by release/metadata.py: links lead to the repository. -->\n"
# What README.md says to readers of a checkout, and what the page says instead.
INSTEAD = [
    (
        "pip install .                           # the Python package and the command `lehr` (needs cargo)\n"
        "cargo install --path crates/lehr-cli    # the command alone\n",
        "pip install lehr            # the Python package and the command `lehr`\n"
        "cargo install lehr-cli      # the command alone\n",
    ),
    (
        "See it work without any data, or run every test:\n\n```console\n$ cargo run --release -- demo\n$ ./check\n```\n",
        "See it work without any data:\n\n```console\n$ lehr demo\n```\n",
    ),
]


def home():
    """Return the address and the version that Cargo.toml names."""
    text = (ROOT / "Cargo.toml").read_text(encoding="utf-8")
    section = text.split("[workspace.package]")[1].split("\n[")[0]
    found = dict(re.findall(r'^(\w[\w-]*) = "([^"]*)"', section, re.MULTILINE))
    return found["repository"], found["version"]


def absolute(markdown, address, version):
    """Return the page with links that work anywhere: those of the version, so that they stay true."""
    raw = address.replace("https://github.com/", "https://raw.githubusercontent.com/")

    def replaced(match):
        bang, text, target = match.groups()
        # A picture may be what a link shows.
        text = LINK.sub(replaced, text)
        if re.match(r"[a-z]+:|#", target):
            return f"{bang}{text}({target})"
        path, anchor = (target.split("#", 1) + [""])[:2]
        if not (ROOT / path).exists():
            raise SystemExit(f"README.md: links to {path}, which is not there")
        kind = f"{raw}/v{version}" if bang else f"{address}/{'tree' if (ROOT / path).is_dir() else 'blob'}/v{version}"
        return f"{bang}{text}({kind}/{path}{'#' + anchor if anchor else ''})"

    # Code is not read. A text of a link may go over the end of a line, so that what lies between two fences is
    # rewritten as a whole.
    parts, prose, in_code = [], [], False
    for line in markdown.splitlines(keepends=True):
        if FENCE.match(line):
            parts += [LINK.sub(replaced, "".join(prose)), line]
            prose, in_code = [], not in_code
        else:
            (parts if in_code else prose).append(line)
    return "".join([*parts, LINK.sub(replaced, "".join(prose))])


def copies(address, version):
    """Yield each file that has to follow, with the text it should have."""
    yield PAGE, page(address, version)
    files = [Path("pyproject.toml"), Path("CITATION.cff"), Path("SECURITY.md")]
    files += [path.relative_to(ROOT) for path in sorted(ROOT.glob("crates/*/README.md"))]
    files += [path.relative_to(ROOT) for path in sorted((ROOT / ".github").glob("**/*.yml"))]
    for path in files:
        text = ADDRESS.sub(address, (ROOT / path).read_text(encoding="utf-8"))
        if path.name == "CITATION.cff":
            text = re.sub(r"^version: .*$", f"version: {version}", text, flags=re.MULTILINE)
        yield path, text


def page(address, version):
    """Return the page of the Python package."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    for checkout, package in INSTEAD:
        if text.count(checkout) != 1:
            raise SystemExit(f"README.md: has changed where the package's page differs; see INSTEAD: {checkout!r}")
        text = text.replace(checkout, package)
    return HEAD + absolute(text, address, version)


def changes(tag):
    """Return the section of CHANGELOG.md that a tag releases; it has a date by then."""
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    found = re.search(rf"^## {re.escape(tag.removeprefix('v'))} \((\d{{4}}-\d\d-\d\d)\)\n(.*?)(?=^## |\Z)", text, re.M | re.S)
    if not found:
        raise SystemExit(f"CHANGELOG.md: has no section `## {tag.removeprefix('v')} (year-month-day)`")
    return found[2].strip() + "\n"


def main():
    """Compare, or write, or say what a tag releases."""
    match sys.argv[1:]:
        case [] | ["--write"]:
            return compare(write=bool(sys.argv[1:]))
        case ["--tag", tag]:
            version = home()[1]
            if tag != f"v{version}":
                raise SystemExit(f"the tag is {tag}, and the version in Cargo.toml {version}")
            changes(tag)
            return compare(write=False)
        case ["--changes", tag]:
            print(changes(tag), end="")
            return 0
    raise SystemExit(__doc__)


def compare(write):
    """Say which files are not what they should be, or make them so."""
    wrong = []
    for path, text in copies(*home()):
        there = (ROOT / path).read_text(encoding="utf-8") if (ROOT / path).exists() else None
        if there == text:
            continue
        wrong.append(str(path))
        if write:
            (ROOT / path).write_text(text, encoding="utf-8", newline="\n")
    for path in wrong:
        print(f"{path}: {'written' if write else 'is not what release/metadata.py --write makes'}")
    return 0 if write else bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
