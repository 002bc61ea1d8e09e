"""The command line that pip installs: ``python -m lehr`` and ``lehr`` are the compiled program, signals and all."""

import importlib.metadata
import json
import os
import re
import signal
import struct
import subprocess
import sys
import time

import numpy as np
import pytest

import lehr

MODULE = [sys.executable, "-m", "lehr"]


def run(*args, cwd):
    return subprocess.run([*MODULE, *map(str, args)], capture_output=True, check=False, text=True, timeout=120, cwd=cwd)


@pytest.fixture
def points(blobs, tmp_path):
    np.save(tmp_path / "points.npy", blobs)
    return tmp_path / "points.npy"


def test_it_is_lehr_and_explains_itself(tmp_path):
    assert run("--version", cwd=tmp_path).stdout == f"lehr {lehr.__version__}\n"
    helped = run("fit", "gmm", "-h", cwd=tmp_path)
    assert helped.returncode == 0
    assert "Usage: lehr fit gmm -k <K> [OPTIONS] <DATA>" in helped.stdout


def test_pip_installs_the_program():
    scripts = {script.name: script for script in importlib.metadata.entry_points(group="console_scripts")}
    assert scripts["lehr"].value == "lehr.__main__:main"
    assert callable(scripts["lehr"].load())


def test_it_does_what_the_compiled_program_does(cli, points, tmp_path):
    done = run("fit", "gmm", points, "-k", 3, "--seed", 4, "-o", "ours", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stderr == f"read {points}: 90 rows, 2 columns\n"
    assert json.loads(done.stdout)["read"] == {"rows": 90, "columns": 2}
    cli("fit", "gmm", points, "-k", 3, "--seed", 4, "-o", tmp_path / "theirs")
    ours, theirs = lehr.load(tmp_path / "ours"), lehr.load(tmp_path / "theirs")
    np.testing.assert_array_equal(ours.means_, theirs.means_)
    assert run("show", "ours", cwd=tmp_path).stdout.startswith("ours: gmm with 3 components")


def test_what_is_wrong_is_said_in_a_line(tmp_path):
    done = run("fit", "gmm", "none.csv", "-k", 3, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stdout == ""
    assert re.fullmatch(r"error: none\.csv: .*\n", done.stderr)
    assert run("fit", "gmm", cwd=tmp_path).returncode == 2


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_an_interrupt_saves_the_fit(points, tmp_path):
    steps = ["--steps", 10**9, "--tol", 0, "--eval-every", 10**6]
    args = ["fit", "gmm", points, "-k", 3, "--batch", 30, *steps, "-o", "run"]
    process = subprocess.Popen(
        [*MODULE, *map(str, args)], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        deadline = time.monotonic() + 60
        while not (tmp_path / "run" / "trace.jsonl").exists() or not (tmp_path / "run" / "trace.jsonl").read_text():
            assert process.poll() is None, process.stderr.read()
            assert time.monotonic() < deadline
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
    finally:
        process.kill()
        process.wait()
    assert process.returncode == 1, err
    assert "lehr resume run" in out
    assert "Traceback" not in err
    assert "KeyboardInterrupt" not in err
    assert run("show", "run", cwd=tmp_path).returncode == 0


@pytest.mark.skipif(os.name != "posix", reason="terminals of its own")
@pytest.mark.parametrize(
    "line", ["-k 3 --n-init 3 --holdout 9 --batch 30 --effective 10 --steps 4000 --tol 0", "-k 3 --search 4"]
)
def test_no_line_is_wider_than_the_terminal(program, points, tmp_path, line):
    import fcntl
    import termios

    ours, theirs = os.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    environment = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "NO_COLOR")}
    environment |= {"TERM": "xterm", "LANG": "C.UTF-8"}
    process = subprocess.Popen(
        [program, "fit", "gmm", points, *line.split(), "-o", "run"],
        cwd=tmp_path,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env=environment,
    )
    os.close(theirs)
    said = b""
    while True:
        try:
            part = os.read(ours, 65536)
        except OSError:
            break
        if not part:
            break
        said += part
    os.close(ours)
    assert process.wait(timeout=60) == 0, said
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", said.decode())
    lines = re.split(r"[\r\n]+", plain)
    assert any("bound" in text for text in lines)
    assert [text for text in lines if len(text) > 80] == []
