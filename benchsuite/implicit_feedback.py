"""Lists of items: lehr's implicit feedback against `implicit`'s ALS, and both against the most popular items.

    pip install implicit && python benchsuite/implicit_feedback.py --lehr target/release/lehr --ratings ratings.dat.gz

MovieLens 1M with ratings as views: every rating is a use, whatever its value. A fifth of them, drawn at random, is held
out as the test set, and each user's list of items that are not in the rest is scored by them. Both programs are scored by
the same definitions (NDCG@10 and recall@20 as `lehr eval --top` has them, which are written out below).

Settings are chosen without the test set: an eighth of the rest is held out as well, every setting of a grid is fitted to
what then remains, and the one with the best NDCG@10, and the one with the best recall@20, are fitted again to the rest and
scored by the test set. Both have as many settings: ALS its regularization and alpha, lehr its variance of the noise (0 here
stands for learned) and its confidence; lehr with its defaults, of which nothing is chosen, is a line of its own. `--only
lehr` or `als` leaves the other out; `--reach` prints the scores of all settings by the test set, too, which nobody could
have chosen by.
"""

import argparse
import gzip
import itertools
import json
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np
import scipy.sparse

MEASURES = ("NDCG@10", "recall@20")


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


class Split:
    """Uses to fit to, and uses to score lists by."""

    def __init__(self, folder, users, items, fitted, scored):
        shape = users.max() + 1, items.max() + 1
        self.folder, self.parts = folder, []
        folder.mkdir()
        for name, part in (("train", fitted), ("test", scored)):
            lines = (f"{user},{item},1\n" for user, item in zip(users[part], items[part], strict=True))
            (folder / f"{name}.csv").write_text("user,item,times\n" + "".join(lines))
            self.parts.append(scipy.sparse.csr_matrix((np.ones(part.sum()), (users[part], items[part])), shape))

    def lehr(self, program, sweeps, dims, noise, confidence):
        run = self.folder / f"run-{dims}-{noise}-{confidence}".replace(".", "_")
        more = ["--confidence", confidence] + (["--no-learn-noise", "--noise-variance", noise] if noise else [])
        if not run.exists():
            fit = [program, "fit", "pmf", self.folder / "train.csv", "-d", dims, "--implicit", "--rating", "times"]
            limit = ["--steps", sweeps, "--eval-every", 20]
            subprocess.run([str(x) for x in [*fit, *limit, "--quiet", "-o", run, *more]], stderr=subprocess.DEVNULL)
        command = [str(program), "eval", str(run), str(self.folder / "test.csv"), "--top", "10,20", "--json"]
        told = subprocess.run(command, check=True, capture_output=True, text=True)
        ten, twenty = json.loads(told.stdout)["ranking"]
        self.popular = ten["popularity"]["ndcg"], twenty["popularity"]["recall"]
        return ten["model"]["ndcg"], twenty["model"]["recall"]

    def als(self, dims, regularization, alpha):
        from implicit.als import AlternatingLeastSquares
        from threadpoolctl import threadpool_limits

        with threadpool_limits(1, "blas"):
            als = AlternatingLeastSquares(
                dims, regularization=regularization, alpha=alpha, iterations=20, random_state=0, use_gpu=False
            )
            als.fit(self.parts[0], show_progress=False)
        return scores((als.user_factors, als.item_factors), *self.parts)


def told(name, found, begin, note=""):
    print(f"{name:52} {found[0]:.4f}     {found[1]:.4f}  {time.perf_counter() - begin:7.1f}{note}", flush=True)


def timed(name, note, of, *settings):
    begin = time.perf_counter()
    found = of(*settings)
    told(name, found, begin, note)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lehr", default="target/release/lehr")
    parser.add_argument("--ratings", required=True)
    parser.add_argument("--dims", type=int, nargs="+", default=[32, 64])
    parser.add_argument("--noise", type=float, nargs="+", default=[0.0, 0.05, 0.1], help="of lehr")
    parser.add_argument("--confidence", type=float, nargs="+", default=[0.5, 1.0, 2.0], help="of lehr")
    parser.add_argument("--sweeps", type=int, default=100, help="of lehr, at most")
    parser.add_argument("--regularization", type=float, nargs="+", default=[10.0, 30.0, 100.0], help="of ALS")
    parser.add_argument("--alpha", type=float, nargs="+", default=[1.0, 2.0, 5.0], help="of ALS")
    parser.add_argument("--only", choices=["lehr", "als"])
    parser.add_argument("--reach", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    users, items = read(args.ratings)
    random = np.random.default_rng(args.seed)
    held = random.random(len(users)) < 0.2
    chosen_by = ~held & (random.random(len(users)) < 0.125)
    with tempfile.TemporaryDirectory() as folder:
        choice = Split(Path(folder) / "choice", users, items, ~held & ~chosen_by, chosen_by)
        final = Split(Path(folder) / "final", users, items, ~held, held)
        print(f"{'':52} NDCG@10  recall@20  seconds")
        for dims in args.dims:
            if args.only != "als":
                timed(f"lehr d = {dims}, defaults", "", final.lehr, args.lehr, args.sweeps, dims, 0.0, 1.0)
                of = {
                    setting: f"lehr d = {dims}, noise {setting[0] or 'learned'}, confidence {setting[1]}"
                    for setting in itertools.product(args.noise, args.confidence)
                }
                choose(of, choice.lehr, final.lehr, (args.lehr, args.sweeps, dims), args.reach)
            if args.only != "lehr":
                of = {
                    setting: f"ALS d = {dims}, regularization {setting[0]}, alpha {setting[1]}"
                    for setting in itertools.product(args.regularization, args.alpha)
                }
                choose(of, choice.als, final.als, (dims,), args.reach)
        if args.only != "als":
            print(f"{'most popular':52} {final.popular[0]:.4f}     {final.popular[1]:.4f}", flush=True)


def choose(names, by, final, before, reach):
    """Scores all settings by the part to choose by, and the best ones by the test set."""
    found = {setting: timed(name, "  to choose by", by, *before, *setting) for setting, name in names.items()}
    for at, measure in enumerate(MEASURES):
        best = max(found, key=lambda setting: found[setting][at])
        timed(f"{names[best]}", f"  the best by {measure}", final, *before, *best)
    if reach:
        for setting, name in names.items():
            timed(name, "  by the test set", final, *before, *setting)


if __name__ == "__main__":
    main()
