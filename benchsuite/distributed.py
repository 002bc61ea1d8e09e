"""What a round on workers costs, in milliseconds and bytes, and what sharding does: a table for docs/guide/distributed.md.

    python benchsuite/distributed.py docword.txt.gz [--points N] [--steps N] [--out FILE]

In an environment that has lehr with Ray. Two cores show what workers cost, not what they gain: each fit is made by two
threads of this process and by two workers of one thread each, on the same shards, and what the second takes longer is
overhead.
"""

import argparse
import json
import resource
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np

import lehr
from lehr import distributed as ld


def seconds_of_step(trace):
    """Seconds of a step without evaluations: from the first observation to the last."""
    return (trace["seconds"][-1] - trace["seconds"][0]) / (trace["step"][-1] - trace["step"][0])


def compared(make, shards, name):
    """One fit both ways: the row of a table."""
    here = make(2).fit(shards)
    began = time.perf_counter()
    there = ld.fit(make(1), shards, workers=2, threads=1)
    whole = time.perf_counter() - began
    same = np.array_equal(here.trace_["bound"], there.trace_["bound"])
    report, n = there.workers_, max(there.workers_["rounds"], 1)
    row = {
        "what": name,
        "threads_ms": 1e3 * seconds_of_step(here.trace_),
        "workers_ms": 1e3 * seconds_of_step(there.trace_),
        "rounds_per_step": report["rounds"] / max(there.n_steps_, 1),
        "out_kb": report["bytes_out"] / n / 1e3,
        "in_kb": report["bytes_in"] / n / 1e3,
        "fit_s": whole,
        "same_bits": bool(same),
    }
    row["overhead_ms"] = row["workers_ms"] - row["threads_ms"]
    row["overhead_share"] = row["overhead_ms"] / row["workers_ms"]
    print(json.dumps(row), file=sys.stderr)
    return row


def topics(batch, steps, n_docs):
    """A fit of this many steps, whose bound is looked at twice only."""

    def make(jobs):
        passes = max(1, -(-steps * batch // n_docs))
        return lehr.LatentDirichletAllocation(
            100,
            learning_method="online",
            batch_size=batch,
            max_iter=passes,
            effective_batch_size=batch // 2,
            random_state=0,
            n_jobs=jobs,
        )

    return make


def clusters(steps):
    """A fit of this many sweeps."""

    def make(jobs):
        return lehr.BayesianGaussianMixture(
            32,
            max_iter=steps,
            tol=0,
            random_state=0,
            init_params="random_from_data",
            effective_batch_size=100_000,
            n_jobs=jobs,
        )

    return make


def empty_rounds(ray, n=200):
    """Milliseconds of a round of two workers that do nothing, and of one that carries 8 MB each way."""

    @ray.remote(num_cpus=1)
    class Idle:
        def run(self, given):
            return given[:0] if given.nbytes < 1000 else given.copy()

    workers = [Idle.remote() for _ in range(2)]
    found = []
    for size, times in ((8, n), (8 * 2**20, 20)):
        given = np.zeros(size, dtype=np.uint8)
        ray.get([worker.run.remote(ray.put(given)) for worker in workers])
        began = time.perf_counter()
        for _ in range(times):
            sent = ray.put(given)
            ray.get([worker.run.remote(sent) for worker in workers])
        found.append(1e3 * (time.perf_counter() - began) / times)
    for worker in workers:
        ray.kill(worker)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("docword", help="documents, such as Reuters' docword file")
    parser.add_argument("--points", type=int, default=10_000_000, help="points of 16 columns")
    parser.add_argument("--steps", type=int, default=30, help="steps of each fit of topics, at least a pass")
    parser.add_argument("--batches", type=int, nargs="*", default=[1000, 8192, 65536])
    parser.add_argument("--out", help="where to write the rows, as JSON lines")
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    import ray

    with tempfile.TemporaryDirectory() as work:
        work = Path(work)
        rows = []
        began = time.perf_counter()
        made = ld.shard(args.docword, work / "docs.shards", 16)
        took = time.perf_counter() - began
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        rows.append({"what": "sharding", "documents": made["rows"], "seconds": took, "peak_mb": peak})
        print(json.dumps(rows[-1]), file=sys.stderr)
        ray.init(address="local", num_cpus=2, include_dashboard=False, log_to_driver=False, _node_ip_address="127.0.0.1")
        empty, large = empty_rounds(ray)
        rows.append({"what": "empty rounds", "empty_ms": empty, "8_mb_each_way_ms": large})
        print(json.dumps(rows[-1]), file=sys.stderr)
        for batch in (batch for batch in args.batches if batch <= made["rows"]):
            rows.append(compared(topics(batch, args.steps, made["rows"]), work / "docs.shards", f"topics, batch {batch}"))
        if args.points:
            rng = np.random.default_rng(0)
            whole = np.lib.format.open_memmap(work / "x.npy", mode="w+", dtype=np.float32, shape=(args.points, 16))
            for first in range(0, args.points, 100_000):
                part = whole[first : first + 100_000]
                part[:] = rng.normal(size=part.shape) + 3 * rng.integers(8, size=(len(part), 1))
            del whole
            ld.shard(work / "x.npy", work / "x.shards", 16, kind="points")
            rows.append(compared(clusters(6), work / "x.shards", f"clusters, {args.points} points"))
        ray.shutdown()
    if args.out:
        Path(args.out).write_text("".join(json.dumps(row) + "\n" for row in rows))


if __name__ == "__main__":
    main()
