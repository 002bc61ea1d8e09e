"""Lists for all users: lehr's `recommend(users_, 20)` against `implicit`'s `recommend` of the same shapes.

    pip install implicit && python benchsuite/recommend_all.py --ratings ratings.dat.gz --dims 50 --rounds 5

Both make lists of the same users, items and length, and leave out what each user has rated; factors are lehr's, so that
both multiply the same numbers (lehr adds biases). They run alternately in one process, on all cores; what is reported is the
median of the ratios of neighbours. lehr ranks in double precision at the end, and with --std says how sure each expected
rating is, which `implicit` cannot. The raw times are printed first.
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
    ratios = []
    for turn in range(args.rounds):
        begin = time.perf_counter()
        found = pmf.recommend(users, args.top, return_std=args.std)
        ours = time.perf_counter() - begin
        begin = time.perf_counter()
        theirs_found, _ = als.recommend(users, matrix, N=args.top, filter_already_liked_items=True)
        theirs = time.perf_counter() - begin
        ratios.append(ours / theirs)
        print(f"round {turn}: lehr {ours:.2f} s, implicit {theirs:.2f} s", flush=True)
    assert np.shape(found)[-2:] == theirs_found.shape
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"median ratio of times, lehr / implicit: {statistics.median(ratios):.2f}; peak of the process {peak:.1f} GB")


if __name__ == "__main__":
    main()
