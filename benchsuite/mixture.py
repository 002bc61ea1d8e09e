#!/usr/bin/env python3
"""Seconds per sweep of a Gaussian mixture: lehr against scikit-learn.

    python3 benchsuite/mixture.py

Needs python3, cargo and, the first time, a network: the script makes its own
environment in benchsuite/.venv and builds lehr. The two programs run
alternately, each run in its own process, with the same number of threads.
Every single run goes to benchsuite/runs/<date>-<cpu>/raw.csv, next to the
printed tables and a description of the machine. See benchsuite/README.md.

This file uses the standard library only, for the reason harness.py gives.
"""

import argparse
import math
import os
import shutil
import statistics
import sys

from harness import (
    HERE, WORK, Failure, Output, alternate, common_parser, guarded, last_json, measure, megabytes, note, number,
    read_parts, read_trace, report_parts, run_directory, set_up, show, spread, table, venv_python, verdict,
)  # fmt: skip

WORKER = HERE / "worker.py"

MEMORY_ALLOWANCE = 100_000_000
STEPS = 14
# lehr's first sweeps are left out of the mean: pages are touched, caches filled.
FIRST = 2
DATA_SEED = 20240611


class Setting:
    def __init__(self, name, n, d, k, target=None):
        self.name, self.n, self.d, self.k, self.target = name, n, d, k, target

    @property
    def data_bytes(self):
        return self.n * self.d * 8

    @property
    def flops(self):
        """Floating-point operations per sweep, see FLOPS."""
        d = self.d
        return self.n * self.k * (d * (d + 1) + 2 * d + 2 * (d * (d + 1) // 2 + d + 1))


FLOPS = "d(d+1) + 2d + 2(d(d+1)/2 + d + 1), exp counted as 0"

SETTINGS = [
    Setting("n200k-d16-k32", 200_000, 16, 32, 35.0),
    Setting("n1m-d4-k64", 1_000_000, 4, 64, 50.0),
    Setting("n50k-d64-k32", 50_000, 64, 32, 6.0),
]
LINEARITY = [Setting(f"n{n // 1000}k-d16-k32", n, 16, 32) for n in (25_000, 50_000, 100_000, 200_000, 400_000)]
NOISE = Setting("n200k-d16-k32", 200_000, 16, 32)

# The same shape of run in seconds: to try the script, not to learn anything.
TINY_SETTINGS = [
    Setting("n200k-d16-k32", 4_000, 16, 8, 35.0),
    Setting("n1m-d4-k64", 6_000, 4, 12, 50.0),
    Setting("n50k-d64-k32", 2_000, 32, 4, 6.0),
]
TINY_LINEARITY = [Setting(f"n{n // 1000}k-d16-k8", n, 16, 8) for n in (1_000, 2_000, 4_000)]
TINY_NOISE = Setting("n4k-d16-k8", 4_000, 16, 8)

CHECKS = [s.name for s in SETTINGS] + ["linearity", "noise"]


# --- Preparing ---------------------------------------------------------------


def data_file(setting):
    path = WORK / f"n{setting.n}-d{setting.d}-k{setting.k}.npy"
    if not path.exists():
        note(f"data: {path.name}")
        partial = path.with_name("partial.npy")
        measure(
            [venv_python(), WORKER, "data", partial, setting.n, setting.d, setting.k, DATA_SEED], os.cpu_count() or 1
        )
        partial.rename(path)
    return path


# --- One run -----------------------------------------------------------------


COLUMNS = [
    "check", "setting", "side", "round", "place", "n", "d", "k", "threads", "seed",
    "seconds_per_sweep", "wall_seconds", "cpu_seconds", "peak_rss_bytes", "data_bytes", "detail",
]  # fmt: skip


class Bench:
    def __init__(self, args, lehr, raw):
        self.args, self.lehr, self.raw = args, lehr, raw
        self.runs = 0

    def run(self, check, setting, side, round_, place):
        data = data_file(setting)
        seed = round_
        if side == "scikit-learn":
            got, seconds, detail = self.sklearn(setting, data, seed)
        else:
            noise = ["--effective", str(setting.n // 4), "--noise-end", "1"]
            extra = noise if side == "lehr with noise" else []
            got, seconds, detail = self.run_lehr(setting, data, seed, extra)
        row = {
            "check": check,
            "setting": setting.name,
            "side": side,
            "round": round_,
            "place": place,
            "n": setting.n,
            "d": setting.d,
            "k": setting.k,
            "threads": self.args.threads,
            "seed": seed,
            "seconds_per_sweep": seconds,
            "wall_seconds": got.wall,
            "cpu_seconds": got.cpu,
            "peak_rss_bytes": got.rss,
            "data_bytes": setting.data_bytes,
            "detail": detail,
        }
        self.raw.add(row)
        note(f"{check} {setting.name} round {round_} {side}: {seconds:.4g} s/sweep, {megabytes(got.rss)} MB")
        return row

    def sklearn(self, setting, data, seed):
        got = measure([venv_python(), WORKER, "sklearn", data, setting.k, seed], self.args.threads)
        answer = last_json(got.stdout, "the scikit-learn process")
        return got, answer["seconds_per_sweep"], {"fit_1": answer["fit_1"], "fit_4": answer["fit_4"]}

    def run_lehr(self, setting, data, seed, extra):
        self.runs += 1
        out = run_directory(self.runs)
        command = [
            self.lehr, "fit", "gmm", data, "-k", setting.k, "--steps", STEPS, "--tol", 0,
            "--threads", self.args.threads, "--seed", seed, "--quiet", "-o", out, "--start", "points", *extra,
        ]  # fmt: skip
        got = measure(command, self.args.threads)
        times = read_trace(out / "trace.jsonl", command)
        parts = read_parts(out / "result.json")
        last = max(times)
        first = FIRST if FIRST in times else min(times)
        if last - first < 3:
            raise Failure(f"lehr traced the sweeps {first} to {last} only: {show(command)}")
        seconds = (times[last] - times[first]) / (last - first)
        if not self.args.keep:
            shutil.rmtree(out)
        return got, seconds, {"first": first, "last": last, "trace": list(times.values()), "parts": parts}


def compare(bench, check, setting, sides, rounds):
    run = {side: lambda r, p, side=side: bench.run(check, setting, side, r, p) for side in sides}
    return alternate(run, rounds)


# --- Tables ------------------------------------------------------------------


def seconds_of(rows):
    return [row["seconds_per_sweep"] for row in rows]


def report_speed(report, results, threads, rounds):
    report.add(
        f"## Seconds per sweep, {threads} threads, {rounds} rounds\n\n"
        "Full covariances, float64. Median, least and greatest over the rounds; the ratio is that of the medians."
    )
    rows = []
    for setting, sides in results:
        for side, runs in sides.items():
            rows.append([setting.name, side, *spread(seconds_of(runs))])
    report.add(table(["setting", "program", "median s", "least s", "greatest s"], rows))

    rows, memory = [], []
    for setting, sides in results:
        rss = {side: max(run["peak_rss_bytes"] for run in runs) for side, runs in sides.items()}
        if "lehr" in sides and "scikit-learn" in sides:
            theirs, ours = (statistics.median(seconds_of(sides[s])) for s in ("scikit-learn", "lehr"))
            passed = theirs / ours >= setting.target
            rows.append([setting.name, f"{theirs / ours:.1f}x", f"{setting.target:g}x", verdict(passed)])
            if not passed:
                report.failed.append(f"{setting.name}: ratio")
        line = [setting.name, megabytes(setting.data_bytes)]
        line += [megabytes(rss[s]) if s in rss else "-" for s in ("scikit-learn", "lehr")]
        allowed = setting.data_bytes + MEMORY_ALLOWANCE
        line.append(megabytes(allowed))
        if "lehr" in rss:
            passed = rss["lehr"] <= allowed
            line.append(verdict(passed))
            if not passed:
                report.failed.append(f"{setting.name}: memory")
        else:
            line.append("-")
        memory.append(line)
    if rows:
        report.add(table(["setting", "ratio", "target", "verdict"], rows))
    report.add(
        "## Peak memory\n\nGreatest resident set over the rounds, in MB of 10^6 bytes; "
        "lehr is allowed the data and 100 MB."
    )
    report.add(table(["setting", "data", "scikit-learn", "lehr", "allowed", "verdict"], memory))


def report_peak(report, results, threads, peak):
    results = [(setting, sides["lehr"]) for setting, sides in results if "lehr" in sides]
    if not results:
        return
    if peak is None:
        report.add("## Share of the peak\n\nThe peak of this machine was not measured.")
        return
    report.add(
        "## Share of the peak\n\n"
        f"Operations per item and component: {FLOPS}.\n"
        f"Share = N K operations / seconds / (threads x peak), with {threads} threads and a measured peak of\n"
        f"{peak['gflops']:.2f} Gflop/s per core (f64, {peak['isa']})."
    )
    rows = []
    for setting, runs in results:
        rate = setting.flops / statistics.median(seconds_of(runs)) / 1e9
        share = rate / (threads * peak["gflops"])
        rows.append([setting.name, f"{setting.flops / 1e9:.3f}", f"{rate:.2f}", f"{100 * share:.1f}%"])
    report.add(table(["setting", "Gflop per sweep", "Gflop/s", "share of the peak"], rows))


def report_linearity(report, results):
    rows, logs = [], []
    for setting, runs in results:
        median = statistics.median(seconds_of(runs))
        logs.append((math.log(setting.n), math.log(median)))
        rows.append([f"{setting.n:,}", number(median), f"{median / setting.n * 1e9:.1f}"])
    d, k = results[0][0].d, results[0][0].k
    report.add(f"## Time against the number of items\n\nlehr, d = {d}, K = {k}; medians over the rounds.")
    report.add(table(["items", "s per sweep", "ns per sweep and item"], rows))
    if len(logs) > 1:
        mx, my = (statistics.fmean(axis) for axis in zip(*logs))
        slope = sum((x - mx) * (y - my) for x, y in logs) / sum((x - mx) ** 2 for x, _ in logs)
        report.add(f"Fitted exponent of N: {slope:.3f} (1 is linear; least squares on the logarithms).")


def report_noise(report, setting, sides):
    plain, noisy = (statistics.median(seconds_of(sides[s])) for s in ("lehr", "lehr with noise"))
    report.add(
        f"## Cost of the noise\n\n{setting.name}: whole-data sweeps with `--effective {setting.n // 4}` "
        "against plain ones, alternately."
    )
    rows = []
    for side, runs in sides.items():
        rows.append([side, *spread(seconds_of(runs))])
    report.add(table(["run", "median s", "least s", "greatest s"], rows))
    report.add(f"Ratio of the medians, with noise / without: {noisy / plain:.3f}")
    report_parts(report, "Where the time goes, with and without noise", list(sides.items()))


# --- Command line ------------------------------------------------------------


def parse(argv):
    parser = common_parser("Seconds per sweep of a Gaussian mixture: lehr against scikit-learn.", CHECKS)
    # For trying the script itself.
    parser.add_argument("--tiny", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args(argv)
    args.rounds = args.rounds or 5
    return args


def run(args):
    settings = TINY_SETTINGS if args.tiny else SETTINGS
    linearity = TINY_LINEARITY if args.tiny else LINEARITY
    noise = TINY_NOISE if args.tiny else NOISE
    wanted = args.only or CHECKS
    lehr, peak = set_up(args, args.tiny)
    output = Output(args, WORKER, COLUMNS, lehr, peak, trial=args.tiny)
    bench, report = Bench(args, lehr, output.raw), output.report

    sides = ["scikit-learn", "lehr"] if lehr else ["scikit-learn"]
    results = [(s, compare(bench, "speed", s, sides, args.rounds)) for s in settings if s.name in wanted]
    if results:
        report_speed(report, results, args.threads, args.rounds)
        report_peak(report, results, args.threads, peak)
        report_parts(report, "Where the time goes", [(s.name, by["lehr"]) for s, by in results if "lehr" in by])
    if lehr and "linearity" in wanted:
        # All sizes in every round, so that a slow minute does not bend the line.
        sizes = {s: lambda r, p, s=s: bench.run("linearity", s, "lehr", r, p) for s in linearity}
        report_linearity(report, list(alternate(sizes, args.rounds).items()))
    if lehr and "noise" in wanted:
        report_noise(report, noise, compare(bench, "noise", noise, ["lehr", "lehr with noise"], args.rounds))
    output.close()


if __name__ == "__main__":
    sys.exit(guarded(run, parse(None)))
