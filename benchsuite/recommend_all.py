"""Lists for all users: lehr's `recommend(users_, 20)` against `implicit`'s `recommend` of the same shapes.

    pip install implicit && python benchsuite/recommend_all.py --ratings ratings.dat.gz --dims 50 --rounds 5

Both make lists of the same users, items and length, and leave out what each user has rated; factors are lehr's, so that
both multiply the same numbers (lehr adds biases). They run alternately in one process, on all cores; what is reported are the
medians of the ratios of neighbours, by the clock and by the processor's seconds: on a busy machine believe the latter. lehr
ranks in double precision at the end, and with --std says how sure each expected rating is, which `implicit` cannot. The raw
times are printed first, with what the lists add to the peak of the process.
"""

import argparse
import gzip
import resource
import statistics
import time

import numpy as np
import scipy.sparse

import lehr


def read(path):
    """A sparse matrix of all ratings."""
    with gzip.open(path, "rb") as file:
        table = np.loadtxt((line.replace(b"::", b" ") for line in file), dtype=np.int64, usecols=(0, 1, 2))
    users, items = (np.unique(table[:, side], return_inverse=True)[1] for side in (0, 1))
    return scipy.sparse.csr_array((table[:, 2].astype(np.float32), (users, items)))


def peak():
    """The most memory that this process has had, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ratings", required=True)
    parser.add_argument("--dims", type=int, default=50)
    parser.add_argument("--top", type=int, default=20)
    parser.add_argument("--sweeps", type=int, default=3)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--std", action="store_true", help="lehr says how sure ratings are, too")
    parser.add_argument("--run", help="where the fit is kept, to start at once the next time")
    args = parser.parse_args()

    from implicit.cpu.als import AlternatingLeastSquares

    ratings = read(args.ratings)
    try:
        pmf = lehr.load(args.run) if args.run else None
    except OSError:
        pmf = None
    if pmf is None:
        pmf = lehr.ProbabilisticMatrixFactorization(args.dims, max_iter=args.sweeps, tol=0, random_state=0).fit(ratings)
        if args.run:
            pmf.save(args.run)
    als = AlternatingLeastSquares(factors=args.dims)
    als.user_factors = np.ascontiguousarray(pmf.user_factors_, dtype=np.float32)
    als.item_factors = np.ascontiguousarray(pmf.item_factors_, dtype=np.float32)
    matrix = scipy.sparse.csr_matrix(ratings)
    users = np.arange(matrix.shape[0])
    print(f"{matrix.shape[0]} users, {matrix.shape[1]} items, d = {args.dims}, lists of {args.top}")
    programs = {
        "lehr": lambda: pmf.recommend(users, args.top, return_std=args.std),
        "implicit": lambda: als.recommend(users, matrix, N=args.top, filter_already_liked_items=True)[0],
    }
    ratios, shapes = [], set()
    for turn in range(args.rounds):
        times = {}
        for name, program in programs.items():
            before, begin, worked = peak(), time.perf_counter(), time.process_time()
            shapes.add(np.shape(program())[-2:])
            times[name] = time.perf_counter() - begin, time.process_time() - worked
            clock, processor = times[name]
            more = peak() - before
            print(f"round {turn}: {name:9} {clock:6.2f} s, processor {processor:6.2f} s, peak + {more:.0f} MB", flush=True)
        ratios.append([ours / theirs for ours, theirs in zip(times["lehr"], times["implicit"], strict=True)])
    assert len(shapes) == 1
    clock, processor = (statistics.median(part) for part in zip(*ratios, strict=True))
    print(f"median of lehr / implicit: {clock:.2f} by the clock, {processor:.2f} by the processor's seconds")


if __name__ == "__main__":
    main()
