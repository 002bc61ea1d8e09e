"""The examples in docstrings run, and every public name has a docstring that names its parameters."""

import doctest
import importlib
import inspect
import pkgutil
from pathlib import Path

import pytest

import lehr

MODULES = ["lehr", *(f"lehr.{module.name}" for module in pkgutil.iter_modules(lehr.__path__))]
ESTIMATORS = sorted({estimator.__name__ for estimator in lehr._base.ESTIMATORS.values()})
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


@pytest.mark.parametrize("name", MODULES)
def test_examples(name):
    failed, _ = doctest.testmod(importlib.import_module(name), optionflags=FLAGS)
    assert failed == 0


@pytest.mark.parametrize("name", ESTIMATORS)
def test_every_parameter_and_method_is_documented(name):
    estimator = getattr(lehr, name)
    for parameter in inspect.signature(estimator).parameters:
        assert f"\n    {parameter} :" in estimator.__doc__, parameter
    for method, function in inspect.getmembers(estimator, inspect.isfunction):
        if not method.startswith("_") and function.__module__.startswith("lehr"):
            assert function.__doc__, method


def test_the_stub_has_every_public_name_of_the_compiled_part():
    from lehr import _lehr

    stub = Path(lehr.__file__).with_name("_lehr.pyi").read_text()
    for name, value in vars(_lehr).items():
        if name.startswith("_") and name != "__version__":
            continue
        assert f"class {name}" in stub or f"def {name}" in stub or f"{name}:" in stub, name
        if inspect.isclass(value):
            body = stub.split(f"class {name}")[1].split("\nclass ")[0]
            if "_Model[" in body.split("\n")[0]:
                body += stub.split("class _Model")[1].split("\nclass ")[0]
            if "_OnWorkers[" in body.split("\n")[0]:
                body += stub.split("class _OnWorkers")[1].split("\nclass ")[0]
            for method in vars(value):
                known = f"def {method}(" in body or f"    {method}: " in body
                assert method.startswith("__") or known, f"{name}.{method}"


def test_the_readme_runs(tmp_path, monkeypatch):
    readme = (Path(__file__).resolve().parents[2] / "README.md").read_text(encoding="utf-8")
    programs = [part.split("```")[0] for part in readme.split("```python\n")[1:]]
    assert len(programs) >= 4
    monkeypatch.chdir(tmp_path)
    # As a reader pastes them: all data are their own.
    exec("\n".join(programs), {})
    assert (tmp_path / "runs" / "a" / "config.json").exists()
    assert (tmp_path / "topics.html").exists()
