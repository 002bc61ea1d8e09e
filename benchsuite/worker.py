"""The half of mixture.py that needs numpy and scikit-learn; one process a job.

Run by mixture.py with the interpreter of benchsuite/.venv. Each job prints one
JSON line.
"""

import json
import sys
import time
import warnings


def make_data(path, n, d, k, seed):
    """A mixture of k correlated Gaussians in d dimensions, overlapping."""
    import numpy as np

    rng = np.random.default_rng(int(seed))
    n, d, k = int(n), int(d), int(k)
    centres = 3.0 * rng.standard_normal((k, d))
    mixes = np.eye(d) + 0.4 / np.sqrt(d) * rng.standard_normal((k, d, d))
    label = rng.choice(k, size=n, p=rng.dirichlet(np.full(k, 5.0)))
    x = rng.standard_normal((n, d))
    for j in range(k):
        mine = label == j
        x[mine] = x[mine] @ mixes[j].T + centres[j]
    np.save(path, x)
    return {"bytes": x.nbytes}


def sklearn_sweep(path, k, seed):
    """Seconds per sweep: (fit with 4 iterations - fit with 1) / 3.

    Both fits start alike, and what is not a sweep (start, validation, the last
    E step) is in both, so the difference is three E and M steps.
    """
    import numpy as np
    from sklearn.mixture import BayesianGaussianMixture

    warnings.simplefilter("ignore")
    x = np.load(path)

    def fit(rows, max_iter):
        model = BayesianGaussianMixture(
            n_components=int(k),
            covariance_type="full",
            init_params="random_from_data",
            tol=0.0,
            max_iter=max_iter,
            random_state=int(seed),
        )
        start = time.perf_counter()
        model.fit(rows)
        seconds = time.perf_counter() - start
        if model.n_iter_ != max_iter:
            raise RuntimeError(f"stopped after {model.n_iter_} of {max_iter} iterations")
        return seconds

    # Lazy imports and BLAS threads are not the sweep's cost.
    fit(x[: max(4 * int(k), 256)], 1)
    one = fit(x, 1)
    four = fit(x, 4)
    return {"seconds_per_sweep": (four - one) / 3.0, "fit_1": one, "fit_4": four}


def versions():
    import numpy
    import scipy
    import sklearn
    import sklearn.mixture  # noqa: F401  (loads the BLAS)
    import threadpoolctl

    pools = [
        " ".join(
            str(pool[key])
            for key in ("internal_api", "version", "architecture", "threading_layer")
            if pool.get(key)
        )
        + f" ({pool['num_threads']} threads)"
        for pool in threadpoolctl.threadpool_info()
    ]
    return {
        "python": sys.version.split()[0],
        "numpy": numpy.__version__,
        "scipy": scipy.__version__,
        "scikit-learn": sklearn.__version__,
        "thread pools": "; ".join(sorted(set(pools))),
    }


JOBS = {"data": make_data, "sklearn": sklearn_sweep, "versions": versions}

if __name__ == "__main__":
    print(json.dumps(JOBS[sys.argv[1]](*sys.argv[2:])))
