"""What the parts of a step on workers take, without Ray: seconds of processors and bytes of messages.

    python benchsuite/distributed_parts.py WORK topics points ratings --out FILE

On the shards that `distributed.py WORK prepare` has made. The driver and one worker of one thread are this process, and
take turns, so that what each computes is told apart; the messages are those that would go through Ray. Processor time does
not depend on what else the machine does, and waiting is no part of it. Medians of the rounds
of a step are written as JSON lines.
"""

import argparse
import json
import statistics
import sys
import time
import warnings
from pathlib import Path

import distributed as bench

from lehr import _lehr
from lehr import distributed as ld


class Here:
    """A crew of one worker in this process."""

    rounds = ()

    def __init__(self, _ray, folder, _workers, threads, *_):
        self.folder, self.threads, self.report = folder.path, threads, {}
        self.rounds, self.left, self.replies = [], None, None
        Here.last = self

    def model(self, model):
        self.worker = _lehr.Worker(model, self.folder, self.threads)

    def begin(self, common, tasks):
        began = time.process_time()
        self.replies = self.worker.run(common, [part for part, _ in tasks], [task for _, task in tasks])
        ended = time.process_time()
        driver = None if self.left is None else began - self.left
        sizes = [common.nbytes, sum(task.nbytes for _, task in tasks), sum(reply.nbytes for reply in self.replies)]
        self.rounds.append([driver, ended - began, *sizes])

    def poll(self, _seconds):
        self.left = time.process_time()
        return self.replies

    def end(self):
        pass


class Nothing:
    """In place of Ray."""

    def __init__(self, *_):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass


def measured(name, estimator, shards, kinds):
    """A fit whose steps are several rounds, each of its own kind: the row of a table."""
    estimator.n_jobs = 1
    ld.fit(estimator, shards, workers=1)
    # The first rounds start the fit.
    rounds = Here.last.rounds[2:]
    if kinds == 1:
        # Those of the bound, of a sample or without statistics, have small replies.
        most = max(replies for *_, replies in rounds)
        rounds = [found for found in rounds if found[-1] > most / 2]
    medians = [[statistics.median(column) for column in zip(*rounds[kind::kinds])] for kind in range(kinds)]
    driver, work, common, tasks, replies = (sum(column) for column in zip(*medians))
    return {
        "what": f"parts of {name}",
        "rounds": len(rounds),
        "rounds_of_a_step": kinds,
        "driver_ms": 1e3 * driver,
        "work_ms": 1e3 * work,
        "each_worker_kb": common / 1e3,
        "tasks_kb": tasks / 1e3,
        "replies_kb": replies / 1e3,
        "cpu": bench.machine(),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("work", type=Path, help="the folder of the shards")
    parser.add_argument("names", nargs="+", choices=["topics", "points", "ratings"])
    parser.add_argument("--batches", type=int, nargs="*", default=list(bench.STEPS), choices=list(bench.STEPS))
    parser.add_argument("--out", type=Path, help="a file to append the rows to, as JSON lines")
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    ld.Crew, ld.Cluster = Here, Nothing
    n_docs = json.loads((args.work / "docs.shards" / "manifest.json").read_text(encoding="utf-8"))["rows"]
    fits = [(f"topics, batch {batch}", lambda batch=batch: bench.topics(batch, n_docs), "docs", 1) for batch in args.batches]
    fits.append(("points, d = 16, K = 32", bench.clusters, "x", 1))
    # Ratings have a round for the bound and one for the update.
    fits.append(("ratings, d = 10", bench.factors, "ratings", 2))
    for name, make, shards, kinds in fits:
        if name.split()[0].rstrip(",") in args.names:
            line = json.dumps(measured(name, make(), args.work / f"{shards}.shards", kinds))
            print(line, file=sys.stderr)
            if args.out:
                with args.out.open("a", encoding="utf-8") as file:
                    file.write(line + "\n")


if __name__ == "__main__":
    main()
