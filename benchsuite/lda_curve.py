#!/usr/bin/env python3
"""How good topics are after how many seconds: lehr, scikit-learn, gensim and tomotopy on the Reuters news.

    python3 benchsuite/lda_curve.py --data DIR [--seconds 120] [--picture docs/pictures/lda_curve.png]

Every program trains with its own defaults on the same documents, with two
threads or processes, one program after the other, the order turned around from
round to round. Their topics are kept at marks on a clock that runs during
training only, and one function scores all of them by completion of the same
held-out documents. Every point goes to
benchsuite/runs/<date>-<cpu>-lda-curve/curve.csv and raw.csv, with a picture.
See benchsuite/README.md.

This file uses the standard library only, for the reason harness.py gives.
"""

import csv
import math
import shutil
import statistics
import sys
from pathlib import Path

import lda
from harness import (
    HERE, ROOT, WORK, Failure, Output, alternate, common_parser, cpu_facts, guarded, last_json, measure, note, number,
    run_directory, set_up, table, venv_python,
)  # fmt: skip

WORKER = HERE / "lda_curve_worker.py"
PROGRAMS = ["lehr", "tomotopy", "scikit-learn", "gensim"]
COLUMNS = [
    "check", "setting", "side", "round", "place", "k", "threads", "seed", "passes", "seconds", "completion",
    "wall_seconds", "cpu_seconds", "peak_rss_bytes", "detail",
]  # fmt: skip
# lehr's own score of its topics and ours must be so near.
AGREE = 1e-3
SETTINGS = {
    "lehr": "`--batch 1000`, else defaults: alpha and eta learned, tempered start, rho_t = (10+t)^-0.75. The start takes "
    "60 % of the steps however many these are, so every point is its own fit, from the start",
    "tomotopy": "`LDAModel(k=K)`: alpha 0.1, learned every 10 sweeps, eta 0.01; `train(workers=2)`, default scheme",
    "scikit-learn": "`learning_method='online'`: alpha = eta = 1/K, rho_t = (10+t)^-0.7, 100 local iterations; batches of "
    "1000, as lehr's, not 128",
    "gensim": "`LdaMulticore(workers=2)`: alpha = eta = 1/K, chunks of 2000, rho_t = (1+t)^-0.5, 50 local iterations, no "
    "perplexity on the way",
}


class Curve:
    def __init__(self, args, lehr, raw, corpus):
        self.args, self.lehr, self.raw, self.corpus = args, lehr, raw, corpus
        self.apart = []

    def record(self, program, round_, place, got, seconds, passes, score, detail):
        row = {
            "check": "curve", "setting": f"k{self.args.topics}", "side": program, "round": round_, "place": place, "k": self.args.topics,
            "threads": self.args.threads, "seed": round_, "passes": passes, "seconds": seconds, "completion": score,
            "wall_seconds": got.wall, "cpu_seconds": got.cpu, "peak_rss_bytes": got.rss, "detail": detail,
        }  # fmt: skip
        self.raw.add(row)
        note(f"round {round_} {program}: {seconds:.2f} s, {passes:.2f} passes, {score:.4f} nats/word")
        return row

    def score(self, files):
        command = [
            venv_python(), WORKER, "score", WORK / "heldout.npz", self.args.topics, lda.SCORE_TOLERANCE, lda.SCORE_ITERATIONS, *files,
        ]  # fmt: skip
        return last_json(measure(command, self.args.threads).stdout, "the scorer")

    def peer(self, program, round_, place):
        args = self.args
        folder = run_directory("curve")
        folder.mkdir()
        # The BLAS of the peers has one thread: their parallelism is processes.
        got = measure(
            [venv_python(), "-W", "ignore", WORKER, program, WORK / "subset.npz", self.args.topics, args.threads, round_,
             args.seconds, args.marks, folder],
            1,
        )  # fmt: skip
        kept = last_json(got.stdout, program)
        scores = self.score([point["file"] for point in kept])
        shutil.rmtree(folder)
        return [
            self.record(program, round_, place, got, point["seconds"], point["passes"], score, {})
            for point, score in zip(kept, scores)
        ]

    def ours(self, round_, place):
        """Fits of more and more steps, until the next would take longer than there is."""
        rows, steps, seconds = [], self.args.first_steps, 0.0
        while 2 * seconds <= self.args.seconds or not rows:
            out = run_directory("curve")
            command = [
                self.lehr, "fit", "lda", self.corpus.path, "-k", self.args.topics, "--batch", lda.BATCH, "--steps", steps,
                "--tol", 0, "--eval-every", 0, "--threads", self.args.threads, "--seed", round_, "--quiet", "--json",
                "-o", out,
            ]  # fmt: skip
            got = measure(command, self.args.threads)
            answer = last_json(got.stdout, "lehr")
            # All but looking at the bound and saving.
            seconds = sum(answer["seconds_by_part"].get(part, 0.0) for part in lda.STEP_PARTS)
            score = self.score([out / "checkpoint.safetensors"])[0]
            told = measure([self.lehr, "eval", out, WORK / "heldout.txt", "--json"], self.args.threads).stdout
            own = last_json(told, "lehr eval")["completion"]
            self.apart.append(abs(own - score))
            shutil.rmtree(out)
            passes = steps * lda.BATCH / self.corpus.facts["documents"]
            detail = {"steps": steps, "own_completion": own, "parts": answer["seconds_by_part"]}
            rows.append(self.record("lehr", round_, place, got, seconds, passes, score, detail))
            steps *= 2
        return rows


def reached(points, target):
    """Seconds at which a curve first is as good as the target."""
    found = [row["seconds"] for row in points if row["completion"] >= target]
    return min(found) if found else None


def report_curves(report, curves):
    rounds = {program: runs for program, runs in curves.items() if runs}
    best = max(row["completion"] for runs in rounds.values() for points in runs for row in points)
    targets = [round(best - step, 2) for step in (0.5, 0.3, 0.2, 0.1, 0.05, 0.02)]
    lines = []
    for program, runs in rounds.items():
        cells = []
        for target in targets:
            times = [reached(points, target) for points in runs]
            cells.append("-" if None in times else number(statistics.median(times)))
        last = [points[-1] for points in runs]
        lines.append(
            [program, *cells, f"{statistics.median(row['completion'] for row in last):.4f}",
             f"{statistics.median(row['seconds'] for row in last):.0f}",
             f"{statistics.median(row['passes'] for row in last):.1f}"]
        )  # fmt: skip
    report.add("Seconds to reach a completion of (median over the rounds; a dash: not within the time), and where each ended:")
    report.add(table(["program", *map(str, targets), "at the end", "seconds", "passes"], lines))


def parse(argv):
    parser = common_parser(__doc__.splitlines()[0], PROGRAMS, "runs of each program, with another seed each (2)")
    parser.add_argument(
        "--data", metavar="DIR", default=ROOT.parent / "shared" / "data",
        help=f"where {lda.CORPUS} is; a synthetic corpus where it is not",
    )  # fmt: skip
    parser.add_argument("--seconds", type=float, help="seconds of training of each program (120; 6 with --quick)")
    parser.add_argument("--picture", metavar="PNG", help="a copy of the picture, such as docs/pictures/lda_curve.png")
    parser.add_argument("--quick", action="store_true", help="few documents, to try the script; not for quoting")
    args = parser.parse_args(argv)
    args.rounds = args.rounds or (1 if args.quick else 2)
    args.seconds = args.seconds or (6.0 if args.quick else 120.0)
    # Two marks for every doubling, from about a second on.
    args.marks = max(4, round(2 * math.log2(max(args.seconds, 1.0))) + 1)
    args.topics = 20 if args.quick else 100
    args.first_steps = 5 if args.quick else 10
    return args


def run(args):
    if not args.seconds > 0.0:
        raise Failure("--seconds must be more than 0")
    lehr, _ = set_up(args, args.quick, with_peak=False)
    corpus, origin = prepare(args)
    output = Output(args, WORKER, COLUMNS, lehr, None, "lda-curve", args.quick, [f"corpus: {origin}"])
    curve, report = Curve(args, lehr, output.raw, corpus), output.report
    wanted = [program for program in PROGRAMS if program in (args.only or PROGRAMS) and (lehr or program != "lehr")]
    sides = {
        program: curve.ours if program == "lehr" else lambda r, p, program=program: curve.peer(program, r, p)
        for program in wanted
    }
    curves = alternate(sides, args.rounds)

    path = output.path / "curve.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["program", "round", "passes", "seconds", "completion"])
        for program, runs in curves.items():
            for row in (row for points in runs for row in points):
                writer.writerow([program, row["round"], row["passes"], row["seconds"], row["completion"]])
    pictures = [path.with_name(f"lda_curve.{kind}") for kind in ("png", "svg")]
    title = f"Reuters news, {corpus.facts['documents']:,} documents, K = {args.topics}, {args.threads} threads each"
    measure([venv_python(), WORKER, "plot", path, title, *pictures], 1)
    if args.picture:
        shutil.copyfile(pictures[0], args.picture)
    report.add(
        f"## Completion against seconds of training, K = {args.topics}, {args.threads} threads, {args.rounds} rounds\n\n"
        f"![Completion of held-out documents against seconds of training](lda_curve.png)\n\n{cpu_facts()[0]}. Corpus: {origin}.\n\n"
        "Nats per word, higher is better: every other word of a held-out document is observed, the rest predicted, by one\n"
        "function for all (benchsuite/lda_worker.py, `completion`), with each program's own alpha. Reading, the random start\n"
        "and scoring are not in the seconds.\n\n" + "\n".join(f"- {name}: {SETTINGS[name]}." for name in wanted)
    )
    report_curves(report, curves)
    if curve.apart:
        report.add(
            f"`lehr eval` scored lehr's topics itself: at most {max(curve.apart):.1e} away from the common score "
            f"({'agreed' if max(curve.apart) <= AGREE else 'NOT AGREED'}, {AGREE:g} is allowed)."
        )
    output.close()


def prepare(args):
    """The documents in a drawn order: those to train on, and those held out, also as a file for `lehr eval`."""
    _, whole, origin = lda.prepare(args, Documents(args.quick), "drawn")
    return whole, origin + f"; in an order drawn with seed {lda.SEED}"


class Documents:
    """The peers' part is everything, as lehr's is."""

    def __init__(self, quick):
        self.whole = 3_000 if quick else 0
        self.subset = self.whole or 1_000_000_000


if __name__ == "__main__":
    sys.exit(guarded(run, parse(None)))
