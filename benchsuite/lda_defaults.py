#!/usr/bin/env python3
"""What LDA's defaults reach: fixed priors, priors learned as before, and the defaults, by completion of held-out documents.

    python benchsuite/lda_defaults.py --lehr LEHR --before LEHR [--data FOLDER] [--only PART ...] [--seeds N]
    python benchsuite/lda_defaults.py --summary benchsuite/runs/NAME

LEHR is the program as it is, and one built before the defaults changed. FOLDER has docword.ap.txt.gz and
docword.reuters-news.txt.gz; the simulated corpora are made here, and no rule was chosen on those of `kept`. Parts:
reuters, ap, kept, starts (learned priors from unusual first values), warm. Every number goes to
benchsuite/runs/<date>-<cpu>-lda-defaults/raw.csv as it comes, the tables to summary.md. One thread. Needs numpy.
"""

import argparse
import csv
import datetime
import json
import re
import statistics
import subprocess
import tempfile
from pathlib import Path

import numpy as np

COLUMNS = ["part", "corpus", "side", "seed", "bound", "completion", "steps", "seconds", "eta", "least_alpha", "most_alpha"]
LEARNED = ["--learn-alpha", "asymmetric", "--learn-eta"]
SIDES = {"fixed": ("before", []), "learned before": ("before", LEARNED), "default": ("lehr", [])}

# Name: documents, words, topics, alpha (the ends of a geometric sequence), eta, mean length, and the seed.
SIMULATED = {
    "even": (1000, 1000, 10, (0.1, 0.1), 0.05, 100, 1),
    "small": (200, 300, 5, (0.3, 0.3), 0.1, 60, 3),
    "uneven": (3000, 1500, 20, (0.02, 0.4), 0.02, 60, 4),
    "kept short": (4000, 800, 12, (0.05, 0.3), 0.03, 15, 11),
    "kept long": (400, 3000, 25, (0.02, 0.2), 0.03, 300, 12),
    "kept broad": (1500, 1200, 15, (0.2, 0.5), 0.1, 90, 13),
}
TRUE_TOPICS = {name: made[2] for name, made in SIMULATED.items()}


def simulate(folder, name):
    """A corpus of known topics as a UCI file."""
    n_docs, n_words, n_topics, alpha, eta, length, seed = SIMULATED[name]
    rng = np.random.default_rng(seed)
    topics = rng.dirichlet(np.full(n_words, eta), n_topics)
    alpha = np.geomspace(*alpha, n_topics)
    lines = []
    for doc in range(n_docs):
        shares = rng.dirichlet(alpha) @ topics
        counts = rng.multinomial(max(2, rng.poisson(length)), shares / shares.sum())
        lines += [f"{doc + 1} {word + 1} {counts[word]}\n" for word in np.flatnonzero(counts)]
    path = folder / f"docword.{name.replace(' ', '-')}.txt"
    path.write_text(f"{n_docs}\n{n_words}\n{len(lines)}\n" + "".join(lines))
    return path


def jobs(part, data):
    """(corpus, file, flags, {side: (program, flags)}) of a part."""
    reuters, ap = data / "docword.reuters-news.txt.gz", data / "docword.ap.txt.gz"
    if part == "reuters":
        flags = ["-k", 100, "--batch", 1000, "--steps", 300, "--holdout", 2000, "--eval-every", 300]
        yield "Reuters, K = 100, batches of 1000, 300 steps", reuters, flags, SIDES
    if part == "ap":
        for k in (20, 32, 100):
            yield f"AP, K = {k}, 100 sweeps", ap, ["-k", k, "--steps", 100, "--holdout", 400, "--eval-every", 100], SIDES
    if part == "kept":
        for name in ("kept short", "kept long", "kept broad"):
            k = TRUE_TOPICS[name] + 5
            flags = ["-k", k, "--holdout", 100]
            yield f"{name}, K = {k}, 100 sweeps", name, [*flags, "--steps", 100, "--eval-every", 100], SIDES
            batches = ["--batch", 100, "--steps", 400, "--eval-every", 400]
            yield f"{name}, K = {k}, batches of 100, 400 steps", name, [*flags, *batches], SIDES
    if part == "starts":
        for name in ("even", "small", "uneven"):
            k = TRUE_TOPICS[name]
            for mode, flags in {
                "200 sweeps": ["--steps", 200, "--eval-every", 200],
                "batches of 50, 2000 steps": ["--batch", 50, "--steps", 2000, "--eval-every", 2000],
            }.items():
                for alpha, eta in ((5, 3), (0.001, 0.001)):
                    begin = [*LEARNED, "--alpha", alpha, "--eta", eta, "--temper", "off"]
                    sides = {"learned before": ("before", begin), "learned": ("lehr", begin)}
                    corpus = f"{name} (eta {SIMULATED[name][4]}), {mode}, from alpha {alpha}, eta {eta}"
                    yield corpus, name, ["-k", k, "--holdout", 100, *flags], sides
    if part == "warm":
        fixed = ["--priors", "fixed"]
        sides = {
            "cold": ("lehr", fixed),
            "warm before": ("before", ["--warm"]),
            "warm after 20": ("lehr", [*fixed, "--warm", "--warm-after", 20]),
            "warm": ("lehr", [*fixed, "--warm"]),
            "learned, cold": ("lehr", []),
            "learned, warm": ("lehr", ["--warm"]),
        }
        yield "AP, K = 20, 60 sweeps", ap, ["-k", 20, "--steps", 60, "--holdout", 100, "--eval-every", 60], sides
        for name in ("even", "small"):
            k = TRUE_TOPICS[name] + 5
            flags = ["-k", k, "--steps", 100, "--holdout", 50, "--eval-every", 100]
            yield f"{name}, K = {k}, 100 sweeps", name, flags, sides
        flags = ["-k", 15, "--batch", 100, "--steps", 600, "--holdout", 50, "--eval-every", 600]
        yield "even, K = 15, batches of 100, 600 steps", "even", flags, sides


def measure(program, file, flags, seed, folder):
    """One fit: what raw.csv has of it."""
    run = folder / "run"
    command = [program, "fit", "lda", file, *flags, "--tol", 0, "--seed", seed, "--threads", 1, "--json"]
    command = [*map(str, command), "-o", str(run)]
    subprocess.run(["rm", "-rf", str(run)], check=True)
    result = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    shown = subprocess.run([program, "show", str(run)], check=True, capture_output=True, text=True).stdout
    alpha = re.search(r"alpha ([\d.e-]+)(?: to ([\d.e-]+))?", shown)
    eta = re.search(r"eta ([\d.e-]+)", shown)[1]
    bound, completion = round(result["bound"], 1), round(result["heldout"], 5)
    return [bound, completion, result["steps"], round(result["seconds"], 1), eta, alpha[1], alpha[2] or alpha[1]]


def summary(folder):
    """Tables of means over the seeds that every side of a corpus has."""
    with open(folder / "raw.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    text = ""
    for part in dict.fromkeys(row["part"] for row in rows):
        text += f"\n## {part}\n\n| corpus | side | completion | bound | eta | alpha | seeds |\n|---|---|--:|--:|--:|--:|--:|\n"
        own = [row for row in rows if row["part"] == part]
        for corpus in {row["corpus"] for row in own}:
            sides = {row["side"] for row in own if row["corpus"] == corpus}
            done = [{row["seed"] for row in own if (row["corpus"], row["side"]) == (corpus, side)} for side in sides]
            common = set.intersection(*done)
            own = [row for row in own if row["corpus"] != corpus or row["seed"] in common]
        for corpus, side in dict.fromkeys((row["corpus"], row["side"]) for row in own):
            found = [row for row in own if (row["corpus"], row["side"]) == (corpus, side)]
            mean = {name: statistics.mean(float(row[name]) for row in found) for name in COLUMNS[4:]}
            spread = statistics.stdev(float(row["completion"]) for row in found) if len(found) > 1 else 0
            alpha = f"{mean['least_alpha']:.3g} to {mean['most_alpha']:.3g}"
            text += f"| {corpus} | {side} | {mean['completion']:.4f} +- {spread:.4f} | {mean['bound']:,.0f} "
            text += f"| {mean['eta']:.3g} | {alpha} | {len(found)} |\n"
    (folder / "summary.md").write_text(text.lstrip())
    print(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parts = ["reuters", "ap", "kept", "starts", "warm"]
    parser.add_argument("--lehr")
    parser.add_argument("--before")
    parser.add_argument("--data", type=Path, default=Path("data"))
    parser.add_argument("--only", nargs="*", default=parts, choices=parts)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--summary", type=Path)
    args = parser.parse_args()
    if args.summary:
        return summary(args.summary)
    cpu = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text())[1]
    cpu = "-".join(re.sub(r"\(.*?\)", "", cpu).lower().split()[:2])
    out = Path(__file__).parent / "runs" / f"{datetime.date.today()}-{cpu}-lda-defaults"
    out.mkdir(parents=True, exist_ok=True)
    raw = out / "raw.csv"
    if not raw.exists():
        raw.write_text(",".join(COLUMNS) + "\n")
    programs = {"lehr": args.lehr, "before": args.before}
    with tempfile.TemporaryDirectory() as folder, open(raw, "a", newline="") as file:
        folder, writer = Path(folder), csv.writer(file, lineterminator="\n")
        files = {name: simulate(folder, name) for name in SIMULATED}
        for part in args.only:
            for seed in range(args.seeds):
                for corpus, data, flags, sides in jobs(part, args.data):
                    for side, (program, more) in sides.items():
                        found = measure(programs[program], files.get(data, data), [*flags, *more], seed, folder)
                        writer.writerow([part, corpus, side, seed, *found])
                        file.flush()
    summary(out)


if __name__ == "__main__":
    main()
