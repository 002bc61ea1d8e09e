"""What the tests share: small data with a known answer, and the command line."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse

# Pictures are drawn, not shown.
os.environ.setdefault("MPLBACKEND", "Agg")

# A shell starts what it runs in the background with Ctrl-C ignored, and so would every process of a test be.
signal.signal(signal.SIGINT, signal.default_int_handler)

ROOT = Path(__file__).resolve().parents[2]


def pytest_collection_modifyitems(items):
    """Tests that a module lists in ``CANNOT`` fail; one that passes is an error."""
    for item in items:
        cannot = getattr(item.module, "CANNOT", {})
        reason = cannot.get(item.name) or cannot.get(item.originalname)
        if reason:
            item.add_marker(pytest.mark.xfail(reason=reason, strict=True))


@pytest.fixture(scope="session")
def program():
    """The command line, ``LEHR_CLI`` or the one that cargo has built."""
    found = [os.environ.get("LEHR_CLI")] + [ROOT / "target" / kind / "lehr" for kind in ("release", "debug")]
    program = next((str(Path(path).resolve()) for path in found if path and Path(path).exists()), None)
    if program is None:
        pytest.fail("there is no command line to compare with; build it with cargo, or name it in LEHR_CLI")
    return program


@pytest.fixture(scope="session")
def cli(program):
    """Runs the command line; returns what it printed."""

    def run(*args, ok=True):
        done = subprocess.run([program, *map(str, args)], capture_output=True, check=False, text=True, timeout=120)
        assert (done.returncode == 0) == ok, done.stderr
        return done.stdout if ok else done.stderr

    return run


@pytest.fixture
def blobs():
    """Ninety points around three places."""
    rng = np.random.default_rng(0)
    centres = np.array([[0.0, 0.0], [8.0, 1.0], [3.0, 9.0]])
    return np.ascontiguousarray(np.repeat(centres, 30, axis=0) + rng.normal(size=(90, 2)))


@pytest.fixture
def counts():
    """Sixty documents about words 0 to 4 or 5 to 9, or both, as a sparse matrix."""
    rng = np.random.default_rng(1)
    about = np.array([[9, 9, 9, 9, 9, 1, 1, 1, 1, 1], [1, 1, 1, 1, 1, 9, 9, 9, 9, 9]]) / 50
    shares = rng.dirichlet([0.3, 0.3], size=60)
    return scipy.sparse.csr_array(rng.poisson(30 * shares @ about).astype(np.float64))


@pytest.fixture
def ratings():
    """Forty users who like even or odd items, as a sparse matrix with gaps."""
    rng = np.random.default_rng(2)
    taste = np.where((np.arange(40)[:, None] + np.arange(24)) % 2 == 0, 4.5, 1.5)
    values = np.clip(np.round(taste + 0.4 * rng.normal(size=taste.shape), 1), 1, 5)
    rated = rng.random(taste.shape) < 0.6
    return scipy.sparse.csr_array((values[rated], np.nonzero(rated)), shape=taste.shape)


@pytest.fixture
def subprocess_python():
    """Runs a program in its own Python; returns what it printed."""

    def run(code):
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False, text=True, timeout=240)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout.strip().splitlines()[-1])

    return run
