"""With other tools: pickles, copies, forks, threads, signals, progress, callbacks, memory."""

import copy
import multiprocessing
import pickle
import sys
import threading
import time

import joblib
import numpy as np
import pytest
from sklearn.base import clone

from lehr import BayesianGaussianMixture, LatentDirichletAllocation, ProbabilisticMatrixFactorization


@pytest.fixture
def all_three(blobs, counts, ratings):
    return [
        (BayesianGaussianMixture(3, random_state=0).fit(blobs), blobs, "predict_proba"),
        (LatentDirichletAllocation(2, random_state=0).fit(counts), counts, "transform"),
        (ProbabilisticMatrixFactorization(2, random_state=0).fit(ratings), ratings, "transform"),
    ]


def test_pickles_and_copies_are_the_same_model(all_three, tmp_path):
    for model, X, method in all_three:
        expected = getattr(model, method)(X)
        joblib.dump(model, tmp_path / "model.joblib")
        for same in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model), joblib.load(tmp_path / "model.joblib")):
            np.testing.assert_array_equal(getattr(same, method)(X), expected)
            np.testing.assert_array_equal(same.trace_["bound"], model.trace_["bound"])
        assert not hasattr(clone(model), "_core")
        model.partial_fit(X)  # a pickled model is still itself


def test_threads_do_not_change_bits(blobs, counts):
    one = BayesianGaussianMixture(3, n_jobs=1, random_state=0).fit(blobs)
    two = BayesianGaussianMixture(3, n_jobs=2, random_state=0).fit(blobs)
    np.testing.assert_array_equal(one.means_, two.means_)
    one = LatentDirichletAllocation(2, n_jobs=1, random_state=0).fit(counts)
    two = LatentDirichletAllocation(2, n_jobs=3, random_state=0).fit(counts)
    np.testing.assert_array_equal(one.components_, two.components_)


def fit_means(X):
    return BayesianGaussianMixture(3, n_jobs=2, random_state=0).fit(X).means_


def test_a_forked_process_can_fit(blobs):
    expected = fit_means(blobs)  # whatever threads there were are gone in the child
    with multiprocessing.get_context("fork").Pool(1) as pool:
        found = pool.apply_async(fit_means, (blobs,)).get(timeout=60)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.skipif(sys.platform != "linux", reason="counts threads")
def test_a_short_prediction_starts_no_thread_and_says_the_same(subprocess_python):
    # In its own process: threads that others have left behind may end at any time.
    code = """
import json, time
from pathlib import Path
import numpy as np
from lehr import BayesianGaussianMixture
X = np.random.default_rng(0).normal(size=(3000, 4)) + 5 * (np.arange(3000) % 3)[:, None]
mixture = BayesianGaussianMixture(3, random_state=0).fit(X)
n_threads = lambda: len(list(Path("/proc/self/task").iterdir()))
time.sleep(1)  # the fit's threads come to their ends
before, same = n_threads(), []
for name in ("predict", "predict_proba", "score_samples", "log_predictive"):
    method = getattr(mixture, name)
    short = np.concatenate([method(X[n : n + 1]) for n in range(40)])
    same.append(n_threads() == before and bool((short == method(X)[:40]).all()))
    while n_threads() > before:
        pass
print(json.dumps(same))
"""
    assert subprocess_python(code) == [True] * 4


def test_what_is_wrong_with_one_row_is_told_as_ever(blobs):
    mixture = BayesianGaussianMixture(3, random_state=0).fit(blobs)
    with pytest.raises(ValueError, match="is expecting 2 features as input"):
        mixture.predict(np.zeros((1, 3)))
    with pytest.raises(ValueError, match="Expected 2D array"):
        mixture.predict(np.zeros(2))
    with pytest.raises(ValueError, match="minimum of 1 is required"):
        mixture.predict(np.zeros((0, 2)))
    with pytest.raises(ValueError, match="must be finite"):
        mixture.predict(np.array([[np.inf, 0.0]]))
    mixture.n_jobs = 0
    with pytest.raises(ValueError, match="n_jobs"):
        mixture.predict(blobs[:1])


def test_other_threads_run_meanwhile():
    X = np.random.default_rng(0).normal(size=(20_000, 8))
    ticks = []

    def count():
        while not done.is_set():
            ticks.append(time.monotonic())
            time.sleep(0.005)

    done = threading.Event()
    counter = threading.Thread(target=count)
    counter.start()
    begin = time.monotonic()
    BayesianGaussianMixture(10, max_iter=15, tol=0, random_state=0).fit(X)
    end = time.monotonic()
    done.set()
    counter.join()
    assert sum(begin < tick < end for tick in ticks) >= 3


INTERRUPTED = """
import json, os, signal, sys, threading, time
import numpy as np
from lehr import BayesianGaussianMixture
X = np.random.default_rng(0).normal(size=(20_000, 8))
mixture = BayesianGaussianMixture(10, max_iter=10**6, tol=0, init_params="random_from_data", random_state=0)
def interrupt():
    # By the work that was done, not by the clock: on a busy machine the fit starts late.
    while time.process_time() < begin + 0.7:
        time.sleep(0.01)
    os.kill(os.getpid(), signal.SIGINT)
begin = time.process_time()
threading.Thread(target=interrupt, daemon=True).start()
try:
    mixture.fit(X)
    raised = False
except KeyboardInterrupt:
    raised = True
print(json.dumps({"raised": raised, "steps": mixture.n_steps_, "labels": len(mixture.predict(X)),
                  "bound": mixture.lower_bound_, "stop": mixture._outcome["stop"]}))
"""


def test_an_interrupt_leaves_a_usable_model(subprocess_python):
    told = subprocess_python(INTERRUPTED)
    assert told["raised"] and told["steps"] >= 1 and told["labels"] == 20_000
    assert np.isfinite(told["bound"]) and told["stop"] == "interrupted"


IN_THE_START = """
import json, os, signal, threading, time
import numpy as np
from lehr import BayesianGaussianMixture
X = np.random.default_rng(0).normal(size=(20_000, 10))
mixture = BayesianGaussianMixture(2000, max_iter=1, random_state=0)
def interrupt():
    # By the work that was done: reading the array is nothing, the start takes a hundred times as long.
    while time.process_time() < begin + 0.5:
        time.sleep(0.01)
    os.kill(os.getpid(), signal.SIGINT)
begin = time.process_time()
threading.Thread(target=interrupt, daemon=True).start()
try:
    mixture.fit(X)
    raised = False
except KeyboardInterrupt:
    raised = True
print(json.dumps({"raised": raised, "fitted": hasattr(mixture, "n_steps_")}))
"""


def test_an_interrupt_in_the_start_leaves_no_model(subprocess_python):
    assert subprocess_python(IN_THE_START) == {"raised": True, "fitted": False}


ELSEWHERE = """
import json, os, signal, threading, time
import numpy as np
from lehr import BayesianGaussianMixture, LatentDirichletAllocation
rng = np.random.default_rng(0)
{before}
def interrupt():
    # By the work that was done: on any machine it takes many times as long.
    while time.process_time() < begin + 0.3:
        time.sleep(0.005)
    sent.append(time.process_time())
    os.kill(os.getpid(), signal.SIGINT)
sent, begin = [], time.process_time()
threading.Thread(target=interrupt, daemon=True).start()
try:
    {work}
    raised = False
except KeyboardInterrupt:
    raised = True
print(json.dumps({{"raised": raised, "worked": time.process_time() - sent[0]}}))
"""
READING = """
file = {file!r}
with open(file, "w") as out:
    out.writelines(100_000 * "1.25,2.5,3.75,-4.5,5.25,6.5,7.75,8.25\\n2.25,1.5,4.75,-3.5,6.25,5.5,8.75,7.25\\n" for _ in range(12))
"""
SCORING = """
X = rng.normal(size=(1_000_000, 8))
model = BayesianGaussianMixture({k}, max_iter=1, init_params="random_from_data", random_state=0).fit(X[:2000])
"""


# With this many components each takes several seconds on any machine.
@pytest.mark.parametrize(("work", "k"), [("score_samples", 1000), ("predict", 1000), ("log_predictive", 200)])
def test_an_interrupt_ends_a_long_readout(subprocess_python, work, k):
    told = subprocess_python(ELSEWHERE.format(before=SCORING.format(k=k), work=f"model.{work}(X)"))
    # By work and not by the clock.
    assert told["raised"] and told["worked"] < 1


def test_an_interrupt_ends_the_reading_of_a_file(subprocess_python, tmp_path):
    before = READING.format(file=str(tmp_path / "large.csv"))
    told = subprocess_python(ELSEWHERE.format(before=before, work="BayesianGaussianMixture(2).fit(file)"))
    assert told["raised"] and told["worked"] < 1


WAITING = """
import json, os, signal, threading, time
from lehr import BayesianGaussianMixture
os.mkfifo({file!r})
threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    BayesianGaussianMixture(2).fit({file!r})
    raised = False
except KeyboardInterrupt:
    raised = True
print(json.dumps({{"raised": raised}}))
"""


def test_an_interrupt_ends_the_wait_for_a_pipe_that_nobody_feeds(subprocess_python, tmp_path):
    # Not heeded, it would wait for ever, and the test for its process.
    assert subprocess_python(WAITING.format(file=str(tmp_path / "pipe.csv"))) == {"raised": True}


def test_many_threads_are_few(blobs):
    # Four thousand threads would take a minute; lehr::threads has the number that there are.
    many = [BayesianGaussianMixture(3, n_jobs=n, random_state=0).fit(blobs).means_ for n in (1, 4096, 10**6, 2**40)]
    for means in many[1:]:
        np.testing.assert_array_equal(means, many[0])


WIDE = """
import json, os, signal, threading, time
import numpy as np
from lehr import BayesianGaussianMixture
X = np.random.default_rng(0).normal(size=(60, 500))
mixture = BayesianGaussianMixture(8, max_iter=10**6, tol=0, init_params="random_from_data", random_state=0)
def interrupt():
    while time.process_time() < begin + 4.0:
        time.sleep(0.01)
    os.kill(os.getpid(), signal.SIGINT)
begin = time.process_time()
threading.Thread(target=interrupt, daemon=True).start()
try:
    mixture.fit(X)
    raised = False
except KeyboardInterrupt:
    raised = True
print(json.dumps({"raised": raised, "steps": mixture.n_steps_, "labels": len(mixture.predict(X))}))
"""


def test_an_interrupt_inside_a_step_of_a_wide_table_leaves_the_steps_before(subprocess_python):
    told = subprocess_python(WIDE)
    assert told["raised"] and told["steps"] < 10_000 and told["labels"] == 60


def test_a_table_that_is_too_wide_is_refused():
    X = np.random.default_rng(0).normal(size=(4, 12_000))
    with pytest.raises(MemoryError, match=r"full covariances of 12000 columns, 2 components.*covariance_type='diag'"):
        BayesianGaussianMixture(2).fit(X)
    assert BayesianGaussianMixture(2, covariance_type="diag", random_state=0).fit(X).means_.shape == (2, 12_000)


MEMORY = """
import json, resource
import numpy as np
from lehr import BayesianGaussianMixture
# In place: what the numbers are made from must not have been in memory with them.
X = np.empty((600_000, 10), dtype={dtype!r})
np.random.default_rng(0).standard_normal(dtype=X.dtype, out=X)
def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
BayesianGaussianMixture(2, max_iter=1, tol=0, random_state=0).fit(X[:1000].copy())
before = peak()
BayesianGaussianMixture(2, max_iter=2, tol=0, random_state=0).fit(X)
print(json.dumps({{"grown": peak() - before, "size": X.nbytes}}))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads memory as Linux tells it: elsewhere ru_maxrss has another unit")
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_an_array_in_c_order_is_not_copied(subprocess_python, dtype):
    told = subprocess_python(MEMORY.format(dtype=dtype))
    assert told["grown"] < told["size"] / 2


def test_callbacks_hear_of_a_fit_and_can_end_it(blobs):
    pytest.importorskip("sklearn.callback")

    class Ends:
        def __init__(self):
            self.steps = []

        def setup(self, estimator, context):
            pass

        def teardown(self, estimator, context):
            self.ended = True

        def on_fit_task_begin(self, estimator, context):
            pass

        def on_fit_task_end(self, estimator, context, *, metadata=None):
            if metadata:
                self.steps.append(metadata["step"])
            return len(self.steps) >= 3

    ends = Ends()
    mixture = BayesianGaussianMixture(3, tol=0, max_iter=10_000, random_state=0).set_callbacks(ends).fit(blobs)
    assert ends.steps[:3] == [1, 2, 3] and ends.ended
    assert mixture.n_steps_ < 10_000 and mixture.predict(blobs).shape == (90,)


def test_an_exception_of_a_callback_comes_through(blobs):
    pytest.importorskip("sklearn.callback")

    class Fails:
        def setup(self, estimator, context):
            pass

        def teardown(self, estimator, context):
            pass

        def on_fit_task_begin(self, estimator, context):
            pass

        def on_fit_task_end(self, estimator, context):
            raise OverflowError("enough")

    with pytest.raises(OverflowError, match="enough"):
        BayesianGaussianMixture(3, random_state=0).set_callbacks(Fails()).fit(blobs)


def test_a_time_limit_ends_a_fit():
    X = np.random.default_rng(0).normal(size=(20_000, 8))
    settings = {"max_iter": 10**6, "tol": 0, "init_params": "random_from_data", "random_state": 0}
    mixture = BayesianGaussianMixture(10, time_limit=0.3, **settings).fit(X)
    assert mixture._outcome["stop"] == "time"
    assert mixture.predict(X[:3]).shape == (3,)
