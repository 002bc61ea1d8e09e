"""The half of lda.py that needs numpy, scikit-learn and gensim; one process a job.

Run by lda.py with the interpreter of benchsuite/.venv. Each job prints one JSON
line. Corpora for the peers are scipy's CSR matrices in .npz files, those for
lehr UCI bags of words; both are written from the same matrix.
"""

import gzip
import json
import random
import shutil
import sys
import time
from pathlib import Path

# What the synthetic corpus imitates when no file is given: the Reuters news.
DOCUMENTS, VOCABULARY, TOPICS = 100_950, 27_372, 100


# --- Corpora -----------------------------------------------------------------


def read_uci(path):
    """A UCI bag of words as a CSR matrix of documents by words."""
    import numpy as np
    from scipy import sparse

    opened = gzip.open(path, "rt") if str(path).endswith(".gz") else open(path, encoding="ascii")
    with opened as file:
        documents, words, entries = (int(file.readline()) for _ in range(3))
        table = np.fromstring(file.read(), dtype=np.int32, sep=" ").reshape(-1, 3)
    if len(table) != entries:
        raise SystemExit(f"{path}: {len(table)} entries, the header says {entries}")
    counts = sparse.csr_matrix(
        (table[:, 2].astype(np.float64), (table[:, 0] - 1, table[:, 1] - 1)), shape=(documents, words)
    )
    counts.sort_indices()
    return counts


def make_corpus(documents, seed):
    """Documents of an LDA with 100 topics over a Zipf vocabulary.

    Lengths and the number of different words a document are near the Reuters
    news' (243 tokens, 165 different words); every token comes from its topic.
    """
    import numpy as np
    from scipy import sparse

    rng = np.random.default_rng(seed)
    base = 1.0 / (np.arange(VOCABULARY) + 5.0) ** 1.1
    base /= base.sum()
    beta = rng.gamma(np.maximum(300.0 * base, 1e-3), size=(TOPICS, VOCABULARY))
    cdf = np.cumsum(beta, axis=1)
    cdf /= cdf[:, -1:]
    weights = rng.dirichlet(np.full(TOPICS, 2.0))
    parts = []
    for first in range(0, documents, 10_000):
        n = min(10_000, documents - first)
        length = np.maximum(20, rng.lognormal(np.log(215.0), 0.5, n).astype(np.int64))
        theta = rng.gamma(4.0 * weights, size=(n, TOPICS)) + 1e-12
        of_topic = rng.multinomial(length, theta / theta.sum(axis=1, keepdims=True))
        rows, columns = [], []
        for k in range(TOPICS):
            rows.append(np.repeat(np.arange(n), of_topic[:, k]))
            drawn = np.searchsorted(cdf[k], rng.random(len(rows[-1])), side="right")
            columns.append(np.minimum(drawn, VOCABULARY - 1))
        rows, columns = np.concatenate(rows), np.concatenate(columns)
        parts.append(sparse.csr_matrix((np.ones(len(rows)), (rows, columns)), shape=(n, VOCABULARY)))
        parts[-1].sum_duplicates()
    counts = sparse.vstack(parts, format="csr")
    counts.sort_indices()
    return counts


def write_uci(path, counts):
    import numpy as np

    with open(path, "w", encoding="ascii") as file:
        file.write(f"{counts.shape[0]}\n{counts.shape[1]}\n{counts.nnz}\n")
        for first in range(0, counts.shape[0], 10_000):
            part = counts[first : first + 10_000]
            rows = np.repeat(np.arange(part.shape[0]) + first + 1, np.diff(part.indptr))
            lines = zip(rows.tolist(), (part.indices + 1).tolist(), part.data.astype(np.int64).tolist())
            file.write("".join(map("%d %d %d\n".__mod__, lines)))


def prepare(source, directory, subset, whole, heldout, seed, order="file"):
    """The corpora of all checks: a subset and the whole to train on, and the held-out documents.

    `whole` limits the documents to train on; 0 takes all but the held-out ones.
    The order is the file's, or drawn with the seed.
    """
    import numpy as np
    from scipy import sparse

    directory = Path(directory)
    subset, whole, heldout = int(subset), int(whole), int(heldout)
    if source == "synthetic":
        counts = make_corpus(min(DOCUMENTS, whole + heldout) if whole else DOCUMENTS, int(seed))
    else:
        counts = read_uci(source)
    total = counts.shape[0]
    if order == "drawn":
        counts = counts[np.random.default_rng(int(seed)).permutation(total)]
    if total <= heldout:
        raise SystemExit(f"{total} documents are too few to hold out {heldout}")
    test = counts[total - heldout :]
    train = counts[: min(whole or total, total - heldout)]
    first = train[:subset]
    sparse.save_npz(directory / "heldout.npz", test, compressed=False)
    sparse.save_npz(directory / "subset.npz", first, compressed=False)
    write_uci(directory / "heldout.txt", test)
    write_uci(directory / "subset.txt", first)
    if first.shape == train.shape:
        shutil.copyfile(directory / "subset.txt", directory / "whole.txt")
    else:
        write_uci(directory / "whole.txt", train)

    def facts(matrix):
        return {
            "documents": matrix.shape[0],
            "words": matrix.shape[1],
            "entries": int(matrix.nnz),
            "tokens": int(matrix.sum()),
        }

    return {"subset": facts(first), "whole": facts(train), "heldout": facts(test)}


def repeat(source, target, times, seed):
    """Every document `times` times, in an order drawn with the seed."""
    tails, current, lines = [], None, []
    with open(source, "rb") as file:
        documents, words, entries = (int(file.readline()) for _ in range(3))
        for line in file:
            document, _, rest = line.partition(b" ")
            if document != current:
                if lines:
                    tails.append(b"".join(lines))
                current, lines = document, []
            lines.append(b" " + rest)
        tails.append(b"".join(lines))
    times = int(times)
    order = list(range(len(tails))) * times
    random.Random(int(seed)).shuffle(order)
    with open(target, "wb") as file:
        file.write(b"%d\n%d\n%d\n" % (len(order), words, entries * times))
        for number, document in enumerate(order, 1):
            name = b"%d" % number
            # The last line ends the document: no name after it.
            file.write(name + tails[document][:-1].replace(b"\n", b"\n" + name) + b"\n")
    return {"documents": len(order), "bytes": Path(target).stat().st_size}


# --- Peers -------------------------------------------------------------------


def sklearn_steps(batches, total, settings):
    """The model and the seconds of every batch, by partial_fit.

    The random start is drawn inside the first call; its time is taken out, as is
    the start of the worker processes (a small fit before).
    """
    from sklearn.decomposition import LatentDirichletAllocation

    def model(total):
        return LatentDirichletAllocation(learning_method="online", total_samples=total, **settings)

    lda, drawing = model(total), []
    draw = lda._init_latent_vars

    def timed_draw(*args, **kwargs):
        begin = time.perf_counter()
        draw(*args, **kwargs)
        drawing.append(time.perf_counter() - begin)

    lda._init_latent_vars = timed_draw
    for n, rows in enumerate(batches):
        if n == 0:
            model(64).partial_fit(rows[:64])
        begin = time.perf_counter()
        lda.partial_fit(rows)
        taken = time.perf_counter() - begin
        yield lda, taken - sum(drawing)
        drawing.clear()


def train_sklearn(kind, corpus, k, batch, jobs, seed, eta, offset, decay, tolerance, iterations, out):
    """Online LDA by partial_fit, a batch a call, in the order of the file.

    scikit-learn's step size is (offset + t)^-decay with t = 1 in the first
    batch. It computes in the counts' kind of float: float64 unless a user turns
    them into float32.
    """
    import numpy as np
    from scipy import sparse

    x = sparse.load_npz(corpus).astype(kind)
    k, batch = int(k), int(batch)

    settings = {
        "n_components": k,
        "doc_topic_prior": 1.0 / k,
        "topic_word_prior": float(eta),
        "learning_offset": float(offset),
        "learning_decay": float(decay),
        "mean_change_tol": float(tolerance),
        "max_doc_update_iter": int(iterations),
        "n_jobs": int(jobs),
        "random_state": int(seed),
    }
    batches = [x[first : first + batch] for first in range(0, x.shape[0], batch)]
    seconds = []
    for lda, taken in sklearn_steps(batches, x.shape[0], settings):
        seconds.append(taken)
    assert lda.components_.dtype == kind
    np.save(out, lda.components_)
    return {"documents": x.shape[0], "seconds": sum(seconds), "by_batch": seconds}


def gensim_documents(x):
    """The documents in gensim's own form, made before the clock starts."""
    counts = x.data.astype(int)
    # One object for each number, however often it is named.
    names = list(range(max(x.shape[1], counts.max() + 1)))
    name = names.__getitem__
    return [
        list(zip(map(name, x.indices[a:b].tolist()), map(name, counts[a:b].tolist())))
        for a, b in zip(x.indptr[:-1], x.indptr[1:])
    ]


def train_gensim(corpus, k, batch, workers, seed, eta, offset, decay, tolerance, iterations, out):
    """LdaMulticore: worker processes for the local steps, and a master that hands out and merges.

    gensim's step size is (offset + t)^-decay with t = (documents merged so
    far)/chunksize, so t = 0 in the first update: an offset one larger than the
    others' gives the same first step. It updates after workers * chunksize
    documents, that is half as often as the others with two workers, and the
    workers may start from a state that is some chunks old.
    """
    import numpy as np
    from gensim.models import LdaMulticore
    from scipy import sparse

    x = sparse.load_npz(corpus)
    k = int(k)
    documents = gensim_documents(x)
    lda = LdaMulticore(
        num_topics=k,
        id2word={word: str(word) for word in range(x.shape[1])},
        workers=int(workers),
        chunksize=int(batch),
        passes=1,
        batch=False,
        alpha=1.0 / k,
        eta=float(eta),
        decay=float(decay),
        offset=float(offset) + 1.0,
        eval_every=0,
        iterations=int(iterations),
        gamma_threshold=float(tolerance),
        random_state=int(seed),
        dtype=np.float32,
    )
    begin = time.perf_counter()
    lda.update(documents)
    seconds = time.perf_counter() - begin
    if lda.num_updates != len(documents):
        raise RuntimeError(f"gensim merged {lda.num_updates} of {len(documents)} documents")
    np.save(out, lda.state.get_lambda().astype(np.float64))
    return {"documents": len(documents), "seconds": seconds}


# --- The judge ---------------------------------------------------------------


def safetensor(path, name):
    """One tensor of a safetensors file: a length, a JSON header, then the bytes."""
    import numpy as np

    with open(path, "rb") as file:
        size = int.from_bytes(file.read(8), "little")
        header = json.loads(file.read(size))
        try:
            entry = header[name]
        except KeyError:
            raise SystemExit(f"{path}: no tensor {name!r}, only {sorted(header)}") from None
        kinds = {"F64": np.float64, "F32": np.float32}
        if entry["dtype"] not in kinds:
            raise SystemExit(f"{path}: {name} is {entry['dtype']}")
        first, last = entry["data_offsets"]
        file.seek(8 + size + first)
        values = np.frombuffer(file.read(last - first), dtype=kinds[entry["dtype"]])
    return values.reshape(entry["shape"])


def read_lambda(path, k, words):
    """Topic-word parameters as words by topics, for all programs."""
    import numpy as np

    values = np.load(path).T if str(path).endswith(".npy") else safetensor(path, "lambda")
    if values.shape != (words, k):
        raise SystemExit(f"{path}: {values.shape} parameters, not words by topics {(words, k)}")
    values = np.ascontiguousarray(values, dtype=np.float64)
    if not (np.isfinite(values).all() and (values > 0.0).all()):
        raise SystemExit(f"{path}: parameters that are not positive numbers")
    return values


def every_other(counts):
    """Splits a document's counts: of its tokens, in the order of the words, the
    1st, 3rd, 5th, ... are observed, the others to be predicted."""
    import numpy as np

    ends = np.cumsum(counts)
    observed = (ends + 1) // 2 - (ends - counts + 1) // 2
    return observed, counts - observed


def infer_gamma(rows, counts, alpha, tolerance, iterations):
    """Topic parameters of one document given exp(E ln beta), words by topics.

    The fixed point gamma = alpha + sum_w n_w phi_w, from gamma = 1, until its
    mean absolute change is below the tolerance. Returns also the iterations.
    """
    import numpy as np
    from scipy.special import digamma

    gamma = np.ones(rows.shape[1])
    for iteration in range(1, iterations + 1):
        # A factor common to all topics cancels in phi, so digamma(sum) is left out,
        # and the largest is made 1 against underflow.
        log_theta = digamma(gamma)
        theta = np.exp(log_theta - log_theta.max())
        new = alpha + theta * ((counts / (rows @ theta)) @ rows)
        change = np.abs(new - gamma).mean()
        gamma = new
        if change < tolerance:
            break
    return gamma, iteration


def completion(test, lam, alpha, tolerance, iterations):
    """Document completion of topics in nats per predicted word, the same code for every program.

    p(w) = sum_k E[theta_k] E[beta_kw], with gamma from the observed half and
    the prior alpha. A word's row of exp(E ln beta) is divided by its largest topic:
    that cancels in phi too, and keeps rare words from underflow.
    """
    import numpy as np
    from scipy.special import digamma

    totals = lam.sum(axis=0)
    mean_beta = lam / totals
    digamma_totals = digamma(totals)
    total, predicted, documents, rounds, hit_limit = 0.0, 0, 0, 0, 0
    for ids, observed, rest in halves(test):
        known, wanted = observed > 0, rest > 0
        log_rows = digamma(lam[ids[known]]) - digamma_totals
        rows = np.exp(log_rows - log_rows.max(axis=1, keepdims=True))
        gamma, used = infer_gamma(rows, observed[known], alpha, float(tolerance), int(iterations))
        theta = gamma / gamma.sum()
        total += float(rest[wanted] @ np.log(mean_beta[ids[wanted]] @ theta))
        predicted += int(rest.sum())
        documents += 1
        rounds += used
        hit_limit += used == int(iterations)
    return {
        "completion": total / predicted,
        "iterations": rounds / documents,
        "at_the_limit": hit_limit,
        "parameter_sum": float(totals.sum()),
    }


def halves(test):
    """The words of each document that has something to predict, and how often each is observed and to be predicted."""
    import numpy as np

    for a, b in zip(test.indptr[:-1], test.indptr[1:]):
        observed, rest = every_other(test.data[a:b].astype(np.int64))
        if rest.sum() > 0:
            yield test.indices[a:b], observed, rest


def score(heldout, subset, k, eta, parameters, tolerance, iterations):
    """Completion of a program's parameters with alpha = 1/K, and of the baseline.

    The baseline is one topic: p(w) = (n_w + eta)/(n + V eta) from the counts of
    the training documents.
    """
    import numpy as np
    from scipy import sparse

    test = sparse.load_npz(heldout)
    train = sparse.load_npz(subset)
    k, eta = int(k), float(eta)
    words = test.shape[1]
    seen = np.asarray(train.sum(axis=0)).ravel()
    log_unigram = np.log(seen + eta) - np.log(seen.sum() + words * eta)
    unigram, predicted, documents = 0.0, 0, 0
    for ids, _, rest in halves(test):
        documents += 1
        predicted += int(rest.sum())
        unigram += float(rest @ log_unigram[ids])
    answer = {"documents": documents, "predicted": predicted, "unigram": unigram / predicted}
    if parameters != "none":
        answer |= completion(test, read_lambda(parameters, k, words), 1.0 / k, tolerance, iterations)
    return answer


def versions():
    import gensim
    import numpy
    import scipy
    import sklearn
    import threadpoolctl

    return {
        "python": sys.version.split()[0],
        "numpy": numpy.__version__,
        "scipy": scipy.__version__,
        "scikit-learn": sklearn.__version__,
        "gensim": gensim.__version__,
        "BLAS": "; ".join(
            sorted({f"{p['internal_api']} {p['version']}" for p in threadpoolctl.threadpool_info() if p.get("version")})
        ),
    }


JOBS = {
    "prepare": prepare,
    "repeat": repeat,
    "sklearn": train_sklearn,
    "gensim": train_gensim,
    "score": score,
    "versions": versions,
}

if __name__ == "__main__":
    print(json.dumps(JOBS[sys.argv[1]](*sys.argv[2:])))
