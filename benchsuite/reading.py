#!/usr/bin/env python3
"""How fast files are read: megabytes of text a second for each kind of file, of one build or of two alternately.

    python3 benchsuite/reading.py --data DIR [--old PATH --new PATH] [--rounds 7] [--threads 2] [--only NAME]

DIR holds docword.reuters-news.txt.gz with its vocabulary, ml-1m/ratings.dat.gz and netflix-10m/ratings.dat.gz; what is
missing is left out. Points are made here. Every file is read packed and unpacked, as a fit reads it, in a process of its
own: `crates/lehr/benches/reading.rs`, which prints the seconds of reading alone and what identifies the data. Both builds
must read the same data. PATH is that program as `cargo bench -p lehr --bench reading --no-run` leaves it in target/release/deps,
of another commit if need be; without PATH it is built. Seconds are those of files that are in memory already.
"""

import argparse
import gzip
import json
import platform
import random
import shutil
import statistics
import subprocess
import sys
from pathlib import Path

import harness
from harness import WORK, Failure, alternate, at_least_one, guarded, note, spread, table

COLUMNS = ["file", "side", "round", "place", "seconds", "text_bytes", "cpu_seconds", "wall_seconds", "peak_bytes", "detail"]
INPUTS = ["points", "points-17-digits", "ratings-1m", "ratings-10m", "uci"]


# --- The files ---------------------------------------------------------------


def packed(path):
    """A gzipped copy, in the same folder."""
    target = path.with_name(path.name + ".gz")
    if not target.exists():
        with path.open("rb") as text, gzip.open(target, "wb", compresslevel=6) as out:
            shutil.copyfileobj(text, out, 1 << 20)
    return target


def unpacked(source, target):
    if not target.exists():
        with gzip.open(source, "rb") as text, target.open("wb") as out:
            shutil.copyfileobj(text, out, 1 << 20)
    return target


def points(path, rows, form):
    """Rows of 16 numbers below a line of names."""
    if path.exists():
        return path
    normal = random.Random(1).gauss
    with path.open("w") as file:
        file.write(",".join(f"x{j}" for j in range(16)) + "\n")
        file.writelines(",".join([form(normal(0, 3)) for _ in range(16)]) + "\n" for _ in range(rows))
    return path


def files(args):
    """Name, kind, path and bytes of text of every file that is read."""
    data, found = Path(args.data).resolve(), []
    for name in args.only or INPUTS:
        source = {"ratings-1m": "ml-1m/ratings.dat.gz", "ratings-10m": "netflix-10m/ratings.dat.gz", "uci": "docword.reuters-news.txt.gz"}.get(name)
        if source and not (data / source).exists():
            note(f"{name}: there is no {source} in {args.data}; left out")
            continue
        note(f"{name}: making the files")
        if name == "points":
            plain = points(WORK / "points.csv", args.rows, "{:.4f}".format)
        elif name == "points-17-digits":
            plain = points(WORK / "points-17.csv", args.rows // 4, repr)
        elif name == "uci":
            plain = unpacked(data / source, WORK / "docword.reuters-news.txt")
            vocabulary = data / "vocab.reuters-news.txt"
            if vocabulary.exists():
                shutil.copyfile(vocabulary, WORK / vocabulary.name)
        else:
            plain = unpacked(data / source, WORK / f"{name}.dat")
        kind = {"uci": "docs", "points": "points", "points-17-digits": "points"}.get(name, "ratings")
        size = plain.stat().st_size
        found += [(name, kind, plain, size), (f"{name}, gzip", kind, packed(plain), size)]
    return found


# --- Reading -----------------------------------------------------------------


def build():
    """The program that reads, of this checkout."""
    command = ["cargo", "bench", "-p", "lehr", "--bench", "reading", "--no-run", "--message-format=json"]
    note("$ " + harness.show(command))
    done = subprocess.run(command, cwd=harness.ROOT, stdout=subprocess.PIPE, text=True)
    for line in done.stdout.splitlines():
        message = json.loads(line)
        if message.get("executable") and message["target"]["name"] == "reading":
            return Path(message["executable"])
    raise Failure("cargo made no program of crates/lehr/benches/reading.rs")


def reader(name, kind, path, size, side, program, args, raw):
    """A function that reads a file once."""

    def run(round_, place):
        done = harness.measure([program, kind, path], args.threads)
        detail = harness.last_json(done.stdout, program)
        row = {
            "file": name, "side": side, "round": round_, "place": place, "seconds": detail["seconds"],
            "text_bytes": size, "cpu_seconds": round(done.cpu, 3), "wall_seconds": round(done.wall, 3),
            "peak_bytes": done.rss, "detail": {"items": detail["items"], "fingerprint": detail["fingerprint"]},
        }  # fmt: skip
        raw.add(row)
        return row

    return run


def speeds(rows):
    return [row["text_bytes"] / 1e6 / row["seconds"] for row in rows]


def summary(name, size, rows):
    """A line of the table for each side."""
    for side, runs in rows.items():
        busy = statistics.median(row["cpu_seconds"] / row["wall_seconds"] for row in runs)
        peak = min(row["peak_bytes"] for row in runs)
        faster = ""
        if side == "new":
            ratios = [old["seconds"] / new["seconds"] for old, new in zip(rows["old"], runs)]
            faster = f"{statistics.median(ratios):.2f}"
        shown = spread(speeds(runs), "{:.0f}".format)
        yield [name, f"{size / 1e6:.0f}", side, *shown, faster, f"{busy:.2f}", harness.megabytes(peak)]


def run(args):
    WORK.mkdir(exist_ok=True)
    if bool(args.old) != bool(args.new):
        raise Failure("give --old and --new, or neither")
    sides = {"old": Path(args.old).resolve(), "new": Path(args.new).resolve()} if args.old else {"this": build()}
    for program in sides.values():
        if not program.is_file():
            raise Failure(f"there is no program {program}")
    inputs = files(args)
    output = harness.Output(args, Path(__file__), COLUMNS, None, None, kind="reading")
    lines = []
    for name, kind, path, size in inputs:
        readers = {side: reader(name, kind, path, size, side, program, args, output.raw) for side, program in sides.items()}
        rows = alternate(readers, args.rounds)
        prints = {row["detail"]["fingerprint"] for runs in rows.values() for row in runs}
        if len(prints) > 1:
            raise Failure(f"{name}: the builds do not read the same data")
        lines += summary(name, size, rows)
        note(f"{name}: " + "; ".join(f"{side} {statistics.median(speeds(runs)):.0f} MB/s" for side, runs in rows.items()))
    head = ["file", "MB of text", "build", "MB/s", "least", "most", "old / new", "CPUs busy", "peak MB"]
    about = f"Medians of {args.rounds} runs, alternately, {args.threads} threads; MB of text, also where it is packed."
    output.report.add(f"# Reading\n\n{harness.cpu_facts()[0]}. {about}\n\n{table(head, lines)}")
    output.close()


def main():
    if sys.argv[1:] == ["versions"]:  # for the harness
        print(json.dumps({"Python": platform.python_version()}))
        return 0
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", required=True, metavar="DIR", help="the folder with the data sets")
    parser.add_argument("--old", metavar="PATH", help="the program that reads, before")
    parser.add_argument("--new", metavar="PATH", help="the program that reads, after")
    parser.add_argument("--rows", type=at_least_one, default=1_000_000, help="rows of points (1000000)")
    parser.add_argument("--rounds", type=at_least_one, default=7, help="how often each file is read by each (7)")
    parser.add_argument("--threads", type=at_least_one, default=2, help="threads of each program (2)")
    parser.add_argument("--only", metavar="NAME", action="append", choices=INPUTS, help="one of " + ", ".join(INPUTS) + "; repeatable")
    parser.add_argument("--keep", action="store_true", help="keep the files in benchsuite/work")
    parser.add_argument("--out", metavar="DIR", help="write here instead of benchsuite/runs/<date>-<cpu>-reading")
    args = parser.parse_args()
    args.lehr, args.python = None, sys.executable
    return guarded(run, args)


if __name__ == "__main__":
    sys.exit(main())
