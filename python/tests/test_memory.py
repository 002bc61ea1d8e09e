"""What memory cannot hold is a MemoryError with the size, and the process goes on."""

import sys

import pytest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="limits the address space")

LIMITED = """
import json, resource, sys
import numpy as np, scipy.sparse
import lehr
rng = np.random.default_rng(0)
def refused(work):
    try:
        work()
    except MemoryError as error:
        assert isinstance(error, lehr.LehrError), error
        return str(error)
{before}
def limit():
    used = next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmSize"))
    resource.setrlimit(resource.RLIMIT_AS, (1024 * used + 10**9,) * 2)
limit()
print(json.dumps({work}))
"""
MIXTURE = """
X = rng.normal(size=(200_000, 2))
mixture = lehr.BayesianGaussianMixture(1000, max_iter=1, init_params="random_from_data", random_state=0).fit(X[:5000])
"""


def test_responsibilities(subprocess_python):
    told = subprocess_python(LIMITED.format(before=MIXTURE, work="refused(lambda: mixture.predict_proba(X))"))
    assert "an array of 200000 x 1000 responsibilities: needs about 1.6 GB of memory, and " in told


def test_labels_need_no_responsibilities(subprocess_python):
    assert subprocess_python(LIMITED.format(before=MIXTURE, work="len(mixture.predict(X))")) == 200_000


def test_draws(subprocess_python):
    told = subprocess_python(LIMITED.format(before=MIXTURE, work="refused(lambda: mixture.sample(10**8))"))
    assert "100000000 draws of 2 numbers: needs about 3.2 GB" in told


def test_topics(subprocess_python):
    work = "refused(lambda: lehr.LatentDirichletAllocation(100_000).fit(X))"
    told = subprocess_python(LIMITED.format(before="X = rng.poisson(0.1, (20, 2000))", work=work))
    assert told.startswith("100000 topics of 2000 words: a fit needs about 4.")
    assert told.endswith("try fewer n_components, or fewer words")


def test_shares_of_topics(subprocess_python):
    before = """
X = scipy.sparse.csr_array((np.ones(10**6), np.zeros(10**6, dtype=int), np.arange(10**6 + 1)), shape=(10**6, 4))
lda = lehr.LatentDirichletAllocation(200, max_iter=1, random_state=0).fit(X[:100])
"""
    told = subprocess_python(LIMITED.format(before=before, work="refused(lambda: lda.transform(X))"))
    assert "an array of 1000000 documents x 200 topics: needs about 1.6 GB" in told


def test_latent_dimensions(subprocess_python):
    before = "X = scipy.sparse.random_array((2000, 1000), density=0.01, format='csr', rng=rng)"
    work = "refused(lambda: lehr.ProbabilisticMatrixFactorization(1000).fit(X))"
    told = subprocess_python(LIMITED.format(before=before, work=work))
    assert told.startswith("1000 latent dimensions of 2000 users and 1000 items: a fit needs about ")
    assert told.endswith("try fewer n_components")


def test_ratings_of_all_items(subprocess_python):
    before = """
X = scipy.sparse.csr_array((np.ones(20_000), (np.arange(20_000), np.arange(20_000))), shape=(20_000, 20_000))
pmf = lehr.ProbabilisticMatrixFactorization(1, max_iter=1, random_state=0).fit(X)
"""
    told = subprocess_python(LIMITED.format(before=before, work="refused(lambda: pmf.predict(X))"))
    assert "ratings of 20000 items by 20000 users: needs about 3.2 GB" in told


def test_columns_of_a_table(subprocess_python):
    work = "refused(lambda: lehr.BayesianGaussianMixture(2).fit(X))"
    told = subprocess_python(LIMITED.format(before="X = rng.normal(size=(3, 6000))", work=work))
    assert told.startswith("full covariances of 6000 columns, 2 components: a fit needs about ")
    assert "covariance_type='diag'" in told


def test_a_fit_that_fits_is_made(subprocess_python):
    work = "lehr.LatentDirichletAllocation(1000, max_iter=1, random_state=0).fit(X).components_.shape"
    assert subprocess_python(LIMITED.format(before="X = rng.poisson(0.1, (20, 2000))", work=work)) == [1000, 2000]
