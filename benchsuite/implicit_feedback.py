"""Lists of items: lehr's implicit feedback against `implicit`'s ALS, and both against the most popular items.

    pip install implicit && python benchsuite/implicit_feedback.py --lehr target/release/lehr --ratings ratings.dat.gz

MovieLens 1M with ratings as views: every rating is a use, whatever its value. A fifth of them, drawn at random, is held
out, and each user's list of items that are not in the rest is scored by them. Both are scored by the same definitions
(NDCG@10 and recall@20 as `lehr eval --top` has them, which are written out below), ALS for every setting of a grid, of
which its best is what lehr is compared with: its settings are chosen by the test set, lehr's are not.
"""

import argparse
import gzip
import json
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np
import scipy.sparse


def read(path):
    """Users and items of all ratings, numbered from 0."""
    with gzip.open(path, "rt", encoding="latin-1") as file:
        pairs = np.array([[int(x) for x in line.split("::")[:2]] for line in file])
    return [np.unique(pairs[:, side], return_inverse=True)[1] for side in (0, 1)]


def scores(factors, train, test):
    """NDCG@10 and recall@20 of lists by inner products."""
    users, items = factors
    discount = 1 / np.log2(np.arange(2, 12))
    ndcg, recall = [], []
    for user in range(train.shape[0]):
        seen = train.indices[train.indptr[user] : train.indptr[user + 1]]
        wanted = test.indices[test.indptr[user] : test.indptr[user + 1]]
        if not len(wanted):
            continue
        score = items @ users[user]
        score[seen] = -np.inf
        top = np.argpartition(-score, 20)[:20]
        top = top[np.argsort(-score[top], kind="stable")]
        hits = np.isin(top, wanted)
        ndcg.append(discount[hits[:10]].sum() / discount[: len(wanted)].sum())
        recall.append(hits.sum() / len(wanted))
    return float(np.mean(ndcg)), float(np.mean(recall))


def of_lehr(program, folder, dims, more):
    run = folder / f"run-{dims}-{'-'.join(more).replace('.', '_')}"
    begin = time.perf_counter()
    fit = [program, "fit", "pmf", folder / "train.csv", "-d", dims, "--implicit", "--quiet", "-o", run, *more]
    subprocess.run([str(x) for x in fit], check=True)
    seconds = time.perf_counter() - begin
    told = subprocess.run(
        [str(program), "eval", str(run), str(folder / "test.csv"), "--top", "10,20", "--json"],
        check=True,
        capture_output=True,
        text=True,
    )
    ten, twenty = json.loads(told.stdout)["ranking"]
    popular = ten["popularity"]["ndcg"], twenty["popularity"]["recall"]
    return (ten["model"]["ndcg"], twenty["model"]["recall"]), popular, seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lehr", default="target/release/lehr")
    parser.add_argument("--ratings", required=True)
    parser.add_argument("--dims", type=int, nargs="+", default=[32, 64])
    parser.add_argument("--confidence", nargs="+", default=[None], help="lehr's; by default its default")
    parser.add_argument("--als", type=int, default=1, help="0 leaves ALS out")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    users, items = read(args.ratings)
    shape = users.max() + 1, items.max() + 1
    held = np.random.default_rng(args.seed).random(len(users)) < 0.2
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        for name, part in (("train", ~held), ("test", held)):
            lines = (f"{user},{item},1\n" for user, item in zip(users[part], items[part], strict=True))
            (folder / f"{name}.csv").write_text("user,item,times\n" + "".join(lines))
        print(f"{'':44} NDCG@10  recall@20  seconds")
        for dims in args.dims:
            for confidence in args.confidence:
                more = [] if confidence is None else ["--confidence", confidence]
                found, popular, seconds = of_lehr(args.lehr, folder, dims, ["--rating", "times", *more])
                name = f"lehr d = {dims} {' '.join(more)}"
                print(f"{name:44}  {found[0]:.4f}     {found[1]:.4f}  {seconds:7.1f}", flush=True)
        print(f"{'most popular':44}  {popular[0]:.4f}     {popular[1]:.4f}", flush=True)
    if not args.als:
        return
    from implicit.als import AlternatingLeastSquares
    from threadpoolctl import threadpool_limits

    matrix = [scipy.sparse.csr_matrix((np.ones(part.sum()), (users[part], items[part])), shape) for part in (~held, held)]
    for dims in args.dims:
        for regularization in (0.01, 1.0, 10.0):
            for alpha in (1.0, 5.0, 20.0):
                with threadpool_limits(1, "blas"):
                    begin = time.perf_counter()
                    als = AlternatingLeastSquares(
                        dims, regularization=regularization, alpha=alpha, iterations=20, random_state=0, use_gpu=False
                    )
                    als.fit(matrix[0], show_progress=False)
                    seconds = time.perf_counter() - begin
                found = scores((als.user_factors, als.item_factors), *matrix)
                name = f"ALS d = {dims}, regularization {regularization}, alpha {alpha}"
                print(f"{name:44}  {found[0]:.4f}     {found[1]:.4f}  {seconds:7.1f}", flush=True)


if __name__ == "__main__":
    main()
