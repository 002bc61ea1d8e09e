"""The half of pmf.py that needs numpy, cmfrec and libmf; one process a job.

Run by pmf.py with the interpreter of benchsuite/.venv. Each job prints one JSON
line. The peers read an .npz with users and items numbered from 0, lehr reads
`user::item::rating::0` lines with the file's own ids; both are written from the
same split.
"""

import gzip
import importlib.metadata
import json
import sys
import time
from pathlib import Path

# What a made set imitates where there is no file: users, items, ratings.
SHAPES = {"ml-1m": (6_040, 3_706, 1_000_209), "netflix-10m": (42_806, 17_763, 9_980_226)}


# --- Ratings -----------------------------------------------------------------


def read_ratings(path):
    """Users, items and ratings of a gzipped MovieLens file."""
    import numpy as np

    with gzip.open(path, "rb") as file:
        text = file.read().replace(b"::", b" ").decode("ascii")
    table = np.fromstring(text, dtype=np.float64, sep=" ").reshape(-1, 4)
    return table[:, 0].astype(np.int64), table[:, 1].astype(np.int64), table[:, 2]


def make_ratings(shape, seed):
    """Stars 1 to 5 from biases, 20 factors and noise.

    Users' activity and items' popularity have about the long tails of the
    MovieLens and Netflix sets; no pair comes twice.
    """
    import numpy as np

    users, items, wanted = shape
    rng = np.random.RandomState(seed)
    activity = np.cumsum(rng.lognormal(0.0, 1.1, users))
    popularity = np.cumsum(rng.lognormal(0.0, 1.7, items))
    pairs = np.empty(0, dtype=np.int64)
    while len(pairs) < wanted:
        n = int(1.2 * (wanted - len(pairs))) + 1000
        i = np.searchsorted(activity / activity[-1], rng.random_sample(n))
        j = np.searchsorted(popularity / popularity[-1], rng.random_sample(n))
        pairs = np.unique(np.concatenate([pairs, i * items + j]))
    pairs = np.sort(rng.permutation(pairs)[:wanted])
    i, j = pairs // items, pairs % items
    d = 20
    left, right = (rng.standard_normal((n, d)) * 0.45 / d**0.25 for n in (users, items))
    bias_left, bias_right = 0.4 * rng.standard_normal(users), 0.5 * rng.standard_normal(items)
    stars = np.empty(wanted)
    for first in range(0, wanted, 1_000_000):
        part = slice(first, first + 1_000_000)
        mean = 3.6 + bias_left[i[part]] + bias_right[j[part]] + (left[i[part]] * right[j[part]]).sum(axis=1)
        stars[part] = np.clip(np.rint(mean + 0.8 * rng.standard_normal(len(mean))), 1, 5)
    return i + 1, j + 1, stars


def write_dat(path, users, items, stars):
    with open(path, "w", encoding="ascii") as file:
        for first in range(0, len(users), 500_000):
            part = slice(first, first + 500_000)
            lines = zip(users[part].tolist(), items[part].tolist(), stars[part].tolist())
            file.write("".join(map("%d::%d::%g::0\n".__mod__, lines)))


def prepare(source, name, directory, share, seed, limit):
    """A 90/10 split of one set, the same for all programs.

    Test ratings of users or items that are not in the training part are left
    out: there is nothing to compare. `limit` cuts the set for a trial.
    """
    import numpy as np

    directory, limit = Path(directory), int(limit)
    made = source == "made"
    if made:
        shape = SHAPES[name]
        if limit:
            cut = (limit / shape[2]) ** 0.5
            shape = (int(shape[0] * cut), int(shape[1] * cut), limit)
        users, items, stars = make_ratings(shape, int(seed))
    else:
        users, items, stars = read_ratings(source)
        if limit:
            users, items, stars = users[:limit], items[:limit], stars[:limit]
    order = np.random.RandomState(int(seed)).permutation(len(stars))
    n_test = int(round(float(share) * len(stars)))
    # The file's own order is kept within each part.
    test, train = np.sort(order[:n_test]), np.sort(order[n_test:])
    user_ids, user_of = np.unique(users[train], return_inverse=True)
    item_ids, item_of = np.unique(items[train], return_inverse=True)
    known = np.isin(users[test], user_ids) & np.isin(items[test], item_ids)
    cold, test = int((~known).sum()), test[known]
    np.savez(
        directory / f"{name}.npz",
        shape=np.array([len(user_ids), len(item_ids)]),
        i=user_of.astype(np.int32),
        j=item_of.astype(np.int32),
        x=stars[train],
        test_i=np.searchsorted(user_ids, users[test]).astype(np.int32),
        test_j=np.searchsorted(item_ids, items[test]).astype(np.int32),
        test_x=stars[test],
    )
    for part, rows in (("train", train), ("test", test)):
        write_dat(directory / f"{name}.{part}.dat", users[rows], items[rows], stars[rows])
    mean = stars[train].mean()
    return {
        "made": made,
        "users": len(user_ids),
        "items": len(item_ids),
        "train": len(train),
        "test": len(test),
        "cold": cold,
        "rmse_of_the_mean": float(np.sqrt(np.mean((stars[test] - mean) ** 2))),
    }


# --- Peers -------------------------------------------------------------------


def load(path):
    """The training matrix and the test triples."""
    import numpy as np
    from scipy import sparse

    with np.load(path) as file:
        data = {name: file[name] for name in file.files}
    x = sparse.coo_matrix((data["x"], (data["i"], data["j"])), shape=tuple(data["shape"]))
    return x, data["test_i"], data["test_j"], data["test_x"]


def rmse(predicted, stars):
    import numpy as np

    predicted = np.asarray(predicted, dtype=np.float64)
    if not np.isfinite(predicted).all():
        raise SystemExit("predictions that are no numbers")
    return float(np.sqrt(np.mean((predicted - stars) ** 2)))


def cmf(x, kind, d, threads, seed, niter, **settings):
    """A fitted CMF, and the wall and processor seconds of its fit.

    Exact ALS (Cholesky) with cmfrec's default biases and centring.
    """
    import threadpoolctl
    from cmfrec import CMF

    model = CMF(
        k=int(d),
        method="als",
        use_cg=False,
        finalize_chol=False,
        niter=int(niter),
        nthreads=int(threads),
        use_float=kind == "float32",
        precompute_for_predictions=False,
        random_state=int(seed),
        verbose=False,
        **settings,
    )
    start, used = time.perf_counter(), time.process_time()
    # cmfrec's threads share out the rows; threads of the BLAS would only fight over the same cores.
    with threadpoolctl.threadpool_limits(1, "blas"):
        model.fit(x)
    return model, time.perf_counter() - start, time.process_time() - used


def cmfrec_sweep(kind, path, d, threads, seed, few, many):
    """Seconds per sweep (users and items): (fit with `many` sweeps - fit with `few`) / (many - few).

    Both start alike, and what is not a sweep (conversion, start, biases) is in both.
    """
    x, *_ = load(path)
    few, many = int(few), int(many)
    # Threads and lazy imports are not the sweep's cost.
    cmf(x.tocsr()[:200].tocoo(), kind, d, threads, seed, 1, lambda_=10.0)
    _, short, short_cpu = cmf(x, kind, d, threads, seed, few, lambda_=10.0)
    _, long, long_cpu = cmf(x, kind, d, threads, seed, many, lambda_=10.0)
    return {
        "seconds_per_sweep": (long - short) / (many - few),
        # What a busy machine changes least.
        "cpu_seconds_per_sweep": (long_cpu - short_cpu) / (many - few),
        "few": [few, short],
        "many": [many, long],
    }


def cmfrec_rmse(kind, path, d, threads, seed, ridge, scaled, niter):
    x, i, j, stars = load(path)
    settings = {"lambda_": float(ridge), "scale_lam": scaled == "scaled"}
    model, seconds, _ = cmf(x, kind, d, threads, seed, niter, **settings)
    return {"rmse": rmse(model.predict(i, j), stars), "seconds": seconds}


def libmf_rmse(path, d, threads, ridge, rate, niter):
    """libmf's SGD (float32, no biases): its fit's seconds and held-out RMSE.

    `lambda_p2` and `lambda_q2` are the ridge; the wrapper's own defaults are an
    L1 penalty instead, so all four are given. libmf draws from a fixed seed. The
    wrapper's `predict` does not agree with its factors (RMSE 1.27 against 0.87),
    so the factors are multiplied here.
    """
    import numpy as np
    from libmf import mf

    x, i, j, stars = load(path)
    table = np.column_stack([x.row, x.col, x.data]).astype(np.float32)
    model = mf.MF(
        fun=mf.P_L2_MFR,
        k=int(d),
        nr_threads=int(threads),
        nr_bins=25,
        nr_iters=int(niter),
        lambda_p1=0.0,
        lambda_p2=float(ridge),
        lambda_q1=0.0,
        lambda_q2=float(ridge),
        eta=float(rate),
        quiet=True,
    )
    start = time.perf_counter()
    model.fit(table)
    seconds = time.perf_counter() - start
    predicted = np.einsum("nk,nk->n", model.p_factors()[i], model.q_factors()[j])
    return {"rmse": rmse(predicted, stars), "seconds": seconds}


def plot(table, picture):
    """Draws the RMSE of curve.csv against seconds, a panel for each d."""
    import csv

    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    curves = {}
    with open(table, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            point = (float(row["seconds"]), float(row["rmse"]))
            curves.setdefault(int(row["d"]), {}).setdefault(row["program"], []).append(point)
    figure, axes = pyplot.subplots(1, len(curves), figsize=(5.2 * len(curves), 4), layout="constrained", squeeze=False)
    for axis, (d, programs) in zip(axes[0], sorted(curves.items())):
        for program, points in programs.items():
            style = {"color": "#d55e00", "linewidth": 2.2} if program == "lehr" else {"linewidth": 1.4}
            axis.plot(*zip(*sorted(points)), marker="o", markersize=3.5, label=program, **style)
        best = min(rmse for points in programs.values() for _, rmse in points)
        axis.set(title=f"d = {d}", xlabel="seconds of the fit", ylabel="held-out RMSE", xscale="log")
        axis.set_ylim(best - 0.005, best + 0.08)
        axis.grid(alpha=0.3)
        axis.legend()
    figure.savefig(picture, dpi=150)
    return {"picture": str(picture)}


def versions():
    import numpy
    import scipy
    import threadpoolctl
    from cmfrec import CMF  # noqa: F401  (loads the BLAS)

    pools = {f"{p['internal_api']} {p['version']}" for p in threadpoolctl.threadpool_info() if p.get("version")}
    return {
        "python": sys.version.split()[0],
        "numpy": numpy.__version__,
        "scipy": scipy.__version__,
        "cmfrec": importlib.metadata.version("cmfrec"),
        "libmf": importlib.metadata.version("libmf"),
        "BLAS": "; ".join(sorted(pools)),
    }


JOBS = {
    "prepare": prepare,
    "cmfrec": cmfrec_sweep,
    "cmfrec-rmse": cmfrec_rmse,
    "libmf": libmf_rmse,
    "plot": plot,
    "versions": versions,
}

if __name__ == "__main__":
    print(json.dumps(JOBS[sys.argv[1]](*sys.argv[2:])))
