"""What a round on workers costs, in milliseconds and bytes, and what sharding does: the tables of docs/guide/distributed.md.

    python benchsuite/distributed.py WORK prepare --documents docword.txt.gz --ratings ratings.dat.gz --points 10000000
    python benchsuite/distributed.py WORK empty topics points ratings repeated --out FILE

In an environment that has lehr with Ray. `prepare` makes folders of shards in WORK, which are kept; the others measure,
and append their rows to FILE as JSON lines. Two cores show what workers cost, not what they gain: each fit is made by two
threads of this process and by two workers of one thread each, on the same shards, and what the second takes longer is
overhead. The two are made in turns, `--repeats` times, and medians are reported.
"""

import argparse
import json
import resource
import statistics
import sys
import time
import warnings
from functools import partial
from pathlib import Path

import numpy as np

import lehr
from lehr import distributed as ld

# Steps of each fit of topics, by its batch.
STEPS = {1000: 101, 8192: 26, 65536: 4}
SHARDS = 16
REPEATED = 16


def machine():
    """The processor's name."""
    for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return "unknown"


def peak_mb():
    """The most memory that this process had, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def seconds_of_step(trace):
    """Seconds of a step: from the first observation to the last."""
    return (trace["seconds"][-1] - trace["seconds"][0]) / (trace["step"][-1] - trace["step"][0])


def compared(make, shards, name, repeats):
    """The same fit both ways, in turns: the row of a table."""
    found = {"threads_ms": [], "workers_ms": [], "round_ms": [], "working_ms": []}
    for _ in range(repeats):
        here = make().fit(shards)
        there = ld.fit(make(), shards, workers=2, threads=1)
        report, n = there.workers_, max(there.workers_["rounds"], 1)
        found["threads_ms"].append(1e3 * seconds_of_step(here.trace_))
        found["workers_ms"].append(1e3 * seconds_of_step(there.trace_))
        found["round_ms"].append(1e3 * report["seconds"] / n)
        found["working_ms"].append(1e3 * report["working"] / n)
    shares = [1 - threads / workers for threads, workers in zip(found["threads_ms"], found["workers_ms"])]
    medians = {key: statistics.median(values) for key, values in found.items()}
    return {
        "what": name,
        "steps": there.n_steps_,
        **medians,
        "overhead_ms": medians["workers_ms"] - medians["threads_ms"],
        "overhead_share": statistics.median(shares),
        "rounds_per_step": report["rounds"] / max(there.n_steps_, 1),
        "out_kb": report["bytes_out"] / n / 1e3,
        "in_kb": report["bytes_in"] / n / 1e3,
        "same_bits": bool(np.array_equal(here.trace_["bound"], there.trace_["bound"])),
        "all": found,
    }


def topics(batch, n_docs):
    """A fit of topics from batches, with noise."""
    return lehr.LatentDirichletAllocation(
        100,
        learning_method="online",
        batch_size=batch,
        max_iter=max(1, -(-STEPS[batch] * batch // n_docs)),
        effective_batch_size=batch // 2,
        random_state=0,
        n_jobs=2,
    )


def clusters():
    """A fit of all points, with noise."""
    return lehr.BayesianGaussianMixture(
        32,
        max_iter=6,
        tol=0,
        random_state=0,
        init_params="random_from_data",
        effective_batch_size=100_000,
        n_jobs=2,
    )


def factors():
    """A fit of all ratings."""
    return lehr.ProbabilisticMatrixFactorization(10, max_iter=12, tol=0, random_state=0, n_jobs=2)


def empty_rounds(ray, n=200):
    """Milliseconds of a round of 2 and of 16 workers that do nothing, and of one of 2 that carries 8 MB each way."""

    @ray.remote(num_cpus=0)
    class Idle:
        def run(self, given):
            return given[:0] if given.nbytes < 1000 else given.copy()

    found = {"what": "rounds of Ray"}
    for name, n_workers, size, times in (
        ("empty_ms", 2, 8, n),
        ("empty_16_ms", 16, 8, n),
        ("8_mb_each_way_ms", 2, 8 * 2**20, 20),
    ):
        workers = [Idle.remote() for _ in range(n_workers)]
        given = np.zeros(size, dtype=np.uint8)
        ray.get([worker.run.remote(ray.put(given)) for worker in workers])
        began = time.perf_counter()
        for _ in range(times):
            sent = ray.put(given)
            ray.get([worker.run.remote(sent) for worker in workers])
        found[name] = 1e3 * (time.perf_counter() - began) / times
        for worker in workers:
            ray.kill(worker)
    return found


def sharded(files, folder, **given):
    """Makes a folder of shards if there is none: the row of a table."""
    if folder.exists():
        return None
    before, began, worked = peak_mb(), time.perf_counter(), time.process_time()
    made = ld.shard(files, folder, SHARDS, **given)
    took, worked = time.perf_counter() - began, time.process_time() - worked
    row = {"what": f"sharding {made['kind']}", "rows": made["rows"], "seconds": took, "processor_seconds": worked}
    row |= {"peak_mb": peak_mb(), "before_mb": before}
    row["rows_per_second"] = row["rows"] / took
    row["mb"] = sum(entry["bytes"] for entry in made["shards"]) / 1e6
    return row


def prepared(work, args):
    """Makes the folders of shards."""
    if args.documents:
        yield sharded(args.documents, work / "docs.shards")
    if args.ratings:
        yield sharded(args.ratings, work / "ratings.shards", kind="ratings")
    if args.points and not (work / "x.shards").exists():
        rng = np.random.default_rng(0)
        whole = np.lib.format.open_memmap(work / "x.npy", mode="w+", dtype=np.float32, shape=(args.points, 16))
        for first in range(0, args.points, 100_000):
            part = whole[first : first + 100_000]
            part[:] = rng.normal(size=part.shape) + 3 * rng.integers(8, size=(len(part), 1))
        del whole
        yield sharded(work / "x.npy", work / "x.shards", kind="points")
        (work / "x.npy").unlink()


def measured(work, names, args):
    """The rows of tables."""
    if "repeated" in names:
        # Before anything else, so that the peak of memory is its own.
        yield sharded([args.documents] * REPEATED, work / f"repeated-{time.time_ns()}.shards")
    if not {"empty", "topics", "points", "ratings"} & set(names):
        return
    import ray

    ray.init(address="local", num_cpus=2, include_dashboard=False, log_to_driver=False, _node_ip_address="127.0.0.1")
    if "empty" in names:
        yield empty_rounds(ray)
    if "topics" in names:
        manifest = json.loads((work / "docs.shards" / "manifest.json").read_text(encoding="utf-8"))
        for batch in args.batches:
            make = partial(topics, batch, manifest["rows"])
            yield compared(make, work / "docs.shards", f"topics, batch {batch}", args.repeats)
    if "points" in names:
        yield compared(clusters, work / "x.shards", "points, d = 16, K = 32", args.repeats)
    if "ratings" in names:
        yield compared(factors, work / "ratings.shards", "ratings, d = 10", args.repeats)
    ray.shutdown()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("work", type=Path, help="a folder for shards")
    parser.add_argument("names", nargs="+", choices=["prepare", "empty", "topics", "points", "ratings", "repeated"])
    parser.add_argument("--documents", help="documents, such as Reuters' docword file")
    parser.add_argument("--ratings", help="ratings, such as a part of Netflix's")
    parser.add_argument("--points", type=int, help="how many points of 16 columns")
    parser.add_argument("--batches", type=int, nargs="*", default=list(STEPS), choices=list(STEPS))
    parser.add_argument("--repeats", type=int, default=3, metavar="N", help="fits of each kind (3)")
    parser.add_argument("--out", type=Path, help="a file to append the rows to, as JSON lines")
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    args.work.mkdir(parents=True, exist_ok=True)
    rows = prepared(args.work, args) if "prepare" in args.names else measured(args.work, args.names, args)
    for row in filter(None, rows):
        line = json.dumps({**row, "cpu": machine()})
        print(line, file=sys.stderr)
        if args.out:
            with args.out.open("a", encoding="utf-8") as file:
                file.write(line + "\n")


if __name__ == "__main__":
    main()
