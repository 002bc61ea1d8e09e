#!/usr/bin/env python3
"""Everything that lehr's speed is judged by, in one table: peers, yardstick, an older build, targets.

    python3 benchsuite/speed.py --data DIR [--old PATH/lehr] [--yardstick DIR]

Every row of the table is a comparison of programs that run alternately in one
go; the order turns around from round to round. Ratios are quoted, next to what
is to be reached. `--old` is an older build of lehr, `--yardstick` a cargo
project of throw-away kernels (binaries lda2 and pmf, data by prep.py); rows
that need what is not given are left out. lda.py, pmf.py, mixture.py and
python.py run the programs; their pages of benchsuite/README.md say how.
Raw runs go to benchsuite/runs/<date>-<cpu>-speed/raw.csv.

This file uses the standard library only, for the reason harness.py gives.
"""

import copy
import hashlib
import json
import os
import re
import shutil
import statistics
import sys
import time
from pathlib import Path

import lda
import mixture
import pmf
from harness import (
    HERE, ROOT, WORK, Failure, Output, alternate, common_parser, cpu_facts, guarded, install_lehr, last_json, measure,
    note, number, output_of, run_directory, set_up, spread, table, tool, venv_python, words,
)  # fmt: skip

PYTHON_WORKER = HERE / "python_worker.py"

# The yardstick's step sizes and batches, and so those of all rows compared with it or without a peer.
RHO = (64, 0.6)
SEEDS = 5
# Completion may differ by this many nats a word and count as equal.
EQUAL = 0.001

# What is to be reached; None where nothing is asked.
LDA_YARDSTICK = {"AVX-512": 0.95, "AVX2": 1.1}
LDA_PEERS = {("AVX-512", 100): 70, ("AVX-512", 150): 75, ("AVX2", 100): 50, ("AVX2", 150): 45}
UPDATE_SHARE = 0.15
TWO_THREADS = 1.9
# The least rate at a batch size, of that at 1,000.
BATCHES = {100: 0.7, 1_000: None, 10_000: 0.95, 50_000: 0.95}
TOPICS = {200: None, 800: None, 3_200: 3.0}
WARM = 1.6
PMF_PEERS, PMF_YARDSTICK = 10, 1.0
PREDICT_MEAN, PREDICT_STD = 0.05, 0.5
ONE_ROW = 1e-4
NOT_SLOWER = 0.97
PMF_MEMORY = {50: 1_500_000_000, 10: 300_000_000}

# lehr's PMF with nothing that the yardstick lacks.
PLAIN_PMF = ("--no-biases", "--no-gauge", "--no-ard", "--no-learn-noise")
YARDSTICK_ISA = {"AVX-512": "a", "AVX2": "2"}

OWN = ["check", "setting", "side", "round", "place", "threads", "seconds", "wall_seconds", "cpu_seconds", "peak_rss_bytes"]
COLUMNS = list(dict.fromkeys([*OWN, *lda.COLUMNS, *pmf.COLUMNS, *mixture.COLUMNS, "detail"]))


class Sizes:
    """How much of everything a row takes."""

    def __init__(self, quick):
        self.lda, self.pmf = lda.Sizes(quick), pmf.Sizes(quick)
        if quick:
            self.lda.topics = (10, 15)
        self.mixtures = mixture.TINY_SETTINGS if quick else mixture.SETTINGS
        self.yardstick_steps = 3 if quick else 200
        self.seeds = 2 if quick else SEEDS
        self.batches = (100, 1_000, 3_000) if quick else tuple(BATCHES)
        self.topics = (20, 40) if quick else tuple(TOPICS)
        self.topic_steps = 3 if quick else 20
        self.sweeps = {d: 6 if quick else (12 if d >= 50 else 60) for d in self.pmf.dims}
        self.pairs = 10_000 if quick else 1_000_000
        self.calls = 50 if quick else 2_000
        # How often what takes long and varies little is repeated.
        self.memory_rounds = 1 if quick else 2


# --- Verdicts ------------------------------------------------------------------


class Verdicts:
    """The lines of the one table."""

    def __init__(self, report):
        self.report, self.rows = report, []

    def add(self, row, what, measured, target=None, passed=None):
        said = "" if passed is None else ("PASS" if passed else "FAIL")
        self.rows.append([row, what, measured, target or "", said])
        note(f"{row}: {what}: {measured} {said}")
        if passed is False:
            self.report.failed.append(f"{row}, {what}")

    def at_least(self, row, what, value, target, form="{:.2f}x"):
        told = target is not None
        self.add(row, what, form.format(value), ">= " + form.format(target) if told else None, value >= target if told else None)

    def at_most(self, row, what, value, target, form):
        told = target is not None
        self.add(row, what, form.format(value), "<= " + form.format(target) if told else None, value <= target if told else None)


def median_of(rows, of):
    return statistics.median(of(row) for row in rows)


def rate(row):
    return row["documents_per_second"]


def sweep(row):
    """Seconds of a sweep without looking at the bound."""
    return sum(row["detail"]["parts"].get(name, 0.0) for name in lda.STEP_PARTS) / row["sweeps"]


def rows_of(sides, of, form):
    return [[side, *spread([of(row) for row in rows], form)] for side, rows in sides.items()]


def per_second(value):
    return f"{value:,.0f}"


def difference(theirs, ours):
    """Mean difference of completion by pairs of equal seed, and its standard error."""
    pairs = [b["completion"] - a["completion"] for a, b in zip(theirs, ours)]
    error = statistics.stdev(pairs) / len(pairs) ** 0.5 if len(pairs) > 1 else float("nan")
    return statistics.fmean(pairs), error


# --- What the rows share ---------------------------------------------------------


class Speed:
    """The programs, the data (made when first asked for) and where results go."""

    def __init__(self, args, lehr, sizes, output):
        self.args, self.lehr, self.sizes = args, lehr, sizes
        self.raw, self.report = output.raw, output.report
        self.verdicts = Verdicts(self.report)
        self.old = Path(args.old).resolve() if args.old else None
        self.lda = lda.Bench(args, lehr, self.raw)
        self.pmf = self.pmf_bench(args.threads, lehr)
        flags = cpu_facts()[2].split()
        self.sets = {"AVX-512": ("env", "LEHR_ISA=avx512", lehr)} if "avx512f" in flags else {}
        if "avx2" in flags:
            self.sets["AVX2"] = ("env", "LEHR_ISA=avx2", lehr)
        # One core for programs of one thread, and not the first one, which the system likes best.
        self.pin = ("taskset", "-c", 1) if shutil.which("taskset") and (os.cpu_count() or 1) > 1 else ()
        self.made = {}
        self.has_package = bool(args.python)

    def pmf_bench(self, threads, program):
        args = copy.copy(self.args)
        args.threads = threads
        return pmf.Bench(args, self.sizes.pmf, program, self.raw)

    def pinned(self, program):
        return (*self.pin, *words([program]))

    def once(self, name, make):
        if name not in self.made:
            self.made[name] = make()
        return self.made[name]

    def corpora(self):
        """The peers' part of the corpus and all of it."""

        def make():
            subset, whole, origin = lda.prepare(self.args, self.sizes.lda)
            self.report.add(f"Corpus: {origin}.")
            return subset, whole

        return self.once("corpora", make)

    def ratings(self, name):
        def make():
            sets, origins = pmf.prepare(self.args, self.sizes.pmf, [name])
            self.report.add(f"Ratings: {origins[0]}.")
            return sets[name]

        return self.once(name, make)

    def yardstick(self):
        """The folder in which the yardstick runs, built and with its data; None where there is none."""

        def make():
            if not self.args.yardstick:
                return None
            needed = (lda.CORPUS, "ml-1m/ratings.dat.gz")
            data, source = Path(self.args.data).resolve(), Path(self.args.yardstick).resolve()
            if not all((data / name).exists() for name in needed):
                note(f"yardstick: left out, {' and '.join(needed)} are not both there")
                return None
            place = WORK / "yardstick"
            # Built from a copy: cargo writes next to what it builds.
            for name in ["Cargo.toml", "Cargo.lock", "prep.py", *(f.relative_to(source) for f in source.glob("src/**/*.rs"))]:
                if (source / name).exists():
                    (place / name).parent.mkdir(parents=True, exist_ok=True)
                    shutil.copyfile(source / name, place / name)
            with (place / "Cargo.toml").open("a", encoding="utf-8") as file:
                file.write("\n[workspace]\n")  # not one of lehr's crates, in whose folder it lies now
            tool(["cargo", "build", "--release", "--target-dir", place / "target"], cwd=place)
            tool([venv_python(), place / "prep.py", data], cwd=place)
            return place

        return self.once("yardstick", make)

    def run_yardstick(self, row, setting, side, round_, place, *command):
        """One run; what it printed."""
        folder = self.yardstick()
        got = measure([self.pinned(folder / "target" / "release" / command[0]), *command[1:]], 1, cwd=folder)
        return got, {
            "check": row, "setting": setting, "side": side, "round": round_, "place": place, "threads": 1,
            "wall_seconds": got.wall, "cpu_seconds": got.cpu, "peak_rss_bytes": got.rss, "detail": {"said": got.stdout},
        }  # fmt: skip

    def python_job(self, row, side, round_, place, job, **values):
        """One job of the Python package, which is installed when the first row asks for it."""
        if not self.has_package:
            install_lehr()
            self.has_package = True
        python = self.args.python or venv_python()
        job = {**values, "side": side, "seed": round_, "threads": self.args.threads}, job
        got = measure([python, "-W", "ignore", PYTHON_WORKER, job[1], json.dumps(job[0])], self.args.threads)
        answer = last_json(got.stdout, job[1])
        self.raw.add({
            "check": row, "side": side, "round": round_, "place": place, "threads": self.args.threads,
            "wall_seconds": got.wall, "cpu_seconds": got.cpu, "peak_rss_bytes": got.rss, "detail": answer,
        })  # fmt: skip
        note(f"{row} round {round_} {side}: {answer}")
        return answer

    def left_out(self, row, why):
        self.verdicts.add(row, "left out", why)


# --- Topics ----------------------------------------------------------------------


def lda_yardstick(speed):
    """One thread against the yardstick, from scratch, equal documents; then completion against the older build."""
    row, sizes = "lda-yardstick", speed.sizes
    _, whole = speed.corpora()
    if speed.yardstick():
        # It knows no other K.
        for k in (100, 150):
            lda_yardstick_rates(speed, row, k, whole)
    else:
        speed.left_out(row, "rates: no --yardstick")
    if not speed.old:
        speed.left_out(row, "completion: no --old")
        return
    programs = {"old": speed.old, "lehr": speed.lehr}
    sides = {
        side: lambda r, p, side=side: speed.lda.run_lehr(
            row, "completion k100", side, r, p, whole, 100,
            steps=min(200, 2 * whole.steps), order=(), rho=RHO, score=True, program=programs[side],
        )  # fmt: skip
        for side in programs
    }
    rows = alternate(sides, sizes.seeds)
    mean, error = difference(rows["old"], rows["lehr"])
    speed.report.add(f"## {row}: completion, K = 100, {sizes.seeds} seeds, nats a word")
    speed.report.add(table(["program", "median", "least", "greatest"], rows_of(rows, lambda r: r["completion"], lda.nats)))
    what = f"completion against old, {sizes.seeds} seeds (s.e. {error:.4f})"
    speed.verdicts.add(row, what, f"{mean:+.4f}", f">= {-EQUAL:+.4f}", mean >= -EQUAL)
    lda_completion_ap(speed, row, programs)


def lda_completion_ap(speed, row, programs):
    """The same on a small corpus of long documents, held out and scored by both programs themselves."""
    corpus = Path(speed.args.data).resolve() / "docword.ap.txt.gz"
    if not corpus.exists():
        speed.left_out(row, f"completion on AP: {corpus.name} is not in --data")
        return

    def run(side, round_, place):
        out = run_directory(f"ap-{side}")
        got = measure([
            programs[side], "fit", "lda", corpus, "-k", 50, "--priors", "fixed", "--alpha", 0.02, "--eta", 0.01, "--holdout", 400,
            "--batch", 200, "--steps", 20 if speed.args.quick else 400, "--step-size", "power:{}:{}".format(*RHO),
            "--eval-every", lda.NEVER, "--tol", 0, "--threads", 1, "--seed", round_, "--quiet", "--json", "-o", out,
        ], 1)  # fmt: skip
        completion = last_json(got.stdout, side)["measures"]["completion"]
        shutil.rmtree(out)
        told = {
            "check": row, "setting": "ap", "side": side, "round": round_, "place": place, "threads": 1, "seed": round_,
            "wall_seconds": got.wall, "cpu_seconds": got.cpu, "peak_rss_bytes": got.rss, "completion": completion,
        }  # fmt: skip
        speed.raw.add(told)
        note(f"{row} ap round {round_} {side}: {completion:.4f} nats/word")
        return told

    rows = alternate({side: lambda r, p, side=side: run(side, r, p) for side in programs}, 2 * speed.sizes.seeds)
    mean, error = difference(rows["old"], rows["lehr"])
    what = f"completion against old on AP, K = 50, {2 * speed.sizes.seeds} seeds (s.e. {error:.4f})"
    speed.verdicts.add(row, what, f"{mean:+.4f}", f">= {-EQUAL:+.4f}", mean >= -EQUAL)


def lda_yardstick_rates(speed, row, k, whole):
    steps = speed.sizes.yardstick_steps

    def yardstick(isa):
        def run(round_, place):
            got, told = speed.run_yardstick(
                row, f"k{k}", f"yardstick {isa}", round_, place, "lda2", "mode=train", f"K={k}", f"steps={steps}",
                f"isa={YARDSTICK_ISA[isa]}", "athr=0.02", "stb=1", f"seed={round_}",
            )  # fmt: skip
            found = re.search(r"wall [\d.]+ s = (\d+) docs/s", got.stdout)
            if not found:
                raise Failure(f"no rate in what the yardstick printed: {got.stdout}")
            told |= {"k": k, "documents": 1_000 * steps, "documents_per_second": float(found[1]), "seed": round_}
            speed.raw.add(told)
            note(f"{row} k{k} round {round_} yardstick {isa}: {found[1]} docs/s")
            return told

        return run

    def ours(isa):
        return lambda r, p: speed.lda.run_lehr(
            row, f"k{k}", f"lehr {isa}", r, p, whole, k, threads=1, steps=steps, order=(), rho=RHO,
            program=speed.pinned(speed.sets[isa]),
        )  # fmt: skip

    sides = {}
    for isa in speed.sets:
        sides |= {f"yardstick {isa}": yardstick(isa), f"lehr {isa}": ours(isa)}
    rows = alternate(sides, speed.args.rounds)
    speed.report.add(f"## {row}: documents per second, K = {k}, one thread, {steps} steps from scratch")
    speed.report.add(table(["program", "median", "least", "greatest"], rows_of(rows, rate, per_second)))
    for isa in speed.sets:
        ratio = median_of(rows[f"lehr {isa}"], rate) / median_of(rows[f"yardstick {isa}"], rate)
        speed.verdicts.at_least(row, f"K = {k}, {isa}, lehr / yardstick", ratio, LDA_YARDSTICK[isa])


def lda_peers(speed):
    row, args = "lda-peers", speed.args
    subset, _ = speed.corpora()
    programs = {f"lehr {isa}": program for isa, program in speed.sets.items()} or {"lehr": speed.lehr}
    results = lda.check_speed(speed.lda, args, speed.sizes.lda, subset, programs)
    lda.report_speed(speed.report, results, args, subset)
    lda.report_quality(speed.report, results)
    for k, sides in results:
        for program in programs:
            for peer in args.peers:
                ratio = median_of(sides[program], rate) / median_of(sides[peer], rate)
                # Asked is the ratio to scikit-learn; gensim is slower.
                target = LDA_PEERS.get((program.removeprefix("lehr "), k)) if peer == "scikit-learn" else None
                speed.verdicts.at_least(row, f"K = {k}, {program} / {peer}", ratio, target, "{:.1f}x")


def lda_update(speed):
    row = "lda-update"
    _, whole = speed.corpora()
    sides = {
        "1 thread": lambda r, p: speed.lda.run_lehr(
            row, "k100", "1 thread", r, p, whole, 100, threads=1, order=(), rho=RHO, program=speed.pinned(speed.lehr)
        ),
        "2 threads": lambda r, p: speed.lda.run_lehr(row, "k100", "2 threads", r, p, whole, 100, threads=2, order=(), rho=RHO),
    }
    rows = alternate(sides, speed.args.rounds)
    for side in sides:
        share = median_of(rows[side], lambda r: r["detail"]["parts"]["update"] / r["seconds"])
        micro = median_of(rows[side], lambda r: 1e6 * r["detail"]["parts"]["update"] / r["documents"])
        what = f"K = 100, {side}: update's share of a step ({micro:.2f} us a document)"
        speed.verdicts.at_most(row, what, 100 * share, 100 * UPDATE_SHARE, "{:.1f} %")


def lda_learned(speed):
    """An epoch with the priors that are learned by default, and with fixed ones."""
    row = "lda-learned"
    _, whole = speed.corpora()
    programs = {"lehr": speed.lehr} | ({"old": speed.old} if speed.old else {})

    def run(program, priors, side, round_, place):
        out = run_directory(f"learned-{side}")
        got = measure([
            programs[program], "fit", "lda", whole.path, "-k", 100, "--priors", priors, "--batch", lda.BATCH,
            "--steps", whole.steps, "--eval-every", lda.NEVER, "--tol", 0, "--threads", 1, "--seed", round_,
            "--quiet", "--json", "-o", out,
        ], 1)  # fmt: skip
        parts = last_json(got.stdout, side)["seconds_by_part"]
        shutil.rmtree(out)
        told = {
            "check": row, "setting": "k100", "side": side, "round": round_, "place": place, "threads": 1, "seed": round_,
            "documents": lda.BATCH * whole.steps, "seconds": sum(parts.get(name, 0.0) for name in lda.STEP_PARTS),
            "wall_seconds": got.wall, "cpu_seconds": got.cpu, "peak_rss_bytes": got.rss, "detail": {"parts": parts},
        }  # fmt: skip
        speed.raw.add(told)
        note(f"{row} round {round_} {side}: {told['cpu_seconds']:.2f} s of the processor")
        return told

    sides = {
        f"{program} {priors}": lambda r, p, program=program, priors=priors: run(program, priors, f"{program} {priors}", r, p)
        for program in programs
        for priors in ("fixed", "learned")
    }
    rows = alternate(sides, speed.args.rounds)
    speed.report.add(f"## {row}: seconds of the processor for an epoch, K = 100, one thread, with reading, start and last bound")
    cpu = lambda r: r["cpu_seconds"]
    speed.report.add(table(["program, priors", "median", "least", "greatest"], rows_of(rows, cpu, "{:.2f}".format)))
    ratio = median_of(rows["lehr learned"], cpu) / median_of(rows["lehr fixed"], cpu)
    speed.verdicts.at_most(row, "K = 100, learned / fixed priors", ratio, None, "{:.2f}")
    if speed.old:
        ratio = median_of(rows["old learned"], cpu) / median_of(rows["lehr learned"], cpu)
        speed.verdicts.at_least(row, "K = 100, learned priors, old / lehr", ratio, None, "{:.2f}")


def threads(speed):
    row, rounds = "threads", speed.args.rounds
    _, whole = speed.corpora()
    sides = {
        n: lambda r, p, n=n: speed.lda.run_lehr(row, "lda k100", f"{n} threads", r, p, whole, 100, threads=n, order=(), rho=RHO)
        for n in (1, 2)
    }
    rows = alternate(sides, rounds)
    gain = median_of(rows[2], rate) / median_of(rows[1], rate)
    speed.verdicts.at_least(row, "LDA, K = 100, 2 threads / 1", gain, TWO_THREADS)
    ratings = speed.ratings("ml-1m")
    for d, sweeps in speed.sizes.sweeps.items():
        benches = {n: speed.pmf_bench(n, speed.lehr) for n in (1, 2)}
        sides = {
            n: lambda r, p, n=n, d=d, sweeps=sweeps: benches[n].run_lehr(row, f"{n} threads", ratings, d, r, p, sweeps)
            for n in (1, 2)
        }
        rows = alternate(sides, rounds)
        gain = median_of(rows[1], sweep) / median_of(rows[2], sweep)
        speed.verdicts.at_least(row, f"PMF, d = {d}, 2 threads / 1", gain, TWO_THREADS)


def lda_batch(speed):
    """An epoch at each batch size, all from the topics of one earlier run: vague topics would take longer."""
    row = "lda-batch"
    _, whole = speed.corpora()
    topics = run_directory("topics")
    command = [
        speed.lehr, "fit", "lda", whole.path, "-k", 100, "--priors", "fixed", "--batch", lda.BATCH,
        "--steps", 2 * whole.steps, "--step-size", "power:{}:{}".format(*RHO), "--tol", 0, "--eval-every", 0,
        "--threads", speed.args.threads, "--quiet", "-o", topics,
    ]  # fmt: skip
    measure(command, speed.args.threads)
    sides = {
        size: lambda r, p, size=size: speed.lda.run_lehr(
            row, f"batch {size}", "lehr", r, p, whole, 100, batch=size, steps=max(1, whole.facts["documents"] // size),
            order=(), rho=RHO, extra=("--seed-topics", topics),
        )  # fmt: skip
        for size in speed.sizes.batches
    }
    rows = alternate(sides, speed.args.rounds)
    shutil.rmtree(topics)
    speed.report.add(f"## {row}: documents per second by batch size, K = 100, {speed.args.threads} threads, from fitted topics")
    lines = [
        [f"{size:,}", *spread([rate(r) for r in runs], per_second), f"{median_of(runs, lambda r: r['detail']['iterations']):.1f}"]
        for size, runs in rows.items()
    ]
    speed.report.add(table(["batch", "median", "least", "greatest", "iterations a document"], lines))
    base = median_of(rows[1_000], rate)
    for size in rows:
        if size != 1_000:
            ratio = median_of(rows[size], rate) / base
            speed.verdicts.at_least(row, f"batch {size:,} / batch 1,000", ratio, BATCHES.get(size), "{:.2f}")


def lda_topics(speed):
    row, sizes = "lda-topics", speed.sizes
    _, whole = speed.corpora()
    programs = {"old": speed.old, "lehr": speed.lehr} if speed.old else {"lehr": speed.lehr}
    lines = []
    for k in sizes.topics:
        sides = {
            side: lambda r, p, side=side, k=k: speed.lda.run_lehr(
                row, f"k{k}", side, r, p, whole, k, steps=sizes.topic_steps, order=(), rho=RHO, program=programs[side]
            )
            for side in programs
        }
        rows = alternate(sides, speed.args.rounds)
        lines += [[f"{k:,}", *line] for line in rows_of(rows, rate, per_second)]
        if speed.old:
            ratio = median_of(rows["lehr"], rate) / median_of(rows["old"], rate)
            speed.verdicts.at_least(row, f"K = {k:,}, lehr / old", ratio, TOPICS.get(k))
    speed.report.add(f"## {row}: documents per second by number of topics, {speed.args.threads} threads, {sizes.topic_steps} steps")
    speed.report.add(table(["K", "program", "median", "least", "greatest"], lines))
    if not speed.old:
        speed.left_out(row, "ratios: no --old")


def lda_warm(speed):
    """Three epochs, the first always cold; the bound is looked at after each, of one document, for the time it is."""
    row = "lda-warm"
    _, whole = speed.corpora()
    epoch = whole.steps
    flags = {"cold": (), "warm": ("--warm", "--warm-after", 1)}
    sides = {
        side: lambda r, p, side=side: speed.lda.run_lehr(
            row, "k100", side, r, p, whole, 100, steps=3 * epoch, order=(), rho=RHO, score=True, every=epoch,
            extra=("--bound-sample", 1, *flags[side]),
        )  # fmt: skip
        for side in flags
    }
    rows = alternate(sides, speed.args.rounds)

    def epoch_seconds(n):
        return lambda r: r["detail"]["trace"][n * epoch] - r["detail"]["trace"][(n - 1) * epoch]

    mean, error = difference(rows["cold"], rows["warm"])
    for n in (2, 3):
        gain = median_of(rows["cold"], epoch_seconds(n)) / median_of(rows["warm"], epoch_seconds(n))
        speed.verdicts.at_least(row, f"K = 100, epoch {n}, warm / cold", gain, WARM)
    what = f"completion after 3 epochs, warm - cold (s.e. {error:.4f})"
    speed.verdicts.add(row, what, f"{mean:+.4f}", f">= {-EQUAL:+.4f}", mean >= -EQUAL)


# --- Ratings ---------------------------------------------------------------------


def pmf_peers(speed):
    row, ratings = "pmf-peers", speed.ratings("ml-1m")
    for d in speed.sizes.pmf.dims:
        sides = {
            "cmfrec float64": lambda r, p, d=d: speed.pmf.cmfrec_sweep("float64", ratings, d, r, p),
            "lehr": lambda r, p, d=d: speed.pmf.speed_lehr("lehr", ratings, d, r, p),
        }
        rows = alternate(sides, speed.args.rounds)
        speed.report.add(f"## {row}: seconds per sweep, {ratings.setting(d)}, {speed.args.threads} threads")
        speed.report.add(
            table(["program", "median", "least", "greatest"], rows_of(rows, lambda r: r["seconds_per_sweep"], number))
        )
        ratio = median_of(rows["cmfrec float64"], lambda r: r["seconds_per_sweep"])
        ratio /= median_of(rows["lehr"], lambda r: r["seconds_per_sweep"])
        speed.verdicts.at_least(row, f"d = {d}, lehr / cmfrec float64", ratio, PMF_PEERS, "{:.1f}x")


def pmf_yardstick(speed):
    """Equal features, one thread; the yardstick's time is its best sweep at its best width, so lehr's is the best run's."""
    row = "pmf-yardstick"
    if not speed.yardstick():
        speed.left_out(row, "no --yardstick")
        return
    ratings = speed.ratings("ml-1m")
    bench = speed.pmf_bench(1, speed.pinned(speed.lehr))

    def yardstick(d):
        def run(round_, place):
            # Sweeps at each of its widths, of which there are more at d = 50.
            got, told = speed.run_yardstick(row, ratings.setting(d), "yardstick", round_, place, "pmf", d, 6 if d >= 50 else 20)
            found = [float(value) / 1e3 for value in re.findall(r": ([\d.]+) ms/sweep", got.stdout)]
            if not found:
                raise Failure(f"no times in what the yardstick printed: {got.stdout}")
            told |= {"d": d, "seconds_per_sweep": min(found)}
            speed.raw.add(told)
            note(f"{row} d{d} round {round_} yardstick: {number(min(found))} s/sweep")
            return told

        return run

    for d, sweeps in speed.sizes.sweeps.items():
        sides = {
            "yardstick": yardstick(d),
            "lehr": lambda r, p, d=d, sweeps=sweeps: bench.run_lehr(
                row, "lehr", ratings, d, r, p, sweeps, extra=(*PLAIN_PMF, "--eval-every", pmf.NEVER)
            ),
        }
        rows = alternate(sides, speed.args.rounds)
        theirs, ours = min(r["seconds_per_sweep"] for r in rows["yardstick"]), min(map(sweep, rows["lehr"]))
        what = f"d = {d}, no biases, gauge or learning, 1 thread, lehr / yardstick ({number(1e3 * ours)} ms)"
        speed.verdicts.at_least(row, what, theirs / ours, PMF_YARDSTICK)


def pmf_predict(speed):
    row, ratings, n = "pmf-predict", speed.ratings("ml-1m"), speed.sizes.pairs
    sides = {
        side: lambda r, p, side=side: speed.python_job(row, side, r, p, "pairs", file=str(ratings.npz), d=10, pairs=n)
        for side in ("cmfrec", "lehr")
    }
    rows = alternate(sides, speed.args.rounds)
    theirs = statistics.median(answer["mean"] for answer in rows["cmfrec"])
    for name, target in (("mean", PREDICT_MEAN), ("std", PREDICT_STD)):
        ours = statistics.median(answer[name] for answer in rows["lehr"])
        what = "mean and standard deviation" if name == "std" else "mean"
        what = f"{n:,} pairs, d = 10, {what} (cmfrec's mean: {theirs:.3f} s)"
        speed.verdicts.at_most(row, what, ours, target, "{:.3f} s")


# --- Mixtures and small things -----------------------------------------------------


def mixture_peers(speed):
    row = "mixture-peers"
    benches = {"scikit-learn": mixture.Bench(speed.args, speed.lehr, speed.raw)}
    if speed.old:
        benches["old"] = mixture.Bench(speed.args, speed.old, speed.raw)
    benches["lehr"] = benches["scikit-learn"]
    results = []
    for setting in speed.sizes.mixtures:
        sides = {
            side: lambda r, p, side=side, s=setting: benches[side].run(row, s, side, r, p) for side in benches
        }  # fmt: skip
        rows = alternate(sides, speed.args.rounds)
        results.append((setting, rows))
        median = {side: statistics.median(mixture.seconds_of(runs)) for side, runs in rows.items()}
        speed.verdicts.at_least(
            row, f"{setting.name}, lehr / scikit-learn", median["scikit-learn"] / median["lehr"], setting.target, "{:.1f}x"
        )
        if speed.old:
            speed.verdicts.at_least(row, f"{setting.name}, lehr / old", median["old"] / median["lehr"], NOT_SLOWER)
    mixture.report_speed(speed.report, results, speed.args.threads, speed.args.rounds)
    if not speed.old:
        speed.left_out(row, "ratios to old: no --old")


def small(speed):
    row = "small"
    sides = {
        side: lambda r, p, side=side: speed.python_job(row, side, r, p, "one-row", d=4, k=5, times=speed.sizes.calls)
        for side in ("scikit-learn", "lehr")
    }
    rows = alternate(sides, speed.args.rounds)
    theirs, ours = (statistics.median(answer["seconds"] for answer in rows[side]) for side in sides)
    what = f"predict of one row, d = 4, K = 5 (scikit-learn's: {1e3 * theirs:.3f} ms)"
    speed.verdicts.at_most(row, what, 1e3 * ours, 1e3 * ONE_ROW, "{:.3f} ms")


def memory(speed):
    """Peaks that README.md or a target names; mixture-peers has those of mixtures."""
    row = "memory"
    ratings = speed.ratings("netflix-10m")
    for d in reversed(speed.sizes.pmf.dims):
        sides = {"lehr": lambda r, p, d=d: speed.pmf.run_lehr(row, "lehr", ratings, d, r, p, 3)}
        rows = alternate(sides, speed.sizes.memory_rounds)["lehr"]
        allowed = PMF_MEMORY.get(d, PMF_MEMORY[50])
        most = max(r["peak_rss_bytes"] for r in rows)
        speed.verdicts.at_most(row, f"PMF, {ratings.setting(d)}", most / 1e6, allowed / 1e6, "{:,.0f} MB")
    _, whole = speed.corpora()
    corpus, _ = lda.converted(speed.lehr, whole, 1)
    sides = {
        "lehr": lambda r, p: speed.lda.run_lehr(
            row, "k100", "lehr", r, p, corpus, 100, steps=speed.sizes.lda.memory_steps, order=()
        )
    }
    rows = alternate(sides, speed.sizes.memory_rounds)["lehr"]
    allowed = corpus.words * 100 * 8 + lda.MEMORY_ALLOWANCE
    most = max(r["peak_rss_bytes"] for r in rows)
    speed.verdicts.at_most(row, "LDA, K = 100, converted corpus", most / 1e6, allowed / 1e6, "{:,.0f} MB")


ROWS = {
    "lda-yardstick": lda_yardstick,
    "lda-peers": lda_peers,
    "lda-update": lda_update,
    "lda-learned": lda_learned,
    "threads": threads,
    "lda-batch": lda_batch,
    "lda-topics": lda_topics,
    "lda-warm": lda_warm,
    "pmf-peers": pmf_peers,
    "pmf-yardstick": pmf_yardstick,
    "pmf-predict": pmf_predict,
    "mixture-peers": mixture_peers,
    "small": small,
    "memory": memory,
}


# --- Command line ------------------------------------------------------------------


def parse(argv):
    parser = common_parser(__doc__.splitlines()[0], list(ROWS), "runs of each program (5; 1 with --quick)")
    parser.add_argument(
        "--data", metavar="DIR", default=ROOT.parent / "shared" / "data",
        help=f"where {lda.CORPUS}, ml-1m and netflix-10m are; synthetic data where they are not",
    )  # fmt: skip
    parser.add_argument("--old", metavar="PATH", help="an older build of lehr to compare with")
    parser.add_argument("--yardstick", metavar="DIR", help="a cargo project of throw-away kernels, with prep.py")
    parser.add_argument("--python", metavar="PATH", help="an interpreter with the peers and lehr, for the rows of Python")
    parser.add_argument("--quick", action="store_true", help="little data, to try the script; not for quoting")
    args = parser.parse_args(argv)
    args.rounds = args.rounds or (1 if args.quick else 5)
    args.peers = ["scikit-learn", "gensim"]
    return args


def run(args):
    sizes = Sizes(args.quick)
    lehr, _ = set_up(args, args.quick, with_peak=False)
    if args.old and not Path(args.old).is_file():
        raise Failure(f"--old {args.old}: there is no such program")
    if lehr is None:
        raise Failure("speed.py compares lehr with others; lda.py, pmf.py and mixture.py run the peers alone")
    workers = (lda.WORKER, pmf.WORKER)
    extra = []
    if args.old:
        digest = hashlib.sha256(Path(args.old).read_bytes()).hexdigest()
        extra = [f"old: {output_of([args.old, '--version'])}, SHA-256 {digest}"]
    output = Output(args, workers, COLUMNS, lehr, None, "speed", args.quick, extra)
    speed = Speed(args, lehr, sizes, output)
    minutes = []
    try:
        for name in args.only or ROWS:
            begin = time.perf_counter()
            ROWS[name](speed)
            minutes.append([name, f"{(time.perf_counter() - begin) / 60:.1f}"])
    finally:
        # Also of a run that was broken off.
        if speed.verdicts.rows:
            speed.report.add(f"## The table\n\n{cpu_facts()[0]}, {args.threads} threads unless said, {args.rounds} rounds.")
            speed.report.add(table(["row", "what", "measured", "target", "verdict"], speed.verdicts.rows))
            speed.report.add("Minutes a row took, with the data that it was the first to need:")
            speed.report.add(table(["row", "minutes"], minutes))
    output.close()


if __name__ == "__main__":
    sys.exit(guarded(run, parse(None)))
