#!/usr/bin/env python3
"""Matrix factorisation (PMF) on ratings: lehr against cmfrec and libmf.

    python3 benchsuite/pmf.py --data DIR

Seconds per sweep and held-out RMSE against cmfrec's exact ALS, RMSE against
seconds next to libmf's SGD, and for lehr alone what biases, noise and the bound
cost and how much memory ten million ratings take. DIR holds
ml-1m/ratings.dat.gz and netflix-10m/ratings.dat.gz; where a file is absent, a
made set of its size stands in. Needs python3, cargo, a C++ compiler and, the
first time, a network. Every single run goes to
benchsuite/runs/<date>-<cpu>-pmf/raw.csv, next to the printed tables and a
description of the machine. See benchsuite/README.md.

This file uses the standard library only, for the reason harness.py gives.
"""

import csv
import json
import shutil
import statistics
import sys
from pathlib import Path

from harness import (
    HERE, ROOT, WORK, Failure, Output, alternate, common_parser, guarded, last_json, measure, megabytes, note, number,
    read_parts, read_trace, report_parts, run_directory, set_up, show, spread, table, venv_python,
)  # fmt: skip

WORKER = HERE / "pmf_worker.py"
SETS = ("ml-1m", "netflix-10m")
TEST_SHARE = 0.1
SEED = 20240611
NEVER = 1_000_000_000

# cmfrec's ridge is the test set's own favourite: the grid errs in its favour.
RIDGES = {"plain": (5, 10, 20, 35, 60, 100), "scaled": (0.03, 0.05, 0.08, 0.12, 0.16)}
# libmf: its authors' default rate, and ridges around their default.
LIBMF_RIDGES, LIBMF_RATE = (0.03, 0.05, 0.1), 0.1

# What lehr is timed with: its flags, and whether the bound is evaluated after every sweep or but twice.
VARIANTS = {
    "lehr": ((), False),
    "lehr, no biases or gauge": (("--no-biases", "--no-gauge"), False),
    # The paper's noise, which ends by itself; and the same M in every sweep, where the guard has much to do.
    "lehr, noise 50t": (("--effective", "50t", "--noise-end", 1), False),
    "lehr, noise 50": (("--effective", 50, "--noise-end", 1), False),
    "lehr, bound every sweep": ((), True),
}

CHECKS = ["speed", "rmse", "curve", "memory"]
COLUMNS = [
    "check", "setting", "side", "round", "place", "ratings", "d", "threads", "seed", "sweeps", "seconds_per_sweep",
    "seconds", "rmse", "wall_seconds", "cpu_seconds", "peak_rss_bytes", "detail",
]  # fmt: skip


class Sizes:
    def __init__(self, quick):
        self.limit = 30_000 if quick else 0
        self.dims = (4, 6) if quick else (10, 50)
        # Sweeps of the short and the long fit of cmfrec, by set and d.
        self.cmfrec = {("ml-1m", 10): (2, 12), ("ml-1m", 50): (1, 5), ("netflix-10m", 10): (1, 5)}
        # The first half of lehr's sweeps is left out of the mean: pages are touched, caches filled.
        self.first, self.steps = (4, 8) if quick else (8, 16)
        self.als_sweeps = 3 if quick else 15
        self.lehr_steps = 5 if quick else 60
        self.curve_lehr = (2, 4) if quick else (2, 4, 6, 8, 12, 16, 24, 32, 48, 64)
        self.curve_libmf = (2, 4) if quick else (1, 2, 4, 8, 12, 16, 24, 32, 48, 64, 96, 128)

    def sweeps(self, name, d):
        return self.cmfrec.get((name, d), (1, 3))

    def lehr_sweeps(self, name, d):
        """The sweeps that are left out, and all; fewer where one takes seconds."""
        return (self.first, 12 if self.is_slow(name, d) else self.steps)

    def is_slow(self, name, d):
        return name == "netflix-10m" and d == 50


class Ratings:
    """One set, split: the .npz of the peers and the .dat files of lehr."""

    def __init__(self, name, facts):
        self.name, self.facts = name, facts
        self.npz, self.train, self.test = (WORK / f"{name}.{end}" for end in ("npz", "train.dat", "test.dat"))

    def setting(self, d):
        return f"{self.name} d{d}"


# --- lehr's side: all that depends on its flags and output ---------------------


def fit_command(lehr, ratings, d, steps, threads, seed, out, extra):
    return [
        lehr, "fit", "pmf", ratings.train, "-d", d, "--steps", steps, "--tol", 0, "--threads", threads,
        "--seed", seed, "--quiet", "-o", out, *extra,
    ]  # fmt: skip


def fit_seconds(out, command, first, last):
    """Seconds from the end of sweep `first` (0: from the start of the fit) to the end of sweep `last`, as traced."""
    times = {**read_trace(out / "trace.jsonl", command), 0: 0.0}
    if first in times and last in times:
        return times[last] - times[first]
    raise Failure(f"lehr traced the sweeps {sorted(times)}, not {first} and {last}: {show(command)}")


def read_rmse(text):
    """Held-out RMSE from what `lehr eval RUN test.dat --json` prints."""
    answer = last_json(text, "lehr eval")
    try:
        return float(answer["rmse"])
    except (KeyError, TypeError, ValueError) as error:
        raise Failure(f"no rmse in {text}") from error


def reading_seconds(out, got):
    """Seconds that reading took: `seconds_reading` of result.json, else all that is not a part of the fit."""
    try:
        result = json.loads((out / "result.json").read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise Failure(f"cannot read {out.name}/result.json: {error}") from error
    for name in ("seconds_reading", "seconds_before_first_step"):
        if result.get(name) is not None:
            return float(result[name])
    return got.wall - sum(read_parts(out / "result.json").values())


# --- One run -----------------------------------------------------------------


class Bench:
    def __init__(self, args, sizes, lehr, raw):
        self.args, self.sizes, self.lehr, self.raw = args, sizes, lehr, raw
        self.runs = 0

    def record(self, check, side, round_, place, ratings, d, got, **values):
        row = {
            "check": check,
            "setting": ratings.setting(d),
            "side": side,
            "round": round_,
            "place": place,
            "ratings": ratings.facts["train"],
            "d": d,
            "threads": self.args.threads,
            "seed": round_,
            "wall_seconds": got.wall,
            "cpu_seconds": got.cpu,
            "peak_rss_bytes": got.rss,
            **{name: "" for name in ("sweeps", "seconds_per_sweep", "seconds", "rmse")},
            **values,
        }
        self.raw.add(row)
        shown = {"seconds_per_sweep": "{:.4g} s/sweep", "seconds": "{:.4g} s", "rmse": "RMSE {:.5f}"}
        told = [form.format(row[name]) for name, form in shown.items() if row[name] != ""]
        note(f"{check} {row['setting']} round {round_} {side}: {', '.join(told)}, {megabytes(got.rss)} MB")
        return row

    def worker(self, *job):
        got = measure([venv_python(), "-W", "ignore", WORKER, *job], self.args.threads)
        return got, last_json(got.stdout, job[0])

    def cmfrec_sweep(self, kind, ratings, d, round_, place):
        few, many = self.sizes.sweeps(ratings.name, d)
        got, answer = self.worker("cmfrec", kind, ratings.npz, d, self.args.threads, round_, few, many)
        return self.record(
            "speed", f"cmfrec {kind}", round_, place, ratings, d, got, sweeps=many - few,
            seconds_per_sweep=answer["seconds_per_sweep"], detail=answer,
        )  # fmt: skip

    def cmfrec_rmse(self, ratings, d, scaled, ridge, sweeps):
        got, answer = self.worker(
            "cmfrec-rmse", "float64", ratings.npz, d, self.args.threads, 1, ridge, scaled, sweeps
        )
        detail = {"ridge": ridge, "scaled": scaled == "scaled"}
        return self.record("rmse", "cmfrec", 1, 1, ratings, d, got, sweeps=sweeps, detail=detail, **answer)

    def libmf(self, ratings, d, ridge, sweeps, round_, place):
        got, answer = self.worker("libmf", ratings.npz, d, self.args.threads, ridge, LIBMF_RATE, sweeps)
        detail = {"ridge": ridge, "rate": LIBMF_RATE}
        side = f"libmf, ridge {ridge}"
        return self.record("curve", side, round_, place, ratings, d, got, sweeps=sweeps, detail=detail, **answer)

    def fit_lehr(self, ratings, d, seed, steps, extra):
        self.runs += 1
        out = run_directory(self.runs)
        command = fit_command(self.lehr, ratings, d, steps, self.args.threads, seed, out, extra)
        return out, command, measure(command, self.args.threads)

    def speed_lehr(self, side, ratings, d, round_, place):
        """Seconds per sweep from the trace; and, by the wall clock, from a fit of half as many sweeps."""
        extra, every = VARIANTS[side]
        first, steps = self.sizes.lehr_sweeps(ratings.name, d)
        extra = (*extra, "--eval-every", 1 if every else steps - first)
        half, _, short = self.fit_lehr(ratings, d, round_, first, extra)
        shutil.rmtree(half)
        return self.run_lehr("speed", side, ratings, d, round_, place, steps, first, extra, short=short)

    def run_lehr(
        self, check, side, ratings, d, round_, place, steps,
        first=0, extra=("--eval-every", NEVER), score=False, short=None,
    ):  # fmt: skip
        """One fit; seconds from the end of sweep `first` on, and RMSE if asked for."""
        out, command, got = self.fit_lehr(ratings, d, round_, steps, extra)
        seconds = fit_seconds(out, command, first, steps)
        values = {"sweeps": steps - first, "seconds": seconds, "seconds_per_sweep": seconds / (steps - first)}
        detail = {"parts": read_parts(out / "result.json"), "reading": reading_seconds(out, got)}
        if short:
            detail["wall_per_sweep"] = (got.wall - short.wall) / (steps - first)
        if score:
            evaluated = measure([self.lehr, "eval", out, ratings.test, "--json"], self.args.threads)
            values["rmse"] = read_rmse(evaluated.stdout)
        if not self.args.keep:
            shutil.rmtree(out)
        return self.record(check, side, round_, place, ratings, d, got, detail=detail, **values)


# --- Preparing ---------------------------------------------------------------


def prepare(args, sizes, names):
    """The sets by name, and a line about each."""
    sets, origins = {}, []
    for name in names:
        path = Path(args.data).resolve() / name / "ratings.dat.gz"
        source = path if path.exists() else "made"
        note(f"ratings: {name}{'' if path.exists() else ', made'}")
        command = [venv_python(), WORKER, "prepare", source, name, WORK, TEST_SHARE, SEED, sizes.limit]
        facts = last_json(measure(command, 1).stdout, "the preparation")
        sets[name] = Ratings(name, facts)
        what = f"MADE, in the size of {name}, because there is no such file" if facts["made"] else name
        origins.append(
            f"{what}: {facts['train']:,} ratings to train on, {facts['test']:,} to test ({facts['cold']} more are of "
            f"users or items without training ratings and left out), {facts['users']:,} users, {facts['items']:,} "
            f"items; the training mean alone has RMSE {facts['rmse_of_the_mean']:.4f}"
        )
    return sets, origins


# --- Checks and tables ---------------------------------------------------------


def sweep_seconds(rows):
    return [row["seconds_per_sweep"] for row in rows]


def score(value):
    return f"{value:.5f}"


def check_speed(bench, report, sets):
    args, sizes = bench.args, bench.sizes
    results = []
    for ratings in sets.values():
        for d in sizes.dims:
            sides = {}
            for kind in ("float64", "float32"):
                sides[f"cmfrec {kind}"] = lambda r, p, kind=kind, x=ratings, d=d: bench.cmfrec_sweep(kind, x, d, r, p)
            if bench.lehr:
                slow = sizes.is_slow(ratings.name, d)
                for side in list(VARIANTS)[: 1 if slow else None]:
                    sides[side] = lambda r, p, side=side, x=ratings, d=d: bench.speed_lehr(side, x, d, r, p)
            results.append((ratings.setting(d), alternate(sides, args.rounds)))
    report.add(
        f"## Seconds per sweep, {args.threads} threads, {args.rounds} rounds\n\n"
        "A sweep updates all users and all items. cmfrec: ALS with Cholesky, its default biases and centring, the\n"
        "time of a long fit less that of a short one. lehr: from its trace, the sweeps after the "
        f"{sizes.first}th,\n"
        "with one evaluation of the bound among them unless it says every sweep; next to it the same from the wall\n"
        "clock, as for cmfrec. Median, least, greatest and all values; the ratio is that of the medians."
    )
    rows, ratios = [], []
    for setting, sides in results:
        for side, runs in sides.items():
            seconds = sweep_seconds(runs)
            walls = [run["detail"]["wall_per_sweep"] for run in runs if "wall_per_sweep" in run["detail"]]
            wall = number(statistics.median(walls)) if walls else ""
            rows.append([setting, side, *spread(seconds), wall, " ".join(map(number, seconds))])
        if "lehr" in sides:
            ours = statistics.median(sweep_seconds(sides["lehr"]))
            for side in sides:
                if side != "lehr":
                    ratios.append([setting, side, f"{statistics.median(sweep_seconds(sides[side])) / ours:.2f}"])
    report.add(table(["setting", "program", "median s", "least s", "greatest s", "by the wall", "all"], rows))
    if ratios:
        report.add(table(["setting", "program", "time against lehr's"], ratios))
    named = [(setting, sides["lehr"]) for setting, sides in results if "lehr" in sides]
    report_parts(report, "Where the time goes", named)


def check_rmse(bench, report, sets):
    sizes = bench.sizes
    d = sizes.dims[-1]
    report.add(
        f"## Held-out RMSE, d = {d}\n\n"
        f"cmfrec over a grid of ridges, {sizes.als_sweeps} sweeps each, the best chosen ON THE TEST SET, in its\n"
        "favour (where only a few are listed: the best ones of MovieLens 1M); lehr with its\n"
        f"defaults, {sizes.lehr_steps} sweeps, once. `scaled` is cmfrec's `scale_lam`: the ridge times the number\n"
        "of ratings."
    )
    rows, best_rows = [], []
    choices = bench.args.ridges or [
        (how, r) for how, ridges in RIDGES.items() for r in (ridges[1:2] if sizes.limit else ridges)
    ]
    for ratings in sets.values():
        grid = [bench.cmfrec_rmse(ratings, d, how, ridge, sizes.als_sweeps) for how, ridge in choices]
        # The next set is ten times as large: the best of this grid only.
        grid.sort(key=lambda row: row["rmse"])
        choices = [("scaled" if r["detail"]["scaled"] else "plain", r["detail"]["ridge"]) for r in grid[:3]]
        for row in grid:
            how, ridge = "scaled" if row["detail"]["scaled"] else "plain", f"{row['detail']['ridge']:g}"
            rows.append([row["setting"], how, ridge, row["sweeps"], score(row["rmse"]), number(row["seconds"])])
        best = min(grid, key=lambda row: row["rmse"])
        best_rows.append([best["setting"], "cmfrec, best of the grid", score(best["rmse"])])
        if bench.lehr:
            ours = bench.run_lehr("rmse", "lehr", ratings, d, 1, 1, sizes.lehr_steps, score=True)
            best_rows.append([ours["setting"], "lehr", score(ours["rmse"])])
    report.add(table(["setting", "ridge is", "ridge", "sweeps", "RMSE", "seconds"], rows))
    report.add(table(["setting", "program", "RMSE"], best_rows))


def check_curve(bench, report, sets, directory):
    sizes, ratings = bench.sizes, sets["ml-1m"]
    curves = {}
    for d in sizes.dims:
        sides = {
            f"libmf, ridge {ridge}": lambda n, r, p, ridge=ridge, d=d: bench.libmf(ratings, d, ridge, n, r, p)
            for ridge in LIBMF_RIDGES
        }
        counts = {side: sizes.curve_libmf for side in sides}
        if bench.lehr:
            sides["lehr"] = lambda n, r, p, d=d: bench.run_lehr("curve", "lehr", ratings, d, r, p, n, score=True)
            counts["lehr"] = sizes.curve_lehr
        for place in range(max(map(len, counts.values()))):
            for side, run in sides.items():
                if place < len(counts[side]):
                    curves.setdefault((d, side), []).append(run(counts[side][place], 1, place + 1))
    path = directory / "curve.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["d", "program", "sweeps", "seconds", "rmse"])
        for (d, side), rows in curves.items():
            writer.writerows([d, side, row["sweeps"], row["seconds"], row["rmse"]] for row in rows)
    bench.worker("plot", path, path.with_suffix(".png"))
    report.add(
        f"## Held-out RMSE against seconds, ml-1m\n\n![{path.stem}]({path.stem}.png)\n\n"
        f"Every point is its own fit (`{path.name}`); seconds are the\n"
        f"fit's, without reading. libmf: SGD, rate {LIBMF_RATE}, no biases. A dash: not reached."
    )
    for d in sizes.dims:
        mine = {side: rows for (of, side), rows in curves.items() if of == d}
        lowest = min(row["rmse"] for rows in mine.values() for row in rows)
        targets = [round(lowest + step, 3) for step in (0.05, 0.03, 0.02, 0.01, 0.005, 0.002, 0.0005)]
        rows = []
        for side, points in mine.items():
            cells = []
            for target in targets:
                reached = [row["seconds"] for row in points if row["rmse"] <= target]
                cells.append(number(min(reached)) if reached else "-")
            rows.append([side, *cells, score(min(row["rmse"] for row in points))])
        report.add(f"d = {d}: seconds to reach an RMSE of")
        report.add(table(["program", *(f"{target:.3f}" for target in targets), "best"], rows))


def check_memory(bench, report, sets):
    ratings, d = sets["netflix-10m"], bench.sizes.dims[0]
    sides = {"lehr": lambda r, p: bench.run_lehr("memory", "lehr", ratings, d, r, p, 5)}
    rows = alternate(sides, bench.args.rounds)["lehr"]
    rss = [row["peak_rss_bytes"] for row in rows]
    report.add(
        f"## Peak memory and reading\n\nlehr, {ratings.setting(d)}, {ratings.facts['train']:,} ratings from a text of "
        f"{megabytes(ratings.train.stat().st_size)} MB: greatest resident set {megabytes(max(rss))} MB of 10^6 bytes,\n"
        f"{max(rss) / ratings.facts['train']:.1f} bytes a rating."
    )
    reading = [row["detail"]["reading"] for row in rows]
    report.add(table(["", "median s", "least s", "greatest s"], [["reading", *spread(reading)]]))


# --- Command line ------------------------------------------------------------


def ridge(text):
    how, _, value = text.partition(":")
    if how not in RIDGES:
        raise ValueError(how)
    return how, float(value)


def parse(argv):
    parser = common_parser(
        "Matrix factorisation on ratings: lehr against cmfrec and libmf.", CHECKS,
        "runs of each program (5; 1 with --quick)",
    )  # fmt: skip
    parser.add_argument(
        "--data", metavar="DIR", default=ROOT.parent / "shared" / "data",
        help="where ml-1m/ratings.dat.gz and netflix-10m/ratings.dat.gz are; a made set where one is not",
    )  # fmt: skip
    parser.add_argument(
        "--set", metavar="NAME", action="append", dest="sets", choices=SETS, help="this set only; repeatable"
    )
    parser.add_argument(
        "--ridge", metavar="HOW:VALUE", action="append", dest="ridges", type=ridge,
        help="this ridge of cmfrec only, such as plain:35 or scaled:0.08; repeatable",
    )  # fmt: skip
    parser.add_argument("--quick", action="store_true", help="few ratings, to try the script; not for quoting")
    args = parser.parse_args(argv)
    args.rounds = args.rounds or (1 if args.quick else 5)
    return args


def run(args):
    sizes = Sizes(args.quick)
    wanted = args.only or CHECKS
    # The curve is of the small set, the memory of the large one.
    needed = {"curve": "ml-1m", "memory": "netflix-10m"}
    chosen = args.sets or SETS
    wanted = [check for check in wanted if needed.get(check, chosen[0]) in chosen]
    names = [n for n in chosen if any(needed.get(check, n) == n for check in wanted)]
    lehr, peak = set_up(args, args.quick)
    sets, origins = prepare(args, sizes, names)
    output = Output(args, WORKER, COLUMNS, lehr, peak, "pmf", args.quick, [f"ratings: {line}" for line in origins])
    bench, report = Bench(args, sizes, lehr, output.raw), output.report
    report.add("\n".join(f"- {line}" for line in origins))

    if "speed" in wanted:
        check_speed(bench, report, sets)
    if "rmse" in wanted:
        check_rmse(bench, report, sets)
    if "curve" in wanted:
        check_curve(bench, report, sets, output.path)
    if lehr and "memory" in wanted:
        check_memory(bench, report, sets)
    output.close()


if __name__ == "__main__":
    sys.exit(guarded(run, parse(None)))
