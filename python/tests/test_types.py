"""Type checkers see real types: typed.py passes, mistakes do not, and no public method is left without them."""

import inspect
import subprocess
import sys
from pathlib import Path

import pytest

import lehr

TYPED = Path(__file__).with_name("typed.py")
MISTAKES = """
import lehr
lehr.BayesianGaussianMixture(n_clusters=3)
lehr.BayesianGaussianMixture(tol="small")
lehr.BayesianGaussianMixture().predict()
lehr.LatentDirichletAllocation().perplexity(1).lower()
lehr.ProbabilisticMatrixFactorization().recommend(1.5)
lehr.load(3)
"""


def checked(checker, file):
    """What a type checker says of a file: whether it passes, and its lines."""
    commands = {
        "mypy": ["mypy", "--strict", "--no-incremental", "--no-error-summary", "--cache-dir", "/dev/null"],
        # The packages of this interpreter, whether its environment is active or not.
        "basedpyright": ["basedpyright", "--level", "error", "--pythonpath", sys.executable],
    }
    pytest.importorskip(checker)
    command = [sys.executable, "-m", *commands[checker], str(file)]
    done = subprocess.run(command, capture_output=True, check=False, text=True, cwd=file.parent)
    return done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("checker", ["mypy", "basedpyright"])
def test_what_checkers_see(checker):
    passes, told = checked(checker, TYPED)
    assert passes, told


@pytest.mark.parametrize("checker", ["mypy", "basedpyright"])
def test_mistakes_are_seen(checker, tmp_path):
    file = tmp_path / "mistakes.py"
    file.write_text(MISTAKES)
    passes, told = checked(checker, file)
    assert not passes
    for line in range(3, 9):
        assert f"mistakes.py:{line}" in told, (line, told)


def public_functions():
    classes = [value for value in vars(lehr).values() if inspect.isclass(value) and value.__module__.startswith("lehr")]
    for owner in [*classes, lehr.anneal.LossWeights]:
        for name, function in inspect.getmembers(owner, inspect.isroutine):
            if not name.startswith("_") and (getattr(function, "__module__", None) or "").startswith("lehr"):
                yield f"{owner.__name__}.{name}", function
    for module in (lehr, lehr.anneal, lehr.plot):
        for name in module.__all__:
            if inspect.isfunction(getattr(module, name)):
                yield name, getattr(module, name)


def test_every_public_function_has_types():
    found = dict(public_functions())
    assert len(found) > 40
    for name, function in found.items():
        if name.startswith("LehrError."):
            continue
        signature = inspect.signature(function)
        assert signature.return_annotation is not signature.empty, name
        for parameter in list(signature.parameters.values()):
            assert parameter.name in ("self", "cls") or parameter.annotation is not parameter.empty, (name, parameter)
