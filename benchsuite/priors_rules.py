"""Priors and starts of Gaussian mixtures, in numpy: the candidates of the study and the rule that ships.

The rule, `default_prior_and_start`: cut the data into pieces by k-means, let them adapt as Gaussians with hard
assignments, join pieces while the evidence rises, learn the prior from the clusters found, and repeat; then let a few
sweeps of variational inference decide how many of the joins were right. K only limits the number of clusters, so a
truncation does not change what is found below it.
"""

import numpy as np
from scipy.special import betaln, digamma, gammaln, logsumexp

PIECES = 50  # that k-means cuts the data into, or K if that is more; of d + 1 items or more on average
ITEMS = 40_000  # that are looked at, times d
FEWEST_ITEMS, MOST_ITEMS = 2000, 5000  # but at least and at most this many, and 50 K
KMEANS_SWEEPS = 20
HARD_SWEEPS = 5  # of adapting pieces or clusters
ROUNDS = 3  # of learning the prior
JOINS = 3  # times that clusters are adapted and joined again, in a round
SOFT_SWEEPS = 5  # of variational inference for every number of clusters tried
PATIENCE = 2  # numbers of clusters tried after the best
SPREAD = 10.0  # deviations squared from the mean of all, of the one cluster that beta0 is given
SEARCHES = 4000  # items times searches: the fewer items, the more searches
MOST_SEARCHES = 5
FINALISTS, MORE_SWEEPS = 3, 20  # the best are run on
SHRINK = 1.0  # items that the data's covariance is worth in the learned one, times (d + 1)
RIDGE = 1e-6


class Prior:
    """m0, beta0, nu0, A0 = W0^-1 and the concentration."""

    def __init__(self, m0, beta0, nu0, A0, alpha):
        self.m0, self.beta0, self.nu0, self.A0, self.alpha = m0, beta0, nu0, A0, alpha


class Parts:
    """Weighted counts, means and centred scatters of clusters."""

    def __init__(self, n, mean, S):
        self.n, self.mean, self.S = n, mean, S

    @classmethod
    def of_labels(cls, Z, w, labels):
        one = np.zeros((len(Z), labels.max() + 1))
        one[np.arange(len(Z)), labels] = 1
        return cls.of(Z, w, one)

    @classmethod
    def of(cls, Z, w, R):
        """Of responsibilities; clusters without items are left out, the others sorted by size."""
        R = R * w[:, None]
        n = R.sum(0)
        order = np.argsort(-n, kind="stable")
        order = order[n[order] > 1e-8 * w.sum()]
        n, R = n[order], R[:, order]
        mean = R.T @ Z / n[:, None]
        S = np.empty((len(n), Z.shape[1], Z.shape[1]))
        for k in range(len(n)):
            e = Z - mean[k]
            S[k] = (e * R[:, k : k + 1]).T @ e
        return cls(n, mean, S)

    def joined(self, i, j):
        n = self.n[i] + self.n[j]
        e = self.mean[i] - self.mean[j]
        mean = (self.n[i, None] * self.mean[i] + self.n[j, None] * self.mean[j]) / n[:, None]
        S = self.S[i] + self.S[j] + (self.n[i] * self.n[j] / n)[:, None, None] * e[:, :, None] * e[:, None, :]
        return Parts(n, mean, S)


class Q:
    """The Normal-Wishart distributions that parts lead to."""

    def __init__(self, parts, prior):
        n, d = parts.n, parts.mean.shape[1]
        self.n, self.d, self.prior = n, d, prior
        self.nu, self.beta = prior.nu0 + n, prior.beta0 + n
        e = parts.mean - prior.m0
        self.A = prior.A0 + parts.S + (prior.beta0 * n / self.beta)[:, None, None] * e[:, :, None] * e[:, None, :]
        self.mean = (prior.beta0 * prior.m0 + n[:, None] * parts.mean) / self.beta[:, None]
        self.ln_det = np.linalg.slogdet(self.A)[1]

    def evidence(self):
        """ln p(the items of a cluster)."""
        prior, n, d = self.prior, self.n, self.d
        return (
            -0.5 * d * n * np.log(np.pi)
            + ln_gamma_d(self.nu / 2, d) - ln_gamma_d(prior.nu0 / 2, d)
            + 0.5 * prior.nu0 * np.linalg.slogdet(prior.A0)[1] - 0.5 * self.nu * self.ln_det
            + 0.5 * d * np.log(prior.beta0 / self.beta)
        )  # fmt: skip

    def ln_precision(self):
        """E[ln |Lambda|]."""
        d = self.d
        return digamma((self.nu[:, None] - np.arange(d)) / 2).sum(1) + d * np.log(2) - self.ln_det

    def ln_density(self, Z):
        """E[ln N(z | mu, Lambda)] of each item in each cluster."""
        out = np.empty((len(Z), len(self.n)))
        for k, L in enumerate(np.linalg.cholesky(self.A)):
            y = (Z - self.mean[k]) @ np.linalg.inv(L).T
            out[:, k] = -0.5 * self.nu[k] * (y**2).sum(1)
        return out + 0.5 * (self.ln_precision() - self.d / self.beta - self.d * np.log(2 * np.pi))

    def divergence(self):
        """KL(q(mu, Lambda) || prior), all clusters."""
        prior, d, nu = self.prior, self.d, self.nu
        inverse, e = np.linalg.inv(self.A), self.mean - prior.m0
        shape = (
            ln_gamma_d(prior.nu0 / 2, d) - ln_gamma_d(nu / 2, d)
            - 0.5 * prior.nu0 * np.linalg.slogdet(prior.A0)[1] + 0.5 * nu * self.ln_det
            + 0.5 * (nu - prior.nu0) * (self.ln_precision() - d * np.log(2))
            + 0.5 * nu * (np.einsum("kij,ij->k", inverse, prior.A0) - d)
        )  # fmt: skip
        ratio = prior.beta0 / self.beta
        place = d * (ratio - 1 - np.log(ratio)) + prior.beta0 * nu * np.einsum("ki,kij,kj->k", e, inverse, e)
        return (shape + 0.5 * place).sum()


def ln_gamma_d(x, d):
    return 0.25 * d * (d - 1) * np.log(np.pi) + gammaln(np.asarray(x)[..., None] - 0.5 * np.arange(d)).sum(-1)


# --- Steps of the rule -------------------------------------------------------


def standardised(X, w):
    mean = w @ X / w.sum()
    scale = np.sqrt(w @ (X - mean) ** 2 / w.sum())
    return (X - mean) / scale, mean, scale


def kmeans(Z, w, k, rng, sweeps=KMEANS_SWEEPS, tries=1):
    """k-means++ (each seed the best of `tries`), then sweeps of k-means; empty clusters are left out."""
    n = len(Z)
    square = None
    labels = np.zeros(n, int)
    for c in range(k):
        p = w if square is None else w * square
        if p.sum() <= 0:
            break
        best = None
        for _ in range(tries if c else 1):
            at = min(np.searchsorted(np.cumsum(p), rng.random() * p.sum()), n - 1)
            s = ((Z - Z[at]) ** 2).sum(1)
            new = s if square is None else np.minimum(square, s)
            if best is None or w @ new < w @ best[0]:
                best = new, s
        new, s = best
        labels[np.ones(n, bool) if square is None else s < square] = c
        square = new
    for _ in range(sweeps):
        names, labels = np.unique(labels, return_inverse=True)
        total = np.bincount(labels, w)
        centre = np.stack([np.bincount(labels, w * z) for z in Z.T], 1) / total[:, None]
        before = labels
        labels = np.argmin((centre**2).sum(1) - 2 * Z @ centre.T, 1)
        if (before == labels).all():
            break
    return np.unique(labels, return_inverse=True)[1]


def adapt(Z, w, labels, prior, sweeps=HARD_SWEEPS):
    """Variational inference with hard assignments: every item to the cluster that it is likeliest in."""
    for _ in range(sweeps):
        q = Q(Parts.of_labels(Z, w, labels), prior)
        new = np.unique(np.argmax(q.ln_density(Z) + np.log(q.n), 1), return_inverse=True)[1]
        if (new == labels).all():
            break
        labels = new
    return labels


def joins(parts, prior):
    """Joins the pair that gains the most evidence, again and again, until one is left.

    The clusters' prior is the Chinese restaurant's, prod alpha Gamma(n_k). Returns for every number of groups the
    evidence and the group of each part.
    """
    k = len(parts.n)
    now = Parts(parts.n.copy(), parts.mean.copy(), parts.S.copy())

    def worth(p):
        return Q(p, prior).evidence() + gammaln(p.n) + np.log(prior.alpha)

    own, group, left = worth(now), np.arange(k), np.ones(k, bool)
    gain = np.full((k, k), -np.inf)

    def fill(i, j):
        if len(i):
            gain[i, j] = worth(now.joined(i, j)) - own[i] - own[j]

    fill(*np.triu_indices(k, 1))
    total = own.sum()
    out = {k: (total, group.copy())}
    for size in range(k - 1, 0, -1):
        i, j = divmod(np.argmax(gain), k)  # the first of equals
        both = now.joined(np.array([i]), np.array([j]))
        now.n[i], now.mean[i], now.S[i] = both.n[0], both.mean[0], both.S[0]
        total += gain[i, j]
        own[i] += gain[i, j] + own[j]
        left[j], group[group == j] = False, i
        gain[j, :] = gain[:, j] = -np.inf
        others = np.flatnonzero(left)
        others = others[others != i]
        fill(np.minimum(i, others), np.maximum(i, others))
        out[size] = total, np.unique(group, return_inverse=True)[1]
    return out


def best_of(path, most):
    """(evidence, number) of the best, the smaller of equals."""
    return max((evidence, -size) for size, (evidence, _) in path.items() if size <= most)


def sweep(Z, w, parts, prior):
    """Responsibilities under the q that the parts (sorted by size) lead to, and the bound; sticks."""
    q = Q(parts, prior)
    a, b = 1 + q.n, prior.alpha + np.cumsum(q.n[::-1])[::-1] - q.n
    ln_v, ln_rest = digamma(a) - digamma(a + b), digamma(b) - digamma(a + b)
    score = q.ln_density(Z) + ln_v + np.concatenate([[0], np.cumsum(ln_rest)[:-1]])
    ln_sum = logsumexp(score, axis=1)
    sticks = betaln(1, prior.alpha) - betaln(a, b) + (a - 1) * ln_v + (b - prior.alpha) * ln_rest
    return np.exp(score - ln_sum[:, None]), w @ ln_sum - sticks.sum() - q.divergence()


class Search:
    """The rule on standardised items."""

    def __init__(self, Z, w, most, nu0=None, soft=SOFT_SWEEPS, paid=True, adapt=True, learn=True, beta0=None, finals=True):
        self.Z, self.w, self.most = Z, w, most
        self.n, self.d = w.sum(), Z.shape[1]
        self.nu0 = 2 * self.d + 2 if nu0 is None else nu0(self.d)
        self.finals = finals
        self.soft, self.paid, self.hard, self.learn, self.beta0 = soft, paid, adapt, learn, beta0
        self.C = (Z * w[:, None]).T @ Z / (self.n - 1 if self.n > 1 else self.n)
        self.C[np.diag_indices(self.d)] *= 1 + RIDGE
        self.cost = 0.0  # sweeps over all items with PIECES clusters

    def prior(self, parts=None):
        """The prior that clusters teach: their pooled covariance, and how far apart their means are."""
        d, h = self.d, SHRINK * (self.d + 1)
        if parts is None or not self.learn:
            return Prior(np.zeros(d), self.beta0 or 1 / SPREAD, self.nu0, (self.nu0 - d - 1) * self.C, 1.0)
        real = parts.n >= 1  # some are on their way out
        k, mean = real.sum(), parts.mean[real]
        W = (parts.S.sum(0) + h * self.C) / (max(self.n - k, 0) + h)
        W[np.diag_indices(d)] += RIDGE * np.diag(self.C)
        far = np.einsum("ki,ij,kj->", mean, np.linalg.inv(W), mean) / d
        return Prior(np.zeros(d), self.beta0 or max(k, 1) / (far + SPREAD), self.nu0, (self.nu0 - d - 1) * W, 1.0)

    def adapted(self, labels, prior):
        if not self.hard:
            return labels
        self.cost += HARD_SWEEPS * (labels.max() + 1) / PIECES
        return adapt(self.Z, self.w, labels, prior)

    def parts(self, labels):
        # In the order of the labels, not of size: groups refer to it.
        labels = np.unique(labels, return_inverse=True)[1]
        n = np.bincount(labels, self.w)
        mean = np.stack([np.bincount(labels, self.w * z) for z in self.Z.T], 1) / n[:, None]
        e = self.Z - mean[labels]
        S = np.stack([(e[at] * self.w[at, None]).T @ e[at] for at in (labels == k for k in range(len(n)))])
        return Parts(n, mean, S)

    def climb(self, labels):
        R = np.zeros((len(self.Z), labels.max() + 1))
        R[np.arange(len(self.Z)), labels] = 1
        return self.climb_on(R, max(self.soft, 1))

    def climb_on(self, R, sweeps):
        """A few sweeps with the prior learned along: score, responsibilities, prior."""
        for _ in range(sweeps):
            parts = Parts.of(self.Z, self.w, R)
            prior = self.prior(parts)
            R, bound = sweep(self.Z, self.w, parts, prior)
            self.cost += len(parts.n) / PIECES
        if self.paid:
            # The scatter was learned: half a log of the items that inform it, for each of its numbers.
            informed = (self.nu0 * parts.n / (self.nu0 + parts.n)).sum()
            bound -= 0.25 * self.d * (self.d + 1) * np.log1p(informed)
        return bound, R, prior

    def chain(self, pieces, rng):
        """From pieces to clusters and a prior, and then all that is worth running from."""
        fine, prior = kmeans(self.Z, self.w, pieces, rng), self.prior()
        for _ in range(ROUNDS):
            fine = self.adapted(fine, prior)
            path = joins(self.parts(fine), prior)
            best, labels = best_of(path, self.most), None
            labels = path[-best[1]][1][fine]
            for _ in range(JOINS if self.hard else 0):
                again = self.adapted(labels, prior)
                path = joins(self.parts(again), prior)
                better = best_of(path, self.most)
                if better[0] <= best[0] + 1e-6:
                    break
                best, labels = better, path[-better[1]][1][again]
            prior = self.prior(Parts.of_labels(self.Z, self.w, labels))
        self.fine, self.path = fine, joins(self.parts(fine), prior)
        yield self.climb(labels)
        if not self.soft:
            return
        size, top = labels.max() + 1, None
        for direction in (1, -1):
            at, missed = size + direction, 0
            while missed < PATIENCE and 1 <= at <= self.most and at in self.path:
                found = self.climb(self.path[at][1][fine])
                top, missed = (found[0], 0) if top is None or found[0] > top else (top, missed + 1)
                yield found
                at += direction

    def run(self, seed=0):
        rng = np.random.default_rng(seed)
        found = [(*self.climb(np.zeros(len(self.Z), int)), None)]
        n = len(self.Z)
        most = int(min(max(PIECES, self.most), n // (self.d + 1)))
        for _ in range(int(np.clip(SEARCHES // n, 1, MOST_SEARCHES))):
            for pieces in (most, most // 3, most // 9):
                if pieces >= 2:
                    found += [(*climbed, (self.fine, self.path)) for climbed in self.chain(pieces, rng)]
        found.sort(key=lambda x: -x[0])  # stable: the first of equals
        if self.soft and self.finals:
            # The best of each number of clusters, the best few of these.
            numbers = [x[1].shape[1] for x in found]
            firsts = [x for i, x in enumerate(found) if numbers[i] not in numbers[:i]][:FINALISTS]
            found = [(*self.climb_on(x[1], MORE_SWEEPS), x[3]) for x in firsts]
        best = max(found, key=lambda x: x[0])
        self.exact = best[3]
        return best[:3]


def sample(n, d, K):
    most = int(max(np.clip(ITEMS // d, FEWEST_ITEMS, MOST_ITEMS), 50 * K))
    return np.arange(n) if n <= most else np.sort(np.random.default_rng(0).permutation(n)[:most])


def default_prior_and_start(X, K, kind="dpgmm", weights=None, seed=0, **options):
    """The prior in the data's units, the items looked at and their responsibilities (N' x K) to start with."""
    w = np.ones(len(X)) if weights is None else np.asarray(weights, float)
    items = np.flatnonzero(w > 0)
    items = items[sample(len(items), X.shape[1], K)]
    _, mean, scale = standardised(X[w > 0], w[w > 0])
    w = w[items] * (w.sum() / w[items].sum())
    Z = (X[items] - mean) / scale
    Z -= w @ Z / w.sum()
    search = Search(Z, w, K, **options)
    _, R, prior = search.run(seed)
    start = np.zeros((len(items), K))
    start[:, : R.shape[1]] = R
    prior.m0 = mean
    prior.A0 = prior.A0 * np.outer(scale, scale)
    if kind == "gmm":
        prior.alpha = 1 / K
    default_prior_and_start.search = search
    return prior, items, start
