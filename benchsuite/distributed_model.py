"""How long a step of topics takes on many machines: a model, and where what was measured differs from it.

    python benchsuite/distributed_model.py benchsuite/runs/RUN/*.jsonl

Reads what distributed_parts.py has measured (processor time and bytes of each part of a step) and distributed.py (`empty`:
rounds of Ray; `topics`: whole steps, to compare the model with, if they are there), and prints the tables of
docs/guide/distributed.md. A step of a batch on W machines of T threads, one worker each, is

    driver / T + a + b W + (W rows + tasks + replies) / network + work / (T W)

where `driver` and `work` are processor time, a + b W is an empty round, and `rows` are the bytes that every worker gets.
All of them are measured at the batch that is the nearest in size; larger batches have more documents of the same kind.
"""

import argparse
import json
from pathlib import Path

MACHINES = (1, 8, 32, 125, 1000)
BATCHES = (8192, 65_536, 1_048_576)
DOCUMENTS = 1_000_000_000
PARTS, STEPS = "parts of topics, batch ", "topics, batch "
# Bytes that an empty round was measured with on top of nothing: once into the store, and back from each of two workers.
CARRIED = 3 * 8 * 2**20


class Model:
    """What steps of topics cost, in milliseconds and MB."""

    def __init__(self, rows):
        empty = [row for row in rows if row["what"] == "rounds of Ray"][-1]
        many = empty.get("empty_16_ms")
        # Of an empty round: for each worker, and once. Where 16 workers were not measured, all of it is the workers'.
        self.each = empty["empty_ms"] / 2 if many is None else max(many - empty["empty_ms"], 0.0) / 14
        self.once = max(empty["empty_ms"] - 2 * self.each, 0.0)
        self.here = CARRIED / 1e6 / (empty["8_mb_each_way_ms"] - empty["empty_ms"])
        self.parts = {int(row["what"].split()[-1]): row for row in rows if row["what"].startswith(PARTS)}
        self.steps = {int(row["what"].split()[-1]): row for row in rows if row["what"].startswith(STEPS)}

    def step(self, batch, machines, threads, network, copies):
        """Milliseconds of a step, whose rows are sent `copies` times."""
        nearest = min(self.parts, key=lambda known: abs(known - batch))
        row, times = self.parts[nearest], batch / nearest
        moved = copies * row["each_worker_kb"] + times * (row["tasks_kb"] + row["replies_kb"])
        ray = self.once + self.each * machines + moved / 1e3 / network
        return times * row["driver_ms"] / threads + ray + times * row["work_ms"] / (threads * machines)

    def here_on_two(self, batch):
        """A step with two workers of one thread on the two cores of this machine, and what of it is Ray's."""
        row = self.parts[batch]
        step = row["driver_ms"] / 2 + row["work_ms"] / 2
        moved = row["each_worker_kb"] + row["tasks_kb"] + row["replies_kb"]
        ray = self.once + 2 * self.each + moved / 1e3 / self.here
        return step + ray, ray


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("raw", type=Path, nargs="+", help="what was measured")
    parser.add_argument("--network", type=float, default=1.25, metavar="GB/S", help="of the driver (1.25: 10 Gbit/s)")
    parser.add_argument("--threads", type=int, default=16, help="of each machine (16)")
    args = parser.parse_args()
    model = Model([json.loads(line) for file in args.raw for line in file.read_text(encoding="utf-8").splitlines()])
    print(
        f"An empty round: {model.once:.2f} ms and {model.each:.2f} ms for each worker; this machine copies "
        f"{model.here:.2f} MB in a ms.\n"
    )
    columns = ["batch", "driver, ms", "local steps, ms", "to each worker, MB", "tasks, MB", "replies, MB"]
    columns += ["Ray here, ms", "step here, ms", "measured, ms"]
    print("| " + " | ".join(columns) + " |\n" + "|--:" * len(columns) + "|")
    for batch, row in sorted(model.parts.items()):
        step, ray = model.here_on_two(batch)
        sizes = [f"{row[name] / 1e3:.2f}" for name in ("each_worker_kb", "tasks_kb", "replies_kb")]
        known = f"{model.steps[batch]['workers_ms']:.0f}" if batch in model.steps else ""
        cells = [f"{batch:,}", f"{row['driver_ms']:.0f}", f"{row['work_ms']:.0f}", *sizes, f"{ray:.0f}", f"{step:.0f}", known]
        print("| " + " | ".join(cells) + " |")
    print("\n| batch | " + " | ".join(f"{machines:,}" for machines in MACHINES) + " |")
    print("|--:|" + "--:|" * len(MACHINES))
    for batch in BATCHES:
        # MB in a millisecond are GB in a second.
        steps = [model.step(batch, n, args.threads, args.network, n) for n in MACHINES]
        cells = [f"{step / 1e3:.2f} s, {step * DOCUMENTS / batch / 3.6e6:.2f} h" for step in steps]
        print(f"| {batch:,} | " + " | ".join(cells) + " |")
    print(f"\nSeconds of a step, and hours of a pass over {DOCUMENTS:,} documents, by machines.")


if __name__ == "__main__":
    main()
