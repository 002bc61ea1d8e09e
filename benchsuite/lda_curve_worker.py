"""The half of lda_curve.py that needs numpy and the peers; one process a job.

Run by lda_curve.py with the interpreter of benchsuite/.venv. A training job
keeps its topics at marks on a clock that runs during training only, in .npz
files: `lambda`, words by topics, and `alpha`. It prints one JSON line with
the files, their seconds and how often each document had been seen by then.
"""

import csv
import itertools
import json
import sys
import time
from pathlib import Path

from lda_worker import completion, gensim_documents, read_lambda, safetensor, sklearn_steps, versions as lda_versions


class Marks:
    """When topics are kept: at seconds of training that grow by a factor, up to the last."""

    def __init__(self, folder, seconds, count):
        self.folder = Path(folder)
        self.times = [float(seconds) * 2.0 ** -(n / 2) for n in reversed(range(int(count)))]
        self.kept = []

    @property
    def is_over(self):
        return not self.times

    def pass_by(self, seconds, passes, topics):
        """Keeps `topics()`, a pair of lambda and alpha, if a mark has been passed."""
        import numpy as np

        if self.is_over or seconds < self.times[0]:
            return
        while self.times and self.times[0] <= seconds:
            self.times.pop(0)
        lam, alpha = topics()
        file = self.folder / f"topics-{len(self.kept)}.npz"
        np.savez(file, **{"lambda": lam.astype(np.float32), "alpha": alpha})
        self.kept.append({"file": str(file), "seconds": seconds, "passes": passes})


def train_sklearn(corpus, k, jobs, seed, seconds, count, folder):
    """LatentDirichletAllocation by partial_fit, with its defaults for priors, step sizes and local steps.

    Batches have 1000 documents, as lehr's, not its default of 128.
    """
    import numpy as np
    from scipy import sparse

    x, marks, batch = sparse.load_npz(corpus), Marks(folder, seconds, count), 1000
    k, n = int(k), x.shape[0]
    batches = [x[first : first + batch] for first in range(0, n - n % batch or n, batch)]
    settings = {"n_components": k, "n_jobs": int(jobs), "random_state": int(seed)}
    taken = 0.0
    for step, (lda, seconds) in enumerate(sklearn_steps(itertools.cycle(batches), n, settings), 1):
        taken += seconds
        marks.pass_by(taken, step / len(batches), lambda: (lda.components_.T, np.full(k, 1.0 / k)))
        if marks.is_over:
            return marks.kept


def train_gensim(corpus, k, workers, seed, seconds, count, folder):
    """LdaMulticore with its defaults: chunks of 2000, rho_t = (1 + t)^-0.5, alpha = eta = 1/K, 50 iterations.

    No perplexity is estimated on the way. The documents come round and round until the time is over, in one
    call of `update`, which complains in the end that there were more than were announced.
    """
    from gensim.models import LdaMulticore
    from scipy import sparse

    x, marks = sparse.load_npz(corpus), Marks(folder, seconds, count)
    documents = gensim_documents(x)
    words = {word: str(word) for word in range(x.shape[1])}
    lda = LdaMulticore(num_topics=int(k), id2word=words, workers=int(workers), eval_every=None, random_state=int(seed))
    update, begin, apart = lda.do_mstep, 0.0, 0.0

    def updated(*args):
        nonlocal apart
        update(*args)
        now = time.perf_counter()
        passes = lda.num_updates / len(documents)
        marks.pass_by(now - begin - apart, passes, lambda: (lda.state.get_lambda().T, lda.alpha))
        apart += time.perf_counter() - now

    class Rounds:
        def __len__(self):
            return len(documents)

        def __iter__(self):
            for document in itertools.cycle(documents):
                if marks.is_over:
                    return
                yield document

    lda.do_mstep = updated
    begin = time.perf_counter()
    try:
        lda.update(Rounds())
    except RuntimeError as error:
        if "size changed" not in str(error):
            raise
    return marks.kept


def train_tomotopy(corpus, k, workers, seed, seconds, count, folder):
    """LDAModel (collapsed Gibbs sampling) with its defaults: alpha 0.1, learned every 10 sweeps, eta 0.01."""
    import numpy as np
    import tomotopy
    from scipy import sparse

    x, marks = sparse.load_npz(corpus), Marks(folder, seconds, count)
    names = np.array([str(word) for word in range(x.shape[1])], dtype=object)
    model = tomotopy.LDAModel(k=int(k), seed=int(seed))
    for a, b in zip(x.indptr[:-1], x.indptr[1:]):
        model.add_doc(np.repeat(names[x.indices[a:b]], x.data[a:b].astype(int)).tolist())
    # Allocates and draws the start.
    model.train(0, workers=int(workers))
    order = np.array([int(name) for name in model.used_vocabs])

    def topics():
        # A word that no training document has keeps the prior.
        lam = np.full((x.shape[1], model.k), model.eta)
        for topic in range(model.k):
            lam[order, topic] = model.get_topic_word_dist(topic, normalize=False)
        return lam, np.asarray(model.alpha, dtype=np.float64)

    taken, sweeps = 0.0, 0
    while not marks.is_over:
        begin = time.perf_counter()
        # Sweeps that fit before the next mark, by the pace so far.
        more = max(1, min(10, int((marks.times[0] - taken) / (taken / sweeps)))) if sweeps else 1
        model.train(more, workers=int(workers))
        taken, sweeps = taken + time.perf_counter() - begin, sweeps + more
        marks.pass_by(taken, sweeps, topics)
    return marks.kept


def score(heldout, k, tolerance, iterations, *files):
    """Completion of each file's topics, by one function for all programs."""
    import numpy as np
    from scipy import sparse

    test = sparse.load_npz(heldout)
    scores = []
    for file in files:
        if file.endswith(".npz"):
            with np.load(file) as kept:
                lam, alpha = kept["lambda"].astype(np.float64), kept["alpha"]
        else:
            lam, alpha = read_lambda(file, int(k), test.shape[1]), safetensor(file, "alpha")
        scores.append(completion(test, lam, alpha, tolerance, iterations)["completion"])
    return scores


COLOURS = {"lehr": "#d55e00", "tomotopy": "#0072b2", "scikit-learn": "#009e73", "gensim": "#7f7f7f"}


def plot(table, title, *pictures):
    """Draws the completion of curve.csv against seconds; a line for every round, a colour for every program."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    curves = {}
    with open(table, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            point = (float(row["seconds"]), float(row["completion"]))
            curves.setdefault(row["program"], {}).setdefault(row["round"], []).append(point)
    pyplot.rcParams.update({"font.size": 11, "svg.fonttype": "none", "svg.hashsalt": "lehr"})
    figure, axis = pyplot.subplots(figsize=(7.6, 4.6), layout="constrained")
    ends = {}
    for program, rounds in curves.items():
        style = {"linewidth": 2.4, "zorder": 3} if program == "lehr" else {"linewidth": 1.6}
        for points in rounds.values():
            axis.plot(*zip(*sorted(points)), marker="o", markersize=4, color=COLOURS[program], **style)
        ends[program] = max((point for points in rounds.values() for point in points), key=lambda p: p[0])
    best = max(y for rounds in curves.values() for points in rounds.values() for _, y in points)
    lowest = min(y for rounds in curves.values() for points in rounds.values() for _, y in points)
    # The first steps of all programs are far below; what matters is where the lines come together.
    axis.set_ylim(max(lowest, best - 0.9) - 0.02, best + 0.05)
    axis.set_xscale("log")
    axis.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axis.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}"))
    axis.xaxis.set_minor_formatter(NullFormatter())
    span = axis.get_ylim()[1] - axis.get_ylim()[0]
    heights = []
    for program, (x, y) in sorted(ends.items(), key=lambda end: -end[1][1]):
        height = min([y, *(above - 0.055 * span for above in heights[-1:])])
        heights.append(height)
        weight = "bold" if program == "lehr" else "normal"
        axis.annotate(
            program, (x, height), xytext=(9, 0), textcoords="offset points", va="center",
            color=COLOURS[program], fontweight=weight, annotation_clip=False,
        )  # fmt: skip
    axis.set_xlabel("seconds of training")
    axis.set_ylabel("held-out completion (nats per word)")
    axis.set_title(title, loc="left", fontsize=12)
    axis.grid(which="major", alpha=0.3)
    for side in ("top", "right"):
        axis.spines[side].set_visible(False)
    for picture in pictures:
        metadata = {"Date": None} if picture.endswith(".svg") else None
        figure.savefig(picture, dpi=150, metadata=metadata)
    return {"pictures": pictures}


def versions():
    import importlib.metadata

    return lda_versions() | {name: importlib.metadata.version(name) for name in ("tomotopy", "matplotlib")}


JOBS = {
    "scikit-learn": train_sklearn,
    "gensim": train_gensim,
    "tomotopy": train_tomotopy,
    "score": score,
    "plot": plot,
    "versions": versions,
}

if __name__ == "__main__":
    print(json.dumps(JOBS[sys.argv[1]](*sys.argv[2:])))
