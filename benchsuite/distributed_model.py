"""How long a step of topics takes on many workers, by a model whose numbers were measured on two.

    python benchsuite/distributed_model.py benchsuite/runs/RUN/raw.jsonl

Reads what distributed.py has measured (`empty topics`), and prints the tables of docs/guide/distributed.md. A step of a
batch of B documents on W workers is

    driver B + a + b W + (W rows + B reply) / network + work B / W

where `driver` and `work` are the driver's and a core's milliseconds for a document, a + b W an empty round, `rows` the
bytes of the expectations that every worker gets, and `reply` the bytes of a document's q. The first table checks it: what
documents cost is taken from one batch, and the steps of the others are predicted. `network` is there what this machine
copies; elsewhere it is what --network says.
"""

import argparse
import json
from pathlib import Path

# The batch that says what a document costs.
TAKEN = 8192
WORKERS = (2, 8, 32, 125, 1000)
BATCHES = (8192, 65_536, 1_048_576)
DOCUMENTS = 1_000_000_000


class Model:
    """What steps of topics cost."""

    def __init__(self, rows):
        empty = next(row for row in rows if row["what"] == "rounds of Ray")
        self.steps = {int(row["what"].split()[-1]): row for row in rows if row["what"].startswith("topics, batch ")}
        # Of a round: milliseconds, and those of each worker more.
        self.each = max(empty["empty_16_ms"] - empty["empty_ms"], 0.0) / 14
        self.empty = empty["empty_ms"] - 2 * self.each
        # MB that go through a millisecond on this machine: 8 MiB once into the store, and 8 back from each of two.
        self.here = 3 * 8.388608 / (empty["8_mb_each_way_ms"] - empty["empty_ms"])
        row = self.steps[TAKEN]
        rounds = row["rounds_per_step"]
        self.driver = (row["workers_ms"] - row["round_ms"] * rounds) / TAKEN
        self.work = 2 * row["working_ms"] * rounds / TAKEN
        self.reply = row["in_kb"] / 1e3 * rounds / TAKEN

    def rows(self, batch):
        """MB of expectations for one worker: as measured at the batch that is the nearest in size."""
        nearest = min(self.steps, key=lambda known: abs(known - batch))
        row = self.steps[nearest]
        return row["out_kb"] / 1e3 * row["rounds_per_step"] / 2

    def step(self, batch, workers, network=None):
        """Milliseconds of a step; on this machine the rows are copied once for all workers."""
        copies, speed = (1, self.here) if network is None else (workers, network)
        sent = (copies * self.rows(batch) + batch * self.reply) / speed
        return self.driver * batch + self.empty + self.each * workers + sent + self.work * batch / workers


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("raw", type=Path, help="what distributed.py has measured")
    parser.add_argument("--network", type=float, default=1.25, metavar="GB/S", help="of the driver (1.25: 10 Gbit/s)")
    args = parser.parse_args()
    model = Model([json.loads(line) for line in args.raw.read_text(encoding="utf-8").splitlines()])
    print(
        f"A document costs the driver {1e3 * model.driver:.1f} us and a core {1e3 * model.work:.1f} us, and {1e6 * model.reply:.0f} "
        f"bytes of reply; an empty round {model.empty:.2f} ms and {model.each:.2f} ms for each worker; "
        f"this machine copies {model.here:.2f} MB in a ms.\n"
    )
    print("| batch | measured, ms | model, ms | |\n|--:|--:|--:|--:|")
    for batch, row in sorted(model.steps.items()):
        found = model.step(batch, 2)
        print(f"| {batch:,} | {row['workers_ms']:.0f} | {found:.0f} | {100 * (found / row['workers_ms'] - 1):+.0f} % |")
    print("\n| batch | " + " | ".join(f"{workers} workers" for workers in WORKERS) + " | one core |")
    print("|--:|" + "--:|" * (len(WORKERS) + 1))
    for batch in BATCHES:
        steps = [model.step(batch, workers, args.network) for workers in WORKERS]
        cells = [f"{step / 1e3:.2f} s, {step * DOCUMENTS / batch / 3.6e6:.1f} h" for step in steps]
        alone = (model.driver + model.work) * batch
        print(f"| {batch:,} | " + " | ".join(cells) + f" | {alone / 1e3:.2f} s, {alone * DOCUMENTS / batch / 3.6e6:.1f} h |")
    print(f"\nSeconds of a step, and hours of a pass over {DOCUMENTS:,} documents.")


if __name__ == "__main__":
    main()
