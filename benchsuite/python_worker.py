"""The half of python.py that needs lehr and numpy; one process a job.

Run by python.py with an interpreter that has lehr. Each job prints one JSON
line; times start before anything is imported.
"""

import json
import sys
import time

BEGIN = time.perf_counter()


def prepare(job):
    """Writes the data of a check where both sides read them."""
    from pathlib import Path

    import numpy as np

    rng, to = np.random.default_rng(20240611), Path(job["to"])
    if job["check"] == "mixture":
        centres = rng.normal(size=(job["k"], job["d"])) * 3
        X = centres[rng.integers(job["k"], size=job["n"])] + rng.normal(size=(job["n"], job["d"]))
        np.save(to / "points.npy", X)
        return {"file": str(to / "points.npy"), "items": job["n"], "shape": {}}
    if job["check"] == "lda":
        import scipy.sparse

        X = corpus(job, rng)
        scipy.sparse.save_npz(to / "docs.npz", X)
        return {"file": str(to / "docs.npz"), "items": X.shape[0], "shape": {"V": X.shape[1], "pairs": int(X.nnz)}}
    users, items, stars = ratings(job)
    lines = [f"{u},{i},{s:g}" for u, i, s in zip(users.tolist(), items.tolist(), stars.tolist())]
    (to / "ratings.csv").write_text("user,item,rating\n" + "\n".join(lines) + "\n", encoding="ascii")
    return {"file": str(to / "ratings.csv"), "items": len(lines), "shape": {"pairs": len(lines)}}


def corpus(job, rng):
    """The first documents of the Reuters corpus, or random ones of that shape."""
    import gzip
    from pathlib import Path

    import numpy as np
    import scipy.sparse

    path = Path(job["data"] or "") / "docword.reuters-news.txt.gz"
    if not path.exists():
        n, v = job["docs"], 30_000
        words = np.minimum((v ** rng.random(n * 140)).astype(np.int64), v - 1)
        return scipy.sparse.csr_matrix((np.ones(len(words)), (np.repeat(np.arange(n), 140), words)), shape=(n, v))
    triples = []
    with gzip.open(path, "rt", encoding="ascii") as file:
        head = [int(file.readline()) for _ in range(3)]
        for line in file:
            doc, word, count = map(int, line.split())
            if doc > job["docs"]:
                break
            triples.append((doc - 1, word - 1, count))
    doc, word, count = np.array(triples).T
    return scipy.sparse.csr_matrix((count.astype(np.float64), (doc, word)), shape=(job["docs"], head[1]))


def ratings(job):
    """MovieLens 1M, or a set made in its shape."""
    from pathlib import Path

    from pmf_worker import SHAPES, make_ratings, read_ratings

    path = Path(job["data"] or "") / "ml-1m" / "ratings.dat.gz"
    users, items, stars = read_ratings(path) if path.exists() else make_ratings(SHAPES["ml-1m"], 20240611)
    most = job["ratings"] or len(users)
    return users[:most], items[:most], stars[:most]


def fit(job):
    """One fit, timed by its parts."""
    import lehr

    if job["check"] == "lda":
        import scipy.sparse
    elif job["check"] == "pmf":
        import pandas
    else:
        import numpy as np
    imported = time.perf_counter()
    shared = {"random_state": job["seed"], "n_jobs": job["threads"]}
    if job["check"] == "mixture":
        X = np.load(job["file"])
        model = lehr.BayesianGaussianMixture(job["k"], max_iter=job["steps"], tol=0, **shared)
    elif job["check"] == "lda":
        X = scipy.sparse.load_npz(job["file"])
        model = lehr.LatentDirichletAllocation(
            job["k"], learning_method="online", batch_size=job["batch"], max_iter=job["passes"], **shared
        )
    else:
        X = pandas.read_csv(job["file"])
        model = lehr.ProbabilisticMatrixFactorization(job["d"], max_iter=job["steps"], tol=0, **shared)
    read = time.perf_counter()
    model.fit(X)
    fitted = time.perf_counter()
    result = json.loads(model._core.result())
    return {
        "import_seconds": imported - BEGIN,
        "read_seconds": read - imported,
        "fit_seconds": fitted - read,
        "loop_seconds": result["seconds"],
        "parts": result["seconds_by_part"],
        "steps": model.n_steps_,
        "bound": model.lower_bound_,
    }


def memory(job):
    """How much the peak of this process grows in a fit."""
    import resource
    import warnings

    import numpy as np

    import lehr

    warnings.simplefilter("ignore")
    dtype, order = job["layout"].split(", ")
    # In place: what the numbers are made from must not have been in memory with them.
    X = np.empty((job["n"], job["d"]), dtype=dtype)
    np.random.default_rng(0).standard_normal(dtype=X.dtype, out=X)
    if order == "Fortran order":
        X = X.reshape(job["d"], job["n"]).T
    unit = 1 if sys.platform == "darwin" else 1024

    def peak():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit

    settings = {"max_iter": 2, "tol": 0, "n_jobs": job["threads"], "random_state": 0}
    # A small fit before, so that what is there once only is not counted.
    lehr.BayesianGaussianMixture(4, **settings).fit(np.ascontiguousarray(X[:1000]))
    before = peak()
    lehr.BayesianGaussianMixture(4, **settings).fit(X)
    return {"grown": peak() - before, "size": X.nbytes}


def seconds_of(call, times):
    """Seconds of one call, the median of many, after one that is not counted."""
    import statistics

    call()
    taken = []
    for _ in range(times):
        begin = time.perf_counter()
        call()
        taken.append(time.perf_counter() - begin)
    return statistics.median(taken)


def pairs(job):
    """Seconds to predict many drawn pairs of a user and an item of the training ratings."""
    import numpy as np

    from pmf_worker import cmf, load

    x, *_ = load(job["file"])
    rng = np.random.default_rng(job["seed"])
    users, items = (rng.integers(n, size=job["pairs"]) for n in x.shape)
    if job["side"] == "cmfrec":
        model, *_ = cmf(x, "float64", job["d"], job["threads"], job["seed"], 2, lambda_=10.0)
        return {"mean": seconds_of(lambda: model.predict(users, items), 5)}
    import lehr

    model = lehr.ProbabilisticMatrixFactorization(job["d"], max_iter=5, tol=0, random_state=job["seed"], n_jobs=job["threads"])
    model.fit(x.tocsr())
    return {
        "mean": seconds_of(lambda: model.predict(users, items), 5),
        "std": seconds_of(lambda: model.predict(users, items, return_std=True), 3),
    }


def one_row(job):
    """Seconds of a mixture's `predict` of a single row."""
    import warnings

    import numpy as np

    if job["side"] == "lehr":
        from lehr import BayesianGaussianMixture
    else:
        from sklearn.mixture import BayesianGaussianMixture
    warnings.simplefilter("ignore")
    X = np.random.default_rng(job["seed"]).normal(size=(2_000, job["d"]))
    model = BayesianGaussianMixture(n_components=job["k"], max_iter=20, random_state=job["seed"]).fit(X)
    return {"seconds": seconds_of(lambda: model.predict(X[:1]), job["times"])}


def versions(_job=None):
    import importlib.metadata
    import platform

    names = ("lehr", "numpy", "scipy", "scikit-learn", "pandas")
    return {"python": platform.python_version(), **{name: importlib.metadata.version(name) for name in names}}


if __name__ == "__main__":
    jobs = {"prepare": prepare, "fit": fit, "memory": memory, "pairs": pairs, "one-row": one_row, "versions": versions}
    told = jobs[sys.argv[1]](json.loads(sys.argv[2]) if len(sys.argv) > 2 else None)
    print(json.dumps(told))
