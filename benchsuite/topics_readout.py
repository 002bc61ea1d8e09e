"""What it costs to look at topics: top documents, diagnostics and a match of two runs, against one `lehr transform`.

    python3 benchsuite/topics_readout.py --lehr target/release/lehr --data DIR --rounds 5

Fits K topics to `DIR/docword.reuters-news.txt.gz` twice, with two seeds, and runs these in turn, each in its own process on
all cores: `transform` to .csv and to .npy, `topics --documents`, `topics --diagnostics`, both of these at once, and `compare`. All
read the converted corpus. Told are medians of seconds by the clock and of the processor's, raw ones first: on a busy machine
believe the latter. The last line has all three readouts together, documents and diagnostics at once.
"""

import argparse
import os
import statistics
import subprocess
import tempfile
import time
from pathlib import Path


def timed(command):
    """Seconds by the clock and of the processor that a command takes."""
    before, begin = os.times(), time.perf_counter()
    subprocess.run([str(word) for word in command], check=True, stdout=subprocess.DEVNULL)
    seconds, after = time.perf_counter() - begin, os.times()
    return seconds, after[2] + after[3] - before[2] - before[3]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lehr", type=Path, default="target/release/lehr")
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--topics", type=int, default=100)
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--rounds", type=int, default=5)
    args = parser.parse_args()
    lehr = args.lehr.resolve()
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        corpus = place / "reuters.lehr"
        timed([lehr, "convert", args.data / "docword.reuters-news.txt.gz", "-o", corpus])
        for seed in (0, 1):
            fit = [lehr, "fit", "lda", corpus, "-k", args.topics, "--batch", 1000, "--steps", args.steps, "--tol", 0]
            timed([*fit, "--eval-every", args.steps, "--seed", seed, "--quiet", "-o", place / f"run-{seed}"])
        run, other = place / "run-0", place / "run-1"
        table = place / "topics.csv"
        commands = {
            "transform .csv": ["transform", run, corpus, "-o", place / "shares.csv", "--force"],
            "transform .npy": ["transform", run, corpus, "-o", place / "shares.npy", "--force"],
            "topics --documents": ["topics", run, "--no-coherence", "--documents", corpus, "-o", table, "--force"],
            "topics --diagnostics": ["topics", run, "--diagnostics", "-o", table, "--force"],
            "both": ["topics", run, "--diagnostics", "--documents", corpus, "-o", table, "--force"],
            "compare": ["compare", run, other],
        }
        found = {name: [] for name in commands}
        for turn in range(args.rounds):
            for name, command in commands.items():
                found[name].append(timed([lehr, *command]))
                clock, processor = found[name][-1]
                print(f"round {turn}: {name:22} {clock:7.2f} s, processor {processor:6.2f} s", flush=True)
    medians = {name: [statistics.median(part) for part in zip(*all_of, strict=True)] for name, all_of in found.items()}
    medians["all three"] = [sum(parts) for parts in zip(medians["both"], medians["compare"], strict=True)]
    for name, (clock, processor) in medians.items():
        shares = [processor / medians[f"transform {end}"][1] for end in (".csv", ".npy")]
        ratios = f"processor {shares[0]:.2f} of transform to .csv, {shares[1]:.2f} to .npy"
        print(f"median: {name:22} {clock:7.2f} s, processor {processor:6.2f} s: {ratios}")


if __name__ == "__main__":
    main()
