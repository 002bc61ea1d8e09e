#!/usr/bin/env python3
"""The wheel in a folder, as its users will have it: installed into a fresh environment, without Rust, and used.

`try_wheel.py FOLDER` installs it, fits with the command and from Python, and looks at what the registry will show;
`--tests` runs python/tests against it, too, from a folder in which there are no sources of lehr.
"""

import email
import os
import re
import shutil
import subprocess
import sys
import tempfile
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PROGRAM = """
import numpy as np, lehr
rng = np.random.default_rng(0)
X = np.vstack([rng.normal(0, 1, (100, 2)), rng.normal(9, 1, (100, 2))])
mixture = lehr.BayesianGaussianMixture(2, random_state=0).fit(X)
labels = mixture.predict(X)
assert len(set(labels[:100])) == len(set(labels[100:])) == 1 and labels[0] != labels[-1]
np.savetxt("points.csv", X, delimiter=",", header="a,b", comments="")
print("lehr", lehr.__version__, lehr.__file__)
"""


def look(wheel):
    """Check what is in it, and what the registry will show."""
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        (about,) = [name for name in names if name.endswith(".dist-info/METADATA")]
        metadata = email.message_from_bytes(archive.read(about))
        (commands,) = [name for name in names if name.endswith(".dist-info/entry_points.txt")]
        assert b"lehr=lehr.__main__:main" in archive.read(commands).replace(b" ", b"")
        unpacked = sum(file.file_size for file in archive.infolist())
    assert "lehr/py.typed" in names and "lehr/_lehr.pyi" in names, names
    assert any(name.startswith("lehr/_lehr") and name.endswith((".so", ".pyd")) for name in names), names
    assert "-cp310-abi3-" in wheel.name, "one wheel for all versions of Python"
    assert "Typing :: Typed" in metadata.get_all("Classifier")
    assert metadata["License-Expression"] == "MIT OR Apache-2.0"
    assert len(metadata.get_all("License-File")) == 3
    assert {url.split(",")[0] for url in metadata.get_all("Project-URL")} >= {"Repository", "Issues", "Changelog"}
    assert metadata["Description-Content-Type"].startswith("text/markdown")
    page = re.sub(r"```.*?```", "", metadata.get_payload(), flags=re.DOTALL)
    links = re.findall(r"\]\(([^)\s]+)\)", page)
    assert len(links) > 10 and all(link.startswith(("https://", "#")) for link in links), links
    print(f"{wheel.name}: {wheel.stat().st_size / 1e6:.1f} MB, {unpacked / 1e6:.1f} MB unpacked")


def main():
    """Install it and use it."""
    folder = Path(sys.argv[1])
    (wheel,) = folder.glob("lehr-*.whl")
    look(wheel)
    with tempfile.TemporaryDirectory() as scratch:
        scratch = Path(scratch)
        venv.create(scratch / "env", with_pip=True)
        programs = scratch / "env" / ("Scripts" if os.name == "nt" else "bin")
        # Nothing can be compiled: neither lehr nor what it needs.
        paths = [path for path in os.environ["PATH"].split(os.pathsep) if shutil.which("cargo", path=path) is None]
        environment = {**os.environ, "PATH": os.pathsep.join([str(programs), *paths])}

        def run(*command, cwd=scratch, **more):
            subprocess.run([str(part) for part in command], cwd=cwd, env={**environment, **more}, check=True)

        suffix = ".exe" if os.name == "nt" else ""
        python, lehr = programs / f"python{suffix}", programs / f"lehr{suffix}"
        run(python, "-m", "pip", "install", "--quiet", "--only-binary=:all:", wheel.resolve())
        run(python, "-c", PROGRAM)
        run(lehr, "--version")
        run(lehr, "fit", "gmm", "points.csv", "-k", "2", "--steps", "20", "-o", "run", "--quiet")
        run(lehr, "transform", "run", "points.csv", "-o", "labels.csv")
        assert len((scratch / "labels.csv").read_text().splitlines()) == 201
        if "--tests" in sys.argv:
            tests = scratch / "python" / "tests"
            shutil.copytree(ROOT / "python/tests", tests)
            for name in ("README.md", "pyproject.toml", "Cargo.toml"):
                shutil.copy(ROOT / name, scratch / name)
            for name in ("docs", "crates/lehr/tests/fixtures", "crates/lehr-cli/tests/fixtures", "crates/lehr-paper/data"):
                if (ROOT / name).is_dir():
                    shutil.copytree(ROOT / name, scratch / name, dirs_exist_ok=True)
            run(python, "-m", "pip", "install", "--quiet", "--requirement", tests / "requirements.txt")
            run(python, "-m", "pytest", LEHR_CLI=str(lehr))
    print("the wheel works")


if __name__ == "__main__":
    main()
