#!/usr/bin/env python3
"""Topic models (LDA) on news: lehr against scikit-learn and gensim.

    python3 benchsuite/lda.py

Documents per second and held-out quality at equal documents for all three, and
for lehr alone what the vocabulary, the size of the corpus, the threads and the
noise cost. Needs python3, cargo and, the first time, a network: the script
makes its own environment in benchsuite/.venv and builds lehr. The programs run
alternately, each run in its own process. Every single run goes to
benchsuite/runs/<date>-<cpu>/raw.csv, next to the printed tables and a
description of the machine. See benchsuite/README.md.

This file uses the standard library only, for the reason harness.py gives.
"""

import shutil
import statistics
import sys
from pathlib import Path

from harness import (
    HERE, ROOT, WORK, Failure, Output, alternate, common_parser, guarded, last_json, measure, megabytes, note,
    read_trace, report_parts, run_directory, set_up, show, spread, table, venv_python, verdict,
)  # fmt: skip

WORKER = HERE / "lda_worker.py"
CORPUS = "docword.reuters-news.txt.gz"

# One setting for all programs; alpha is 1/K.
BATCH = 1000
ETA = 0.01
OFFSET, DECAY = 10, 0.75
TOLERANCE, ITERATIONS = "1e-3", 100
HELDOUT = 1000
# The scorer's own local steps; looser ones are wrong by what we want to see.
SCORE_TOLERANCE, SCORE_ITERATIONS = "1e-5", 500
SEED = 20240611

WIDE = 1_000_000
WIDE_TARGET = 1.1
TIMES = (1, 4, 16)
MEMORY_ALLOWANCE = 300_000_000
NEVER = 1_000_000_000
# What a step is: reading for observers and checkpoints is not.
STEP_PARTS = ("sample", "anneal", "local", "update")

PEERS = {
    "scikit-learn": ["sklearn", "float64"],
    "scikit-learn f32": ["sklearn", "float32"],
    "gensim": ["gensim"],
}
GUARDS = ("shrink", "clamp")
CHECKS = ["speed", "epoch", "vocabulary", "memory", "threads", "noise"]
COLUMNS = [
    "check", "setting", "side", "round", "place", "documents", "words", "k", "threads", "seed", "seconds",
    "documents_per_second", "wall_seconds", "cpu_seconds", "peak_rss_bytes", "completion", "detail",
]  # fmt: skip


class Sizes:
    def __init__(self, quick):
        self.subset = 3_000 if quick else 20_000
        # 0: every document that is not held out.
        self.whole = 6_000 if quick else 0
        self.topics = (100, 150)
        self.memory_steps = 5 if quick else 30


# --- One run -----------------------------------------------------------------


class Corpus:
    """A UCI file and what the preparation counted in it."""

    def __init__(self, path, facts):
        self.path, self.facts = path, facts

    @property
    def words(self):
        return self.facts["words"]

    @property
    def steps(self):
        """Whole batches only: a step is the same work everywhere."""
        return max(1, self.facts["documents"] // BATCH)


class Bench:
    def __init__(self, args, lehr, raw):
        self.args, self.lehr, self.raw = args, lehr, raw
        self.runs = 0

    def record(self, check, setting, side, round_, place, got, **values):
        row = {
            "check": check,
            "setting": setting,
            "side": side,
            "round": round_,
            "place": place,
            "threads": self.args.threads,
            "seed": round_,
            "wall_seconds": got.wall,
            "cpu_seconds": got.cpu,
            "peak_rss_bytes": got.rss,
            "completion": "",
            **values,
        }
        row["documents_per_second"] = row["documents"] / row["seconds"]
        self.raw.add(row)
        scored = f", {row['completion']:.4f} nats/word" if row["completion"] != "" else ""
        note(
            f"{check} {setting} round {round_} {side}: {row['documents_per_second']:.0f} docs/s, "
            f"{megabytes(got.rss)} MB{scored}"
        )
        return row

    def peer(self, check, setting, side, round_, place, corpus, k):
        out = WORK / "peer.npy"
        command = [
            venv_python(), WORKER, *PEERS[side], WORK / "subset.npz", k, BATCH, self.args.threads, round_,
            ETA, OFFSET, DECAY, TOLERANCE, ITERATIONS, out,
        ]  # fmt: skip
        # Processes are their parallelism; threads of the BLAS would only fight over the same cores.
        got = measure(command, 1)
        answer = last_json(got.stdout, side)
        scored = self.score(k, out)
        out.unlink()
        detail = {"by_batch": answer.get("by_batch"), "score": scored}
        return self.record(
            check, setting, side, round_, place, got, documents=answer["documents"], words=corpus.words, k=k,
            seconds=answer["seconds"], completion=scored["completion"], detail=detail,
        )  # fmt: skip

    def run_lehr(
        self, check, setting, side, round_, place, corpus, k,
        threads=None, steps=None, order=("--sampling", "in-order"), extra=(), score=False,
        program=None, batch=BATCH, rho=(OFFSET, DECAY), every=NEVER,
    ):  # fmt: skip
        threads = threads or self.args.threads
        steps = steps or corpus.steps
        self.runs += 1
        out = run_directory(self.runs)
        command = [
            program or self.lehr, "fit", "lda", corpus.path, "-k", k, "--priors", "fixed", "--batch", batch,
            "--steps", steps, *order, "--step-size", "power:{}:{}".format(*rho), "--alpha", repr(1.0 / k), "--eta", ETA,
            "--threads", threads, "--eval-every", every, "--tol", 0, "--seed", round_, "--quiet", "--json", "-o", out, *extra,
        ]  # fmt: skip
        got = measure(command, threads)
        answer = last_json(got.stdout, "lehr")
        try:
            parts = {name: float(value) for name, value in answer["seconds_by_part"].items()}
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise Failure(f"no seconds_by_part in the result of {show(command)}\n{got.stdout}") from error
        detail = {
            "parts": parts,
            "steps": steps,
            "total": answer.get("seconds"),
            "iterations": answer.get("iterations"),
            # All that is not a part came before the first step, but for the end of the process.
            "before": answer.get("seconds_before_first_step", got.wall - sum(parts.values())),
        }
        if every != NEVER:
            detail["trace"] = read_trace(out / "trace.jsonl", command)
        completion = ""
        if score:
            detail["score"] = self.score(k, out / "checkpoint.safetensors")
            completion = detail["score"]["completion"]
        if not self.args.keep:
            shutil.rmtree(out)
        return self.record(
            check, setting, side, round_, place, got, documents=steps * batch, words=corpus.words, k=k,
            threads=threads, seconds=sum(parts.get(name, 0.0) for name in STEP_PARTS), completion=completion,
            detail=detail,
        )  # fmt: skip

    def score(self, k, parameters):
        command = [
            venv_python(), WORKER, "score", WORK / "heldout.npz", WORK / "subset.npz", k, ETA, parameters,
            SCORE_TOLERANCE, SCORE_ITERATIONS,
        ]  # fmt: skip
        return last_json(measure(command, 1).stdout, "the scorer")


# --- Preparing ---------------------------------------------------------------


def prepare(args, sizes, order="file"):
    """Writes the corpora, in the file's order or one drawn with the seed; returns the one for the peers, the whole one and a line about their origin."""
    path = Path(args.data).resolve() / CORPUS
    source = path if path.exists() else "synthetic"
    note(f"corpus: {source if source == 'synthetic' else CORPUS}")
    got = measure([venv_python(), WORKER, "prepare", source, WORK, sizes.subset, sizes.whole, HELDOUT, SEED, order], 1)
    facts = last_json(got.stdout, "the preparation")
    subset, whole = (Corpus(WORK / f"{name}.txt", facts[name]) for name in ("subset", "whole"))
    what = CORPUS
    if source == "synthetic":
        what = f"SYNTHETIC, drawn from an LDA with 100 topics, because there is no {CORPUS} in the data directory"
    origin = (
        f"{what}; {whole.facts['documents']:,} documents to train on, {HELDOUT} held out at the end, "
        f"V = {whole.words:,}, {whole.facts['entries'] / whole.facts['documents']:.0f} different words and "
        f"{whole.facts['tokens'] / whole.facts['documents']:.0f} tokens a document; the peers' part is the first "
        f"{subset.facts['documents']:,} with {subset.facts['entries'] / subset.facts['documents']:.0f} different words"
    )
    return subset, whole, origin


def widened(corpus, words):
    """The same documents under a header with more words."""
    path = corpus.path.with_name("wide.txt")
    with corpus.path.open("rb") as old, path.open("wb") as new:
        documents, _, entries = (old.readline() for _ in range(3))
        new.write(documents + b"%d\n" % words + entries)
        shutil.copyfileobj(old, new, 1 << 20)
    return Corpus(path, {**corpus.facts, "words": words})


def converted(lehr, corpus, times):
    """`lehr convert` of the corpus with every document `times` times; facts about the conversion."""
    text, path = WORK / f"times-{times}.txt", WORK / f"times-{times}.lehr"
    measure([venv_python(), WORKER, "repeat", corpus.path, text, times, SEED], 1)
    got = measure([lehr, "convert", text, "-o", path], 1)
    read = text.stat().st_size
    text.unlink()
    size = sum(f.stat().st_size for f in path.rglob("*") if f.is_file()) if path.is_dir() else path.stat().st_size
    note(f"converted x{times}: {megabytes(read)} MB to {megabytes(size)} MB in {got.wall:.1f} s")
    facts = {**corpus.facts, **{name: corpus.facts[name] * times for name in ("documents", "entries", "tokens")}}
    return Corpus(path, facts), {"seconds": got.wall, "rss": got.rss, "text": read, "bytes": size}


# --- Tables ------------------------------------------------------------------


def rates(rows):
    return [row["documents_per_second"] for row in rows]


def step_seconds(rows):
    return [row["seconds"] / row["detail"]["steps"] for row in rows]


def milliseconds(value):
    return f"{1e3 * value:.2f}"


def nats(value):
    return f"{value:.4f}"


def setting_name(k):
    return f"k{k}"


def report_speed(report, results, args, corpus):
    t = args.threads
    report.add(
        f"## Documents per second, {t} threads or processes, {args.rounds} rounds\n\n"
        f"The first {corpus.facts['documents']:,} documents in the file's order, batch {BATCH}, one pass: local\n"
        f"steps, statistics and update, without reading. alpha = 1/K, eta = {ETA}, rho_t = ({OFFSET}+t)^-{DECAY},\n"
        f"local threshold {TOLERANCE}, at most {ITERATIONS} iterations. `scikit-learn f32` is given float32 counts.\n"
        f"gensim has {t} worker processes and a master that polls them, so it asks for {t + 1} cores, and updates\n"
        f"every {t} batches.\n"
        "Median, least and greatest over the rounds; the ratio is that of the medians."
    )
    rows, ratios = [], []
    for k, sides in results:
        for side, runs in sides.items():
            rows.append([setting_name(k), side, *spread(rates(runs), lambda r: f"{r:,.0f}")])
        if "lehr" in sides:
            ours = statistics.median(rates(sides["lehr"]))
            for side in sides:
                if side != "lehr":
                    ratios.append([setting_name(k), side, f"{ours / statistics.median(rates(sides[side])):.1f}x"])
    report.add(table(["setting", "program", "median docs/s", "least", "greatest"], rows))
    if ratios:
        report.add(table(["setting", "lehr against", "ratio"], ratios))


def report_epoch(report, results, corpus):
    rows = [[setting_name(k), *spread(rates(runs), lambda r: f"{r:,.0f}")] for k, runs in results]
    report.add(
        f"## lehr over all documents\n\n{corpus.steps} steps, as above, over {corpus.steps * BATCH:,} documents: "
        "the first steps, which take the most iterations, weigh less."
    )
    report.add(table(["setting", "median docs/s", "least", "greatest"], rows))


def report_peak(report, named_rows, corpora, threads, peak):
    """Nominal operations: every iteration counted in full, whatever lehr skips."""
    rows = []
    for name, runs in named_rows:
        corpus = corpora[name]
        values = []
        for run in runs:
            mean = run["detail"]["iterations"]
            if mean is None:
                continue
            entries = corpus.facts["entries"] * run["documents"] / corpus.facts["documents"]
            values.append((4.0 * run["k"] * entries * float(mean) / run["seconds"] / 1e9, float(mean)))
        if not values:
            continue
        rate, mean = (statistics.median(column) for column in zip(*values))
        share = f"{100 * rate / (threads * 2.0 * peak['gflops']):.1f}%" if peak else "-"
        rows.append([name, f"{mean:.1f}", f"{rate:.1f}", share])
    if not rows:
        report.add("## Share of the peak\n\nLeft out: lehr reported no `iterations`.")
        return
    against = (
        f"The peak is {threads} threads x 2 x {peak['gflops']:.2f} Gflop/s: measured for f64 on one core,\n"
        f"{peak['isa']}; f32 lanes are twice as many."
        if peak
        else "The peak of this machine was not measured."
    )
    report.add(
        "## Share of the peak\n\n"
        "Nominal operations: 4 K for an entry and iteration (two products with the word's row, a multiplication\n"
        "and an addition each), exp and division counted as 0, skipped topics counted in full.\n" + against
    )
    report.add(table(["run", "iterations", "Gflop/s", "share of the peak"], rows))


def report_quality(report, results):
    report.add(
        "## Held-out quality at equal documents\n\n"
        f"Document completion on the last {HELDOUT} documents, nats per predicted word (higher is better):\n"
        "every other token observed, the rest predicted with sum_k E[theta_k] E[beta_kw], by one program for all,\n"
        "from the parameters each run above ended with. The unigram baseline is one topic."
    )
    rows = []
    for k, sides in results:
        for side, runs in sides.items():
            rows.append([setting_name(k), side, *spread([run["completion"] for run in runs], nats)])
        baseline = next(iter(sides.values()))[0]["detail"]["score"]["unigram"]
        rows.append([setting_name(k), "unigram", nats(baseline), "", ""])
    report.add(table(["setting", "program", "median", "least", "greatest"], rows))


def report_vocabulary(report, sides, corpus):
    report.add(
        f"## Seconds per step against the vocabulary\n\nlehr, K = 100: the same documents under V = {corpus.words:,} "
        f"and {WIDE:,}, the added words in no document. At most {WIDE_TARGET:g}x."
    )
    rows = [[side, *spread(step_seconds(runs), milliseconds)] for side, runs in sides.items()]
    report.add(table(["run", "median ms", "least ms", "greatest ms"], rows))
    narrow, wide = (statistics.median(step_seconds(runs)) for runs in sides.values())
    passed = wide / narrow <= WIDE_TARGET
    report.add(f"Ratio of the medians: {wide / narrow:.3f} ({verdict(passed)})")
    if not passed:
        report.failed.append("vocabulary")


def report_memory(report, results, conversions, k):
    report.add(
        "## Peak memory and start against the size of the corpus\n\n"
        f"lehr, K = {k}, from the converted file, documents repeated in a drawn order. Greatest resident set over\n"
        "the rounds, mapped pages of the file included, in MB of 10^6 bytes; allowed are V K 8 bytes and 300 MB.\n"
        "The start is all time before the first step."
    )
    rows = []
    for times, (corpus, runs) in results.items():
        rss = max(run["peak_rss_bytes"] for run in runs)
        allowed = corpus.words * k * 8 + MEMORY_ALLOWANCE
        passed = rss <= allowed
        if not passed:
            report.failed.append(f"memory x{times}")
        start = statistics.median([run["detail"]["before"] for run in runs])
        rows.append(
            [f"x{times}", f"{corpus.facts['documents']:,}", megabytes(conversions[times]["bytes"]), megabytes(rss),
             megabytes(allowed), verdict(passed), f"{start:.3f}"]
        )  # fmt: skip
    report.add(table(["size", "documents", "file MB", "peak MB", "allowed MB", "verdict", "start s"], rows))
    rows = [
        [f"x{times}", megabytes(c["text"]), f"{c['seconds']:.1f}", megabytes(c["rss"])]
        for times, c in conversions.items()
    ]
    report.add("Converting, once each:\n\n" + table(["size", "text MB", "seconds", "peak MB"], rows))


def report_steps(report, title, text, sides, base):
    report.add(f"## {title}\n\n{text}")
    reference = statistics.median(step_seconds(sides[base]))
    rows = []
    for side, runs in sides.items():
        s = step_seconds(runs)
        rows.append([side, *spread(s, milliseconds), f"{statistics.median(s) / reference:.3f}"])
    report.add(table(["run", "median ms", "least ms", "greatest ms", f"against {base}"], rows))


# --- Checks ------------------------------------------------------------------


def check_speed(bench, args, sizes, subset, programs):
    """The peers and the programs of lehr by name, at every K."""
    results = []
    for k in sizes.topics:
        name = setting_name(k)
        sides = {
            side: lambda r, p, side=side, k=k, name=name: bench.peer("speed", name, side, r, p, subset, k)
            for side in args.peers
        }
        for side, program in programs.items():
            sides[side] = lambda r, p, side=side, program=program, k=k, name=name: bench.run_lehr(
                "speed", name, side, r, p, subset, k, score=True, program=program
            )
        if sides:
            results.append((k, alternate(sides, args.rounds)))
    return results


def check_epoch(bench, args, sizes, whole):
    sides = {
        k: lambda r, p, k=k: bench.run_lehr("epoch", setting_name(k), "lehr", r, p, whole, k) for k in sizes.topics
    }
    return list(alternate(sides, args.rounds).items())


def check_vocabulary(bench, args, whole):
    wide = widened(whole, WIDE)
    sides = {
        f"V = {c.words:,}": lambda r, p, c=c: bench.run_lehr("vocabulary", f"v{c.words}", "lehr", r, p, c, 100)
        for c in (whole, wide)
    }
    rows = alternate(sides, args.rounds)
    wide.path.unlink()
    return rows


def check_memory(bench, args, sizes, whole):
    made = {times: converted(bench.lehr, whole, times) for times in TIMES}
    sides = {
        times: lambda r, p, times=times: bench.run_lehr(
            "memory", f"x{times}", "lehr", r, p, made[times][0], 100, steps=sizes.memory_steps, order=()
        )
        for times in TIMES
    }
    rows = alternate(sides, args.rounds)
    return {times: (made[times][0], rows[times]) for times in TIMES}, {times: made[times][1] for times in TIMES}


def check_threads(bench, args, whole):
    sides = {
        f"{n} thread{'s' if n > 1 else ''}": lambda r, p, n=n: bench.run_lehr(
            "threads", f"t{n}", "lehr", r, p, whole, 100, threads=n
        )
        for n in (1, 2)
    }
    return alternate(sides, args.rounds)


def check_noise(bench, args, whole):
    def side(name, extra):
        return lambda r, p: bench.run_lehr("noise", "k100", name, r, p, whole, 100, extra=extra)

    sides = {"plain": side("plain", ())}
    for guard in GUARDS:
        name = f"gaussian, {guard}"
        sides[name] = side(name, ("--effective", 100, "--law", "gaussian", "--guard", guard))
    return alternate(sides, args.rounds)


# --- Command line ------------------------------------------------------------


def parse(argv):
    parser = common_parser(
        "Topic models on news: lehr against scikit-learn and gensim.", CHECKS,
        "runs of each program (5; 1 with --quick)",
    )  # fmt: skip
    parser.add_argument(
        "--data", metavar="DIR", default=ROOT.parent / "shared" / "data",
        help=f"where {CORPUS} is (../shared/data); a synthetic corpus where it is not",
    )  # fmt: skip
    parser.add_argument("--quick", action="store_true", help="few documents, to try the script; not for quoting")
    parser.add_argument(
        "--peer", metavar="NAME", action="append", dest="peers", choices=[*PEERS, "none"],
        help="compare with this one only: " + ", ".join(PEERS) + " or none; repeatable",
    )  # fmt: skip
    args = parser.parse_args(argv)
    args.rounds = args.rounds or (1 if args.quick else 5)
    args.peers = [peer for peer in PEERS if peer in (args.peers or PEERS)]
    return args


def run(args):
    sizes = Sizes(args.quick)
    wanted = args.only or CHECKS
    lehr, peak = set_up(args, args.quick)
    subset, whole, origin = prepare(args, sizes)
    output = Output(args, WORKER, COLUMNS, lehr, peak, "lda", args.quick, [f"corpus: {origin}"])
    bench, report = Bench(args, lehr, output.raw), output.report
    report.add(f"Corpus: {origin}.")

    parts, corpora = [], {}
    if "speed" in wanted:
        results = check_speed(bench, args, sizes, subset, {"lehr": lehr} if lehr else {})
        if results:
            report_speed(report, results, args, subset)
            report_quality(report, results)
        parts += [(setting_name(k), sides["lehr"]) for k, sides in results if "lehr" in sides]
        corpora |= {name: subset for name, _ in parts}
    if lehr and "epoch" in wanted:
        results = check_epoch(bench, args, sizes, whole)
        report_epoch(report, results, whole)
        parts += [(f"{setting_name(k)}, all documents", rows) for k, rows in results]
        corpora |= {f"{setting_name(k)}, all documents": whole for k, _ in results}
    if parts:
        report_peak(report, parts, corpora, args.threads, peak)
        report_parts(report, "Where the time goes", parts)
    if lehr and "vocabulary" in wanted:
        report_vocabulary(report, check_vocabulary(bench, args, whole), whole)
    if lehr and "memory" in wanted:
        report_memory(report, *check_memory(bench, args, sizes, whole), 100)
    if lehr and "threads" in wanted:
        sides = check_threads(bench, args, whole)
        report_steps(report, "Seconds per step against threads", "lehr, K = 100.", sides, "1 thread")
    if lehr and "noise" in wanted:
        sides = check_noise(bench, args, whole)
        text = "lehr, K = 100: `--effective 100` against plain steps, alternately."
        report_steps(report, "Cost of the noise", text, sides, "plain")
        report_parts(report, "Where the time goes, with and without noise", list(sides.items()))

    output.close()


if __name__ == "__main__":
    sys.exit(guarded(run, parse(None)))
