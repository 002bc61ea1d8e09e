"""How many of four clusters do batch VI, a search, SVI and SVI+ find, by step size, data, process and prior?

Figure 4 of the paper as a grid: three data sets of 400 points (touching, apart, five columns), sticks (alpha = 1) or a sparse Dirichlet
distribution (a0 = 1/50), 50 components, independent q, starts at random items, a narrow prior of a cluster's shape (the data's
covariance over 50^(2/d)) or a broad one (the data's covariance), |S| = 10 to 50 (a start each), M = 0.2, 0.4 and 0.6 of |S|, 100 passes
over the data, noise to the end and no quench, four step sizes. A cluster is a component whose expected weight is at least 1 %.

    python benchsuite/clusters_by_step.py LEHR OUT.csv [STARTS]      # LEHR: the program; needs numpy and scipy

`python benchsuite/clusters_by_step.py --table OUT.csv` prints the table of docs/paper/reproduce.md, and `--verdicts OUT.csv` what the
runs say of each claim under each condition.
"""

import csv
import json
import os
import struct
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from scipy import stats

K, N = 50, 400
SETS, PROCESSES, PRIORS = ("touching", "apart", "five columns"), ("sticks", "sparse"), ("narrow", "broad")
RHOS = ("power:10:0.75", "power:1:0.6", "0.1", "0.3")
BATCHES, SHARES = (10, 20, 30, 40, 50), (0.2, 0.4, 0.6)


def made(name):
    rng = np.random.default_rng(4)
    weights = [0.25] * 4 if name == "apart" else [0.4, 0.3, 0.2, 0.1]
    which = rng.choice(4, N, p=weights)
    if name == "touching":
        clusters = [((0, 0), (1, 0.6), 0.5), ((3.6, 0.4), (0.8, 0.5), -0.6), ((0.8, 3.2), (0.8, 0.4), 0.1), ((3.9, 3.3), (0.5, 0.4), 0.8)]
        points = np.empty((N, 2))
        for n, k in enumerate(which):
            centre, deviations, angle = clusters[k]
            c, s = np.cos(angle), np.sin(angle)
            points[n] = centre + np.array([[c, -s], [s, c]]) @ (rng.normal(size=2) * deviations)
        return points
    if name == "apart":
        return np.array([[0, 0], [7, 0], [0, 7], [7, 7]])[which] + rng.normal(size=(N, 2))
    return 4 * np.eye(5)[which] + rng.normal(size=(N, 5))


def weights_of(folder):
    with open(os.path.join(folder, "checkpoint.safetensors"), "rb") as file:
        header = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
        first, last = header["weights"]["data_offsets"]
        file.seek(first, os.SEEK_CUR)
        return np.frombuffer(file.read(last - first))


def run(job, lehr, scratch):
    data, process, prior, method, rho, share, start = job
    batch = BATCHES[start % len(BATCHES)]
    points = np.loadtxt(os.path.join(scratch, f"{data}.csv"), delimiter=",")
    fit = {"seed": start, "threads": 1, "noise_end": 1.0}
    if method in ("batch", "search"):
        fit |= {"steps": 2000, "tol": 1e-8} | ({"search": 4.0} if method == "search" else {})
    else:
        fit |= {"steps": -(-100 * N // batch), "tol": 0.0, "batch": batch, "step_size": rho, "guard": "reject"}
        if method == "SVI+":
            fit["effective"] = f"{round(share * batch)}"
    model = {"components": K, "start": "points", "defaults": "volume", "factorisation": "independent"}
    if prior == "broad":
        model["scatter"] = np.cov(points.T).ravel().tolist()
    with tempfile.TemporaryDirectory(dir=scratch) as folder:
        text = "".join(f"[{name}]\n" + "".join(f"{k} = {json.dumps(v)}\n" for k, v in part.items()) for name, part in (("fit", fit), ("model", model)))
        config = os.path.join(folder, "run.toml")
        with open(config, "w") as file:
            file.write(text)
        out = os.path.join(folder, "run")
        kind = "dpgmm" if process == "sticks" else "gmm"
        command = [lehr, "fit", kind, os.path.join(scratch, f"{data}.csv"), "--header", "no", "--config", config, "-o", out, "-q"]
        subprocess.run(command, check=True, capture_output=True, text=True)
        with open(os.path.join(out, "result.json")) as file:
            bound = json.load(file)["bound"]
        return [*job, batch, int((weights_of(out) >= 0.01).sum()), bound]


def jobs(starts):
    for start in range(starts):
        for data in SETS:
            for process in PROCESSES:
                for prior in PRIORS:
                    for method in ("batch", "search"):
                        yield data, process, prior, method, "", "", start
                    for rho in RHOS:
                        yield data, process, prior, "SVI", rho, "", start
                        for share in SHARES:
                            yield data, process, prior, "SVI+", rho, share, start


def main(lehr, out, starts=10):
    scratch = tempfile.mkdtemp(dir="/dev/shm" if os.path.isdir("/dev/shm") else None)
    for name in SETS:
        np.savetxt(os.path.join(scratch, f"{name}.csv"), made(name), delimiter=",")
    with open(out, "w", newline="") as file, ThreadPoolExecutor(2) as pool:
        writer = csv.writer(file)
        writer.writerow("data process prior method rho share start batch clusters bound".split())
        for row in pool.map(lambda job: run(job, lehr, scratch), jobs(starts)):
            writer.writerow(row)
            file.flush()


def kept(path):
    """The runs of whole starts, and their number."""
    with open(path) as file:
        rows = list(csv.DictReader(file))
    full = min(sum(r["method"] == "batch" for r in rows) // 12, len(rows) // (12 * 18))
    rows = [r for r in rows if int(r["start"]) < full]
    print(f"{full} starts, {len(rows)} runs\n")
    return rows, full


def table(path):
    rows, _ = kept(path)
    print("| data | process | prior | batch | search | " + " | ".join(f"SVI, SVI+ {rho}" for rho in RHOS) + " |\n|---|---|---" + "|--:" * 6 + "|")
    for data in SETS:
        for process in PROCESSES:
            for prior in PRIORS:
                here = [r for r in rows if (r["data"], r["process"], r["prior"]) == (data, process, prior)]

                def share(method, rho=""):
                    found = [int(r["clusters"]) for r in here if r["method"] == method and r["rho"] == rho]
                    return f"{100 * np.mean([x == 4 for x in found]):.0f} % ({np.mean(found):.1f})"

                cells = [share("batch"), share("search"), *(f"{share('SVI', rho)}, {share('SVI+', rho)}" for rho in RHOS)]
                print(f"| {data} | {process} | {prior} | " + " | ".join(cells) + " |")


def finding(differences):
    """0: the claim holds, 2: its opposite is shown, 1: nothing is shown, by the rule of docs/paper/results.md."""
    d = np.array(differences, float)
    error = d.std(ddof=1) / np.sqrt(len(d))
    clear = abs(d.mean()) > stats.t.ppf(0.975, len(d) - 1) * error
    if clear and 2 * max((d > 0).sum(), (d < 0).sum()) > len(d):
        return 0 if d.mean() > 0 else 2
    return 1


def verdicts(path):
    """A row for each claim: in how many of the conditions it holds, nothing or the opposite is shown, by step size and by prior."""
    rows, full = kept(path)
    found = {}
    for r in rows:
        key = (r["data"], r["process"], r["prior"], r["method"], r["rho"])
        found.setdefault(key, [[] for _ in range(full)])[int(r["start"])].append(int(r["clusters"]))

    def near(clusters):
        return -abs(clusters - 4)

    def right(clusters):
        return float(clusters == 4)

    def mean(setting, method, rho, value):
        return np.array([np.mean([value(x) for x in runs]) for runs in found[(*setting, method, rho)]])

    def less(one, other, value):
        def of(s, method, rho):
            return mean(s, method, rho if "SVI" in method else "", value)

        return lambda s, rho: of(s, one, rho) - of(s, other, rho)

    claims = [
        ("batch inference over-estimates the number", False, lambda s, _: mean(s, "batch", "", int) - 4),
        ("SVI under-estimates it", True, lambda s, rho: 4 - mean(s, "SVI", rho, int)),
        ("SVI+ is nearer to four than batch", True, less("SVI+", "batch", near)),
        ("SVI+ finds exactly four more often than batch", True, less("SVI+", "batch", right)),
        ("SVI+ is nearer to four than SVI", True, less("SVI+", "SVI", near)),
        ("the search is nearer to four than batch", False, less("search", "batch", near)),
    ]
    settings = [(data, process, prior) for data in SETS for process in PROCESSES for prior in PRIORS]
    print("| claim | prior | " + " | ".join(RHOS) + " |\n|---|---" + "|---" * len(RHOS) + "|")
    for text, by_rho, differences in claims:
        for prior in PRIORS:
            cells = []
            for rho in RHOS if by_rho else RHOS[:1]:
                all_ = [finding(differences(s, rho)) for s in settings if s[2] == prior]
                cells.append(f"✓ {all_.count(0)}, · {all_.count(1)}, ✗ {all_.count(2)}")
            print(f"| {text} | {prior} | " + " | ".join(cells + [""] * (len(RHOS) - len(cells))) + " |")


if __name__ == "__main__":
    if sys.argv[1] == "--table":
        table(sys.argv[2])
    elif sys.argv[1] == "--verdicts":
        verdicts(sys.argv[2])
    else:
        main(sys.argv[1], sys.argv[2], *(int(x) for x in sys.argv[3:]))
