"""Fits on Ray: bit-identical to one machine on any workers, whichever are lost; and what is refused."""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import warnings
from pathlib import Path

import lehr
import numpy as np
import pytest
import scipy.sparse
from lehr import _ray, errors
from lehr import distributed as ld

ray = pytest.importorskip("ray")

STORE = 100 * 2**20


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """Ray on this machine, for all tests of this file; workers have the environment that it is started in."""
    os.environ["LEHR_CACHE"] = str(tmp_path_factory.mktemp("cache"))
    options = {
        "address": "local",
        "num_cpus": 8,
        "include_dashboard": False,
        "object_store_memory": STORE,
        "log_to_driver": False,
        "logging_level": "ERROR",
        "_node_ip_address": "127.0.0.1",
    }
    _ray.started(ray, options)
    yield ray
    ray.shutdown()
    del os.environ["LEHR_CACHE"]


@pytest.fixture(scope="module")
def docs(tmp_path_factory):
    """Four shards of 240 documents."""
    rng = np.random.default_rng(1)
    about = rng.dirichlet(np.full(60, 0.1), size=4)
    shares = rng.dirichlet(np.full(4, 0.3), size=240)
    counts = rng.poisson(40 * shares @ about)
    folder = tmp_path_factory.mktemp("docs")
    # As two files, whose words have the same numbers.
    for name, part in (("a", counts[:100]), ("b", counts[100:])):
        scipy.sparse.save_npz(folder / f"{name}.npz", scipy.sparse.csr_matrix(part.astype(np.float64)))
    made = ld.shard(folder / "*.npz", folder / "docs.shards", 4)
    assert (made["rows"], made["columns"], made["tokens"]) == (240, 60, counts.sum())
    assert [entry["rows"] for entry in made["shards"]] == [60] * 4
    return folder / "docs.shards"


@pytest.fixture(scope="module")
def points(tmp_path_factory):
    """Three shards of 1500 points."""
    rng = np.random.default_rng(2)
    X = rng.normal(size=(1500, 3)) + 4 * rng.integers(3, size=(1500, 1))
    folder = tmp_path_factory.mktemp("points")
    np.save(folder / "x.npy", X)
    ld.shard(folder / "x.npy", folder / "points.shards", 3, kind="points")
    return folder / "points.shards"


@pytest.fixture(scope="module")
def ratings(tmp_path_factory):
    """Four shards of the ratings of 80 users, of two files."""
    rng = np.random.default_rng(3)
    factors, liked = rng.normal(size=(80, 2)), rng.normal(size=(30, 2))
    rows, columns = np.nonzero(rng.random((80, 30)) < 0.4)
    values = np.clip(np.round(3 + (factors[rows] * liked[columns]).sum(axis=1)), 1, 5)
    folder = tmp_path_factory.mktemp("ratings")
    lines = [f"{user}::m{item}::{value:g}::0\n" for user, item, value in zip(rows, columns, values)]
    (folder / "a.dat").write_text("".join(lines[:300]))
    (folder / "b.dat").write_text("".join(lines[300:]))
    made = ld.shard(folder / "*.dat", folder / "ratings.shards", 4, kind="ratings")
    assert (made["rows"], made["columns"], made["kind"]) == (len(rows), 30, "ratings")
    return folder / "ratings.shards"


def pmf(**given):
    return lehr.ProbabilisticMatrixFactorization(3, **{"max_iter": 12, "tol": 0, "random_state": 5, **given})


def lda(**given):
    return lehr.LatentDirichletAllocation(
        4, **{"learning_method": "online", "batch_size": 64, "max_iter": 3, "random_state": 5, "effective_batch_size": 9, **given}
    )


def gmm(**given):
    return lehr.BayesianGaussianMixture(3, **{"max_iter": 8, "tol": 0, "random_state": 5, "effective_batch_size": 300, **given})


def same(found, expected):
    """Whether two fits have the same bits, bounds included."""
    if hasattr(expected, "user_factors_"):
        for name in ("user_factors_", "item_factors_", "user_biases_", "item_biases_"):
            np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))
    elif hasattr(expected, "components_"):
        np.testing.assert_array_equal(found.components_, expected.components_)
        assert found.bound_ == expected.bound_
    else:
        np.testing.assert_array_equal(found.means_, expected.means_)
        np.testing.assert_array_equal(found.covariances_, expected.covariances_)
    np.testing.assert_array_equal(found.trace_["bound"], expected.trace_["bound"])


@pytest.fixture(autouse=True)
def quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        yield


@pytest.mark.parametrize("workers", [1, 2, 3, pytest.param(7, marks=pytest.mark.nightly)])
def test_the_bits_of_one_machine(cluster, docs, points, workers):
    here = lda(n_jobs=2).fit(docs)
    there = ld.fit(lda(n_jobs=1), docs, workers=workers)
    same(there, here)
    assert there.n_features_in_ == 60 and there.transform(np.ones((2, 60))).shape == (2, 4)
    assert there.workers_["rounds"] >= there.n_steps_ and there.workers_["bytes_in"] > 0
    full = {"learning_method": "batch", "effective_batch_size": None}
    same(ld.fit(lda(**full), docs, workers=workers), lda(**full).fit(docs))
    same(ld.fit(gmm(), points, workers=workers), gmm().fit(points))
    batches = {"batch_size": 200, "effective_batch_size": 60, "max_iter": 2}
    same(ld.fit(gmm(**batches), points, workers=workers, threads=2), gmm(**batches).fit(points))


@pytest.mark.parametrize("workers", [1, 3, pytest.param(2, marks=pytest.mark.nightly), pytest.param(7, marks=pytest.mark.nightly)])
def test_users_stay_with_their_workers_with_the_bits_of_one_machine(cluster, ratings, workers):
    for given in ({}, {"effective_batch_size": "3t", "max_iter": 15}):
        here = pmf(n_jobs=2, **given).fit(ratings)
        there = ld.fit(pmf(n_jobs=1, **given), ratings, workers=workers)
        same(there, here)
        assert list(there.users_) == list(here.users_) and len(there.recommend(there.users_[0], 3)) == 3
    both = ratings.parent / "both.dat"
    both.write_text("".join((ratings.parent / name).read_text() for name in ("a.dat", "b.dat")))
    np.testing.assert_allclose(pmf().fit(ratings).lower_bound_, pmf().fit(both).lower_bound_, rtol=1e-3)


@pytest.mark.skipif(sys.platform != "linux", reason="looks for processes")
def test_users_of_a_killed_worker_are_made_again(cluster, ratings):
    long = {"max_iter": 2000, "effective_batch_size": "0.05t"}
    with Killer(1) as killer:
        there = ld.fit(pmf(**long), ratings, workers=2)
    assert len(killer.killed) == 1 and there.workers_["replaced"] >= 1
    same(there, pmf(**long).fit(ratings))


def test_a_saved_fit_of_ratings_goes_on(cluster, ratings, tmp_path):
    long = {"effective_batch_size": 6, "max_iter": 30}
    expected = pmf(**long).fit(ratings)
    whole = ld.fit(pmf(**long), ratings, workers=2, save=tmp_path / "whole", every=4)
    same(whole, expected)
    shutil.copytree(tmp_path / "whole", tmp_path / "cut")
    (tmp_path / "cut" / "result.json").unlink()
    (tmp_path / "cut" / "checkpoint.safetensors").unlink()
    os.rename(tmp_path / "cut" / "checkpoint.previous.safetensors", tmp_path / "cut" / "checkpoint.safetensors")
    same(ld.resume(tmp_path / "cut", workers=3), expected)


def test_shards_are_read_from_where_fsspec_reaches(cluster, points, tmp_path):
    fsspec = pytest.importorskip("fsspec")
    address = f"file://{tmp_path}/bucket/points.shards"
    ld.shard(f"file://{points.parent}/x.npy", address, 3, kind="points")
    assert fsspec.core.url_to_fs(address)[0].exists(f"{address}/manifest.json")
    there = ld.fit(gmm(), address, workers=2, save=tmp_path / "run")
    same(there, gmm().fit(points))
    copies = list((Path(os.environ["LEHR_CACHE"]) / "shards").iterdir())
    assert len(copies) == 1 and (copies[0] / "00002.npy").stat().st_size == (points / "00002.npy").stat().st_size
    assert len(ld.transform(there, address, tmp_path / "shares")) == 3
    # A copy that is damaged is refused by its hash.
    data = bytearray((copies[0] / "00001.npy").read_bytes())
    data[-1] ^= 1
    (copies[0] / "00001.npy").write_bytes(data)
    with pytest.raises(errors.FormatError, match="00001.npy: is not the shard any more"):
        ld.fit(gmm(), address)
    with pytest.raises(errors.MissingFileError, match="no folder of shards"):
        ld.fit(gmm(), f"file://{tmp_path}/bucket")
    for text in ("[1, 2]", "{}", '{"shards": [', '{"shards": [{"rows": 3}]}'):
        (tmp_path / "bucket" / "manifest.json").write_text(text)
        with pytest.raises(errors.FormatError, match="bucket/manifest.json: is no manifest"):
            ld.fit(gmm(), f"file://{tmp_path}/bucket")


def worker_processes():
    """The processes of workers that are up."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", encoding="utf-8", errors="replace") as file:
                if file.read().startswith("ray::Actor"):
                    found.append(int(pid))
        except OSError:
            pass
    return found


class Killer(threading.Thread):
    """Kills a worker's process while a fit runs, `times` times."""

    def __init__(self, times=1, signal_=signal.SIGKILL):
        super().__init__(daemon=True)
        self.times, self.signal, self.killed, self.over = times, signal_, [], False
        # Those of the fit before, which may still be on their way down.
        self.before = set(worker_processes())

    def run(self):
        while len(self.killed) < self.times and not self.over:
            alive = [pid for pid in worker_processes() if pid not in self.killed and pid not in self.before]
            if alive:
                time.sleep(1.0)  # a worker that has not started yet is not one that is lost
                try:
                    os.kill(alive[0], self.signal)
                    self.killed.append(alive[0])
                except OSError:
                    pass
            time.sleep(0.05)

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.over = True
        self.join()


@pytest.mark.skipif(sys.platform != "linux", reason="looks for processes")
@pytest.mark.parametrize("times", [1, pytest.param(4, marks=pytest.mark.nightly)])
def test_a_killed_worker_is_replaced_and_changes_nothing(cluster, docs, times):
    long = {"max_iter": 600 if times == 1 else 1500}
    with Killer(times) as killer:
        there = ld.fit(lda(**long), docs, workers=2)
    assert len(killer.killed) == times
    assert there.workers_["replaced"] >= 1
    same(there, lda(**long).fit(docs))


@pytest.mark.nightly
@pytest.mark.skipif(sys.platform != "linux", reason="looks for processes")
def test_a_worker_that_sleeps_past_the_deadline_is_replaced(cluster, docs):
    with warnings.catch_warnings(record=True) as told, Killer(1, signal.SIGSTOP) as killer:
        warnings.simplefilter("always")
        there = ld.fit(lda(max_iter=400), docs, workers=2, timeout=3.0)
    assert len(killer.killed) == 1 and there.workers_["replaced"] >= 1
    assert any(issubclass(warning.category, ld.StragglerWarning) for warning in told)
    same(there, lda(max_iter=400).fit(docs))


DRIVER = """
import sys
from test_distributed import ld, lda
ld.fit(lda(max_iter=100), sys.argv[1], workers=2, save=sys.argv[2], every=20, object_store_memory=100 * 2**20)
"""


def test_a_killed_driver_is_resumed_with_other_workers(cluster, docs, tmp_path):
    run = tmp_path / "run"
    command = [sys.executable, "-c", DRIVER, str(docs), str(run)]
    driver = subprocess.Popen(command, start_new_session=True, cwd=os.path.dirname(__file__))
    try:
        deadline = time.monotonic() + 120
        while not (run / "checkpoint.previous.safetensors").exists():
            assert driver.poll() is None and time.monotonic() < deadline
            time.sleep(0.02)
        with pytest.raises(errors.RunError, match="another lehr"):
            ld.resume(run, workers=1)
    finally:
        # With its own Ray: it is alone in its group.
        os.killpg(driver.pid, signal.SIGKILL)
        driver.wait()
    assert 0 < lehr.load(run).n_steps_ < 400
    there = ld.resume(run, workers=3)
    here = lda(max_iter=100).fit(docs)
    assert there.n_steps_ == here.n_steps_ == 400 and there.workers_["workers"] == 3
    np.testing.assert_array_equal(there.components_, here.components_)
    np.testing.assert_array_equal(there.trace_["bound"], here.trace_["bound"])


def test_a_changed_shard_is_refused_with_its_name(cluster, docs, tmp_path):
    folder = tmp_path / "changed.shards"
    shutil.copytree(docs, folder)
    data = bytearray((folder / "00002.lehr").read_bytes())
    data[4096 + 6] ^= 1  # a count
    (folder / "00002.lehr").write_bytes(data)
    for fit in (lambda: ld.fit(lda(), folder, workers=2), lambda: lda().fit(folder)):
        with pytest.raises(errors.FormatError, match="00002.lehr: is not the shard any more"):
            fit()
    (folder / "00001.lehr").write_bytes(b"")
    with pytest.raises(errors.FormatError, match="00001.lehr.*0 bytes"):
        ld.fit(lda(), folder)


def test_a_worker_has_time_to_open_each_of_its_shards(cluster, docs, monkeypatch):
    fresh = []

    class Seen(_ray.Job):
        def __init__(self, slot, places, is_fresh):
            super().__init__(slot, places, is_fresh)
            fresh.append(is_fresh)

    monkeypatch.setattr(_ray, "Job", Seen)
    # Batches of one document: the worker has done tasks before it sees the last of its shards.
    ld.fit(lda(batch_size=1, max_iter=1, effective_batch_size=None), docs, workers=1)
    assert fresh[0] and 2 <= sum(fresh) <= 4 and not all(fresh)


def test_transform_writes_a_file_for_each_shard(cluster, docs, points, tmp_path):
    fitted = lda().fit(docs)
    files = ld.transform(fitted, docs, tmp_path / "theta", workers=2)
    assert [file.name for file in files] == [f"{n:05}.npy" for n in range(4)]
    found = np.concatenate([np.load(file) for file in files])
    np.testing.assert_array_equal(found, fitted.transform(docs))
    mixture = gmm().fit(points)
    files = ld.transform(mixture, points, tmp_path / "shares", workers=1)
    np.testing.assert_array_equal(np.concatenate([np.load(file) for file in files]), mixture.predict_proba(points))
    with pytest.raises(errors.DataError, match="holds 0000[0-3].npy already"):
        ld.transform(fitted, docs, tmp_path / "theta")


def test_shards_of_texts_have_one_vocabulary(tmp_path):
    (tmp_path / "a.txt").write_text("apple banana\nbanana cherry\n" * 10)
    (tmp_path / "b.txt").write_text("cherry damson\ndamson banana\n" * 10)
    both = tmp_path / "both.txt"
    both.write_text((tmp_path / "a.txt").read_text() + (tmp_path / "b.txt").read_text())
    folder = tmp_path / "words.shards"
    made = ld.shard([tmp_path / "a.txt", tmp_path / "b.txt"], folder, 3, options={"max_docs": 0.8})
    assert (made["rows"], made["columns"], made["tokens"]) == (40, 4, 80)
    assert sorted(os.listdir(folder)) == ["00000.lehr", "00001.lehr", "00002.lehr", "manifest.json", "vocabulary.json"]
    from_shards = lehr.LatentDirichletAllocation(2, random_state=0).fit(folder)
    from_file = lehr.LatentDirichletAllocation(2, random_state=0, data_options={"max_docs": 0.8}).fit(both)
    np.testing.assert_allclose(from_shards.components_, from_file.components_, rtol=1e-4)
    assert from_shards._facts["words"] == from_file._facts["words"] == ["apple", "banana", "cherry", "damson"]


@pytest.mark.parametrize(
    ("raised", "kind"), [(errors.DataError("is too much"), errors.DataError), (ZeroDivisionError("of noughts"), errors.WorkerError)]
)
def test_what_goes_wrong_in_a_worker_comes_with_its_shard(cluster, docs, tmp_path, monkeypatch, raised, kind):
    class Broken(_ray.Actor):
        def _run(self, common, parts, tasks):
            if 2 in parts:
                raise raised
            return super()._run(common, parts, tasks)

        def _transform(self, estimator, part, out):
            if part == 2:
                raise raised
            return super()._transform(estimator, part, out)

    fitted = lda().fit(docs)
    monkeypatch.setattr(_ray, "Actor", Broken)
    for fails in (lambda: ld.fit(lda(), docs, workers=2), lambda: ld.transform(fitted, docs, tmp_path / "theta")):
        with pytest.raises(kind, match=r"00002\.lehr: .*(is too much|of noughts)") as found:
            fails()
        assert "Traceback" not in str(found.value)


def test_a_machine_that_does_not_see_the_shards_says_what_to_do(cluster, docs, monkeypatch):
    class Elsewhere(_ray.Actor):
        def _opened(self):
            self.shards += "-that-are-not-there"
            return super()._opened()

    monkeypatch.setattr(_ray, "Actor", Elsewhere)
    with pytest.raises(errors.MissingFileError, match="not-there.*a worker cannot open the shards.*s3://"):
        ld.fit(lda(), docs)


def test_workers_that_do_not_come_up_are_done_without(cluster, docs, monkeypatch):
    monkeypatch.setattr(_ray, "_START", 15.0)
    # There are eight processors.
    with pytest.warns(ld.StragglerWarning, match="have not come up"):
        there = ld.fit(lda(), docs, workers=3, threads=3)
    same(there, lda().fit(docs))
    monkeypatch.setattr(_ray, "_START", 1.0)
    monkeypatch.setattr(_ray, "_FIRST", 2.0)
    with pytest.raises(errors.WorkerError, match="in 2 s; Ray has 8 processors: give fewer threads"):
        ld.fit(lda(), docs, workers=1, threads=9)


def test_progress_has_workers_bytes_and_milliseconds(cluster, docs, capfd):
    ld.fit(lda(verbose=1), docs, workers=2)
    shown = capfd.readouterr().err
    assert re.search(r"round \d+  2 workers  \d+ ms, [\d.]+ MB out and [\d.]+ MB in a round", shown), shown


def test_what_cannot_be_done_is_refused_in_words(docs, points, tmp_path, monkeypatch):
    with pytest.raises(errors.SettingError, match="holdout"):
        ld.fit(lda(holdout=0.1), docs)
    with pytest.raises(errors.SettingError, match="workers = 0"):
        ld.fit(lda(), docs, workers=0)
    with pytest.raises(errors.SettingError, match="timeout"):
        ld.fit(lda(), docs, timeout=-1)
    with pytest.raises(errors.FormatError, match="has shards of documents, and ratings are needed"):
        ld.fit(pmf(), docs)
    with pytest.raises(TypeError, match="is fitted on one machine"):
        ld.fit(object(), docs)
    with pytest.raises(errors.FormatError, match="has shards of documents, and points are needed"):
        ld.fit(gmm(), docs)
    with pytest.raises(errors.FormatError, match="no folder of shards"):
        ld.fit(lda(), tmp_path)
    with pytest.raises(errors.MissingFileError, match="no file is called like this"):
        ld.shard(tmp_path / "*.parquet", tmp_path / "x.shards")
    with pytest.raises(errors.SettingError, match="at most 1500"):
        ld.shard(points.parent / "x.npy", tmp_path / "many.shards", 1501, kind="points")
    with pytest.raises(errors.LehrError, match="holds manifest.json already|holds .* already"):
        ld.shard(points.parent / "x.npy", docs, 2, kind="points")
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(errors.MissingPackageError, match=r"pip install 'lehr\[ray\]'"):
        ld.fit(lda(), docs)


def test_ray_that_cannot_start_says_so(docs, monkeypatch):
    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    monkeypatch.setattr(ray, "shutdown", lambda: None)

    def init(**_):
        raise ConnectionError("could not connect")

    monkeypatch.setattr(ray, "init", init)
    with pytest.raises(errors.WorkerError, match="cannot be reached at auto: could not connect"):
        ld.fit(lda(), docs, address="auto")
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        port = nobody.getsockname()[1]
    monkeypatch.setattr(ray, "init", lambda **_: pytest.fail("Ray would try for minutes"))
    for address in (f"127.0.0.1:{port}", f"ray://127.0.0.1:{port}"):
        with pytest.raises(errors.WorkerError, match=f"cannot be reached at {address}: .*refused"):
            ld.fit(lda(), docs, address=address)


def test_a_ray_that_is_too_slow_to_start_is_started_again():
    class Slow:
        def __init__(self, fails):
            self.fails, self.calls = fails, []

        def init(self, **_):
            self.calls.append("init")
            if self.calls.count("init") <= self.fails:
                raise RuntimeError("The current node timed out during startup.")

        def shutdown(self):
            self.calls.append("shutdown")

    slow = Slow(2)
    _ray.started(slow, {"address": "local"})
    assert slow.calls == ["init", "shutdown", "init", "shutdown", "init"]
    for dead, address in ((Slow(3), "local"), (Slow(1), "ray://host:10001")):
        with pytest.raises(RuntimeError, match="timed out"):
            _ray.started(dead, {"address": address})


def test_the_document_runs(cluster, tmp_path, monkeypatch):
    document = (Path(__file__).resolve().parents[2] / "docs" / "guide" / "distributed.md").read_text(encoding="utf-8")
    program = document.split("```python\n")[1].split("```")[0]
    rng = np.random.default_rng(0)
    words = np.array("river bank water boat money loan rate credit game team goal score".split())
    lines = [json.dumps({"text": " ".join(rng.choice(words[4 * (n % 3) :][:4], size=20))}) + "\n" for n in range(120)]
    monkeypatch.chdir(tmp_path)
    (tmp_path / "articles.jsonl").write_text("".join(lines))
    (tmp_path / "new.jsonl").write_text("".join(lines[:3]))
    exec(program, {})  # noqa: S102
    assert sorted(path.name for path in (tmp_path / "theta").iterdir()) == [f"{n:05}.npy" for n in range(4)]
    assert lehr.load(tmp_path / "runs" / "news").n_components == 5


def test_the_program(docs, tmp_path):
    run = tmp_path / "run"
    command = [sys.executable, "-m", "lehr.distributed", "fit", "lda", str(docs), "-k", "3", "--batch", "64", "--quiet"]
    done = subprocess.run([*command, "-o", str(run)], capture_output=True, check=False, text=True, timeout=180)
    assert done.returncode == 0 and "steps, bound" in done.stdout, done.stderr
    assert lehr.load(run).n_components == 3
    done = subprocess.run([*command, "-o", str(run)], capture_output=True, check=False, text=True, timeout=180)
    assert done.returncode == 1 and done.stderr.startswith("error: "), done.stderr


@pytest.mark.nightly
def test_a_cluster_is_reached_at_its_address(docs, tmp_path):
    """Both kinds of address, of a Ray that was started by hand."""
    with socket.socket() as one, socket.socket() as other:
        one.bind(("127.0.0.1", 0))
        other.bind(("127.0.0.1", 0))
        port, client = one.getsockname()[1], other.getsockname()[1]
    # Ray's client sends no token unless it is told to; this Ray asks for none.
    environment = {**os.environ, "RAY_AUTH_MODE": "disabled", "no_proxy": "127.0.0.1"}
    start = ["ray", "start", "--head", "--node-ip-address=127.0.0.1", f"--port={port}", f"--ray-client-server-port={client}"]
    start += ["--num-cpus=2", "--include-dashboard=false", "--disable-usage-stats", f"--object-store-memory={STORE}", "--block"]
    start[0] = os.path.join(os.path.dirname(sys.executable), "ray")
    head = subprocess.Popen(start, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 120
        while True:
            assert head.poll() is None and time.monotonic() < deadline
            with socket.socket() as knock:
                if knock.connect_ex(("127.0.0.1", client)) == 0:
                    break
            time.sleep(0.5)
        for address in (f"ray://127.0.0.1:{client}", f"127.0.0.1:{port}"):
            run = tmp_path / address.rpartition(":")[2]
            command = [sys.executable, "-m", "lehr.distributed", "fit", "lda", str(docs), "-k", "3", "--batch", "64", "--quiet"]
            command += ["--address", address, "-o", str(run)]
            done = subprocess.run(command, env=environment, capture_output=True, check=False, text=True, timeout=300)
            assert done.returncode == 0, done.stderr
        one, other = (lehr.load(run) for run in sorted(tmp_path.iterdir()))
        np.testing.assert_array_equal(one.components_, other.components_)
    finally:
        head.terminate()
        head.wait()


@pytest.mark.nightly
def test_a_small_object_store_stays_flat(tmp_path):
    rng = np.random.default_rng(4)
    counts = scipy.sparse.csr_matrix(rng.poisson(0.05, size=(400, 4000)).astype(np.float64))
    scipy.sparse.save_npz(tmp_path / "x.npz", counts)
    ld.shard(tmp_path / "x.npz", tmp_path / "x.shards", 4)
    assert not ray.is_initialized() or ray.shutdown() is None
    ray.init(
        address="local",
        num_cpus=2,
        include_dashboard=False,
        object_store_memory=200 * 2**20,
        log_to_driver=False,
        _node_ip_address="127.0.0.1",
    )
    try:
        # More than 20 times what the store holds; what is sent to workers goes through it.
        make = lehr.LatentDirichletAllocation
        there = make(100, learning_method="online", batch_size=100, max_iter=500, random_state=0)
        there = ld.fit(there, tmp_path / "x.shards", workers=2)
        assert there.workers_["rounds"] >= 2000 and there.workers_["bytes_out"] > 20 * 200 * 2**20
        free = ray.available_resources().get("object_store_memory", 0)
        assert free > 0.9 * 200 * 2**20
    finally:
        ray.shutdown()
