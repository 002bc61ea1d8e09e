"""Are the intervals of a matrix factorisation right where it is sure, and where it is not? Coverage by fifths.

    python benchsuite/rating_fifths.py split ratings.dat train.dat test.dat     # a random tenth for the test
    lehr fit pmf train.dat -d 10 -o run
    python benchsuite/rating_fifths.py run train.dat test.dat                   # RUN, what it was fitted to, what to score

needs numpy. Predictions are made from the checkpoint: q of every row is N(P^-1 h, P^-1) with the natural parameters P and h.
"""

import json
import os
import struct
import sys

import numpy as np


def read(path):
    with open(path, encoding="latin-1") as file:
        return [line.split("::")[:3] for line in file]


def split(source, train, test):
    with open(source, encoding="latin-1") as file:
        lines = file.read().splitlines()
    held = np.random.default_rng(1).random(len(lines)) < 0.1
    for path, kept in ((train, ~held), (test, held)):
        with open(path, "w", encoding="latin-1") as file:
            file.writelines(line + "\n" for line, keep in zip(lines, kept) if keep)


def main(run, train, test):
    with open(os.path.join(run, "checkpoint.safetensors"), "rb") as file:
        header = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
        data = file.read()
    with open(os.path.join(run, "config.json")) as file:
        centre = json.load(file)["frozen"]["mean"]
    tensor = lambda name: np.frombuffer(data[slice(*header[name]["data_offsets"])]).reshape(header[name]["shape"])
    n_users, d = tensor("user_factors").shape
    free = d + 1  # factors and a bias
    rows, (i, j) = tensor("lambda"), np.tril_indices(free)
    precision = np.zeros((len(rows), free, free))
    precision[:, i, j] = precision[:, j, i] = rows[:, : len(i)]
    cov = np.linalg.inv(precision)
    mean = np.einsum("nij,nj->ni", cov, rows[:, len(i) :])
    users, items = {}, {}
    for user, item, _ in read(train):
        users.setdefault(user, len(users))
        items.setdefault(item, len(items))
    known = [(users[u], n_users + items[i], float(y)) for u, i, y in read(test) if u in users and i in items]
    u, v, y = (np.array(column) for column in zip(*known))

    def second(rows, places, one):
        """E[x x'] of x = (factors, user's bias or 1, 1 or item's bias)."""
        x = np.zeros((len(rows), d + 2))
        x[:, places], x[:, one] = mean[rows], 1
        out = x[:, :, None] * x[:, None, :]
        out[np.ix_(range(len(rows)), places, places)] += cov[rows]
        return out

    of_users = second(np.arange(n_users), [*range(d), d], d + 1)
    of_items = second(np.arange(n_users, len(rows)), [*range(d), d + 1], d)
    expected = (mean[u, :d] * mean[v, :d]).sum(1) + mean[u, d] + mean[v, d]
    square = np.empty(len(y))
    for start in range(0, len(y), 20_000):
        part = slice(start, start + 20_000)
        square[part] = np.einsum("nij,nij->n", of_users[u[part]], of_items[v[part] - n_users])
    deviation = np.sqrt(square - expected**2 + tensor("noise_variance")[0])
    error = y - centre - expected
    widths = (0.67449, 1.28155, 1.95996)

    def report(name, those):
        inside = (100 * (np.abs(error[those]) <= w * deviation[those]).mean() for w in widths)
        rmse, predicted = (np.sqrt((x[those] ** 2).mean()) for x in (error, deviation))
        print(f"{name}: predicted RMSE {predicted:.3f}, RMSE {rmse:.3f}, in 50, 80, 95 %:", *(f"{x:.1f}" for x in inside))

    report("all", np.ones(len(y), bool))
    place = np.argsort(np.argsort(deviation, kind="stable"), kind="stable") * 5 // len(y)
    for fifth in range(5):
        report(f"fifth {fifth + 1}", place == fifth)
    low, high = (centre + expected + sign * widths[2] * deviation for sign in (-1, 1))
    print(f"95 % intervals that reach beyond 1 to 5: {100 * ((low < 1) | (high > 5)).mean():.0f} %")


if __name__ == "__main__":
    if sys.argv[1] == "split":
        split(*sys.argv[2:5])
    else:
        main(*sys.argv[1:4])
