"""Topics of documents, as scikit-learn has them, with annealing."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils import check_random_state

from . import _data, _lehr
from ._base import Fitting
from ._lda_readout import LdaReadout
from ._loading import fit_parameters
from ._settings import choice, real, steps_in_a_pass, whole
from ._priors import prior_of_topics, prior_of_words, words_of
from ._seeds import seed_topics, seeds_of
from ._topics import perplexity_of
from ._verbose import Passes
from ._watch import with_callbacks
from .errors import SettingError, told

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from ._typing import Floats, Random, Self

_METHODS = {"batch": False, "online": True}
# scikit-learn's priors, whose eta is given, stay as they are.
_PRIORS = {"scikit-learn": "fixed", "learned": "learned"}


class LatentDirichletAllocation(LdaReadout, Fitting):
    """Latent Dirichlet allocation by variational Bayes, in batches or not, annealed or not.

    Parameters, attributes and methods up to `random_state` have the names and meanings of
    :class:`sklearn.decomposition.LatentDirichletAllocation`, and so have the defaults: priors of 1 / n_components that
    stay as they are. ``priors="learned"`` is what the command line does and what predicts better: alpha and eta are
    learned, and batches start tempered.

    Parameters
    ----------
    n_components : int, default=10
        K, the number of topics.
    doc_topic_prior : float or array-like of shape (n_components,), default=None
        alpha, the prior of a document's topics, or its first value if it is learned; None is 1 / n_components.
    topic_word_prior : float, dict, or array-like of shape (n_features,), default=None
        eta, the prior of a topic's words, or its first value if it is learned; None is 1 / n_components, or about 0.05
        with ``priors="learned"``. An array has a number for each word, and a dict numbers of some words (others have
        the default); these are not learned.
    learning_method : {'batch', 'online'}, default='batch'
        Whether every step uses all documents or `batch_size` of them.
    learning_decay : float, default=0.7
        kappa of the step size (learning_offset + t)**-kappa of 'online'.
    learning_offset : float, default=10.0
        tau0 of it.
    max_iter : int, default=10
        Passes over the documents; 0 keeps the start as it is.
    batch_size : int, default=128
        Documents in a step of 'online' and of `partial_fit`.
    evaluate_every : int, default=-1
        If positive: evaluate the perplexity every N passes, and stop by `perp_tol`.
    total_samples : int, default=1e6
        N, for `partial_fit`.
    perp_tol : float, default=1e-1
        The fit ends when the perplexity changes by less. Only with `evaluate_every`.
    mean_change_tol : float, default=1e-3
        A document's local steps end when gamma changes by less on average.
    max_doc_update_iter : int, default=100
        The most local steps of a document.
    n_jobs : int, default=None
        Threads, at most 4 for each core, or 16; None and -1 are all cores. Does not change results.
    verbose : int, default=0
        Whether to print scikit-learn's lines: one for each pass, with the perplexity if `evaluate_every` asks for it.
    random_state : int, RandomState instance or None, default=None
        An int is the seed, as on the command line.
    effective_batch_size : float or str, default=None
        M: less than the batch anneals (SVI+), and less is noisier. A number, '50t' (50 times the step) or
        'geometric:10:150' (from 10 to the batch in 150 steps). None is no noise.
    noise : <law>, default='gaussian'
        The distribution of the annealing noise.
    guard : <guard>, default=None
        What happens when noise pushes a parameter out of its domain; None is 'shrink'.
    step_size : float or str, default=None
        rho, instead of `learning_offset` and `learning_decay`: a number, 'power:10:0.75' or '0.5,1'.
    noise_end : float, default=0.75
        The fraction of the steps after which the noise ends.
    n_init : int, default=1
        How many starts to try; the best by bound is kept.
    search : float, default=0
        Search for better topics: N fits in all, the plain one included, each from a fresh start with the priors that
        the best one has learned; 4 is usual, 0 is off. It never ends below the plain fit. See `search_`.
    search_by : {'bound', 'heldout'}, default='bound'
        What the fits of a search are chosen by: their bound, or the score of the documents held out (`holdout`).
    priors : {'scikit-learn', 'learned'}, default='scikit-learn'
        What holds where the priors and the three below are None: scikit-learn's rule, or alpha (one for each topic) and
        eta are learned and batches start tempered.
    learn_doc_topic_prior : {'no', 'symmetric', 'asymmetric'}, default=None
        Whether alpha is learned, as one number or one for each topic. None is what `priors` says.
    learn_topic_word_prior : bool, default=None
        Whether eta is learned. None is what `priors` says.
    seed_words : dict, default=None
        Words that topics have by their prior, to the end of the fit: a dict of names, and for each a list of words or a
        dict of words and strengths; the first one is topic 0. A word may be in several, and a word that is not in the
        vocabulary raises a warning. Words are those of `feature_names`, of a data frame or of a file, or the
        numbers of columns where there are none.
    seed_strength : float, default=None
        How strong seed words are: N adds each seed word N times as often as the documents contain it. None is 1.
    temper : float or str, default=None
        A tempered start: every document counts N times at first, and once in the end. 2 (over 60 % of the steps),
        '2:0.3' (over 30 %), '2:20' (over 20 steps) or 'off'. None is what `priors` says: 'off', or 2 with batches.
        `partial_fit` has none.
    warm : bool, default=False
        Documents start where their last visit ended, which is faster in later passes; not in the first 30, until topics
        have formed.
    exact : bool, default=False
        Double precision and no shortcuts in local steps: slower, for checks.
    init_components : array-like of shape (n_components, n_features), default=None
        The initial parameters of the topics; None is random.
    holdout : float, default=0
        Documents to hold out and score during the fit: a count, or a share below 1.
    time_limit : float, default=None
        Seconds after which a fit ends.
    data_options : dict, default=None
        How to read X, if it is the path of a file, or texts or lists of words: vocab, format, field, stop_words, min_docs,
        tokens, ngrams, and so on.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        lambda, the parameters of the topics' Dirichlet distributions; float32 if X was.
    exp_dirichlet_component_ : ndarray of shape (n_components, n_features)
        exp(E[ln beta]).
    doc_topic_prior_ : float or ndarray
        alpha, as it was or as it was learned: one number if it is the same for all topics.
    topic_word_prior_ : float or ndarray of shape (n_features,)
        eta, as it was or as it was learned: one number if it is the same for all words.
    topic_names_ : list
        The name of each topic that seed words or `name_topics` gave one, and None of the others.
    bound_ : float
        The perplexity of the training documents at the end, as `perplexity` computes it. If 'online' and without
        `evaluate_every`, or if some are held out, as the last evaluation of the fit estimates it, from at most 1000
        documents. NaN after `partial_fit`.
    lower_bound_ : float
        The bound itself, with every constant.
    n_batch_iter_ : int
        The number of the next step.
    n_iter_ : int
        Passes over the documents.
    n_steps_ : int
        Updates.
    n_guard_hits_ : int
        How often the guard acted.
    trace_ : dict of ndarray
        The observations: step, seconds, bound, rho, effective, mass, and so on.
    search_ : dict or None
        What the search of the best start did: plain_bound, passes_plain, passes, and by kick its tries, wins and passes;
        None without one.
    random_state_ : RandomState instance
        Made of `random_state`, as in scikit-learn. Fits need only their seed.
    n_features_in_ : int
        V, the number of words.
    feature_names_in_ : ndarray
        Their names, if X is a data frame.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from lehr import LatentDirichletAllocation
    >>> X, _ = make_multilabel_classification(random_state=0)
    >>> lda = LatentDirichletAllocation(n_components=5, random_state=0).fit(X)
    >>> lda.transform(X[-2:]).shape
    (2, 5)
    """

    if TYPE_CHECKING:
        doc_topic_prior_: float | Floats
        topic_word_prior_: float | Floats
        topic_names_: list[str | None]
        bound_: float
        lower_bound_: float
        n_batch_iter_: int
        search_: dict[str, Any] | None

    _core_class = _lehr.Lda
    _model = "lda"
    _choices = {"priors": _PRIORS}

    def __init__(
        self,
        n_components: int = 10,
        *,
        doc_topic_prior: float | ArrayLike | None = None,
        topic_word_prior: float | dict[str, float] | ArrayLike | None = None,
        learning_method: str = "batch",
        learning_decay: float = 0.7,
        learning_offset: float = 10.0,
        max_iter: int = 10,
        batch_size: int | None = 128,
        evaluate_every: int = -1,
        total_samples: float | None = 1e6,
        perp_tol: float = 1e-1,
        mean_change_tol: float = 1e-3,
        max_doc_update_iter: int = 100,
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: Random = None,
        effective_batch_size: float | str | None = None,
        noise: str = "gaussian",
        guard: str | None = None,
        step_size: float | str | None = None,
        noise_end: float = 0.75,
        n_init: int = 1,
        search: float = 0,
        search_by: str = "bound",
        priors: str = "scikit-learn",
        learn_doc_topic_prior: str | None = None,
        learn_topic_word_prior: bool | None = None,
        seed_words: dict[str, Any] | None = None,
        seed_strength: float | None = None,
        temper: float | str | None = None,
        warm: bool = False,
        exact: bool = False,
        init_components: ArrayLike | None = None,
        holdout: float | str = 0,
        time_limit: float | None = None,
        data_options: dict[str, Any] | None = None,
    ) -> None:
        self.n_components = n_components
        self.doc_topic_prior = doc_topic_prior
        self.topic_word_prior = topic_word_prior
        self.learning_method = learning_method
        self.learning_decay = learning_decay
        self.learning_offset = learning_offset
        self.max_iter = max_iter
        self.batch_size = batch_size
        self.evaluate_every = evaluate_every
        self.total_samples = total_samples
        self.perp_tol = perp_tol
        self.mean_change_tol = mean_change_tol
        self.max_doc_update_iter = max_doc_update_iter
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state
        self.effective_batch_size = effective_batch_size
        self.noise = noise
        self.guard = guard
        self.step_size = step_size
        self.noise_end = noise_end
        self.n_init = n_init
        self.search = search
        self.search_by = search_by
        self.priors = priors
        self.learn_doc_topic_prior = learn_doc_topic_prior
        self.learn_topic_word_prior = learn_topic_word_prior
        self.seed_words = seed_words
        self.seed_strength = seed_strength
        self.temper = temper
        self.warm = warm
        self.exact = exact
        self.init_components = init_components
        self.holdout = holdout
        self.time_limit = time_limit
        self.data_options = data_options

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def _params(self):
        """The model's settings, as the command line's configuration file has them."""
        topics = whole("n_components", self.n_components, least=1)
        alpha = prior_of_topics("doc_topic_prior", self.doc_topic_prior)
        eta, word_eta = prior_of_words("topic_word_prior", self.topic_word_prior)
        priors = choice("priors", self.priors, _PRIORS)
        if eta is None and priors == "fixed":
            eta = 1.0 / topics
        seeds = seed_topics(self.seed_words)
        given = {"alpha": alpha, "eta": eta, "word_eta": word_eta, "seed_words": seeds}
        return self._checked("own", topics=topics, priors=priors, **given)

    def _config(self, n_items, batch):
        every = whole("evaluate_every", self.evaluate_every, least=-(2**63), optional=True)
        every = every * steps_in_a_pass(n_items, batch) if every is not None and every > 0 else None
        tau0, kappa = real("learning_offset", self.learning_offset), real("learning_decay", self.learning_decay)
        if not 0 <= kappa <= 1:
            raise SettingError("learning_decay", kappa, "must be between 0 and 1")
        if tau0 < 0:
            raise SettingError("learning_offset", tau0, "must be 0 or a positive number")
        self._total()
        power = None if batch is None else f"power:{tau0!r}:{kappa!r}"
        given = {} if self.step_size is not None else {"step_size": power}
        return self._fit_settings(
            n_items,
            batch,
            tol=0.0 if every is None else real("perp_tol", self.perp_tol),
            tol_of="perplexity",
            eval_every=every,
            n_init=whole("n_init", self.n_init, least=1),
            **given,
        )

    def _noted(self, note):
        # The step size comes of two parameters of scikit-learn's.
        if self.step_size is not None:
            return note
        own = ("setting", "learning_decay", str(self.learning_decay))
        return [own if tuple(part[:2]) == ("setting", "step_size") else part for part in note]

    def _total(self):
        """N, for `partial_fit`."""
        total = real("total_samples", self.total_samples)
        if total <= 0:
            raise SettingError("total_samples", self.total_samples, "must be a positive number")
        return total

    def _printer(self, data, config):
        if not self.verbose or config["eval_every"] == 0:
            return None
        in_a_pass = steps_in_a_pass(data.shape[0], config["batch"])
        return Passes(self.max_iter, in_a_pass, (config["eval_every"] or 0) // in_a_pass, data.tokens())

    def _docs(self, X, *, reset, whom, known=None, names=None):
        """Documents, and whether their numbers are float32, so that results should be."""
        self._single = getattr(X, "dtype", None) == np.float32
        return _data.docs(self, X, reset=reset, whom=f"LatentDirichletAllocation.{whom}", known=known, names=names)

    def _begin(self):
        if self.init_components is None:
            return {}
        return {"begin": np.ascontiguousarray(self.init_components, dtype=np.float64)}

    def _tell_notes(self):
        """Warns of seed words that the vocabulary does not have."""
        for note in self._core.notes():
            warnings.warn(told(note, False, self._names, self._values), UserWarning, stacklevel=3)

    def _random(self):
        """What scikit-learn keeps of `random_state`."""
        given = self.random_state
        kept = given if isinstance(given, np.random.Generator) else check_random_state(given)
        self._note(random_state_=kept)

    def _asked(self, X, feature_names=None):
        """Documents, and the settings of a model and a fit of them."""
        params = self._params()
        choice("learning_method", self.learning_method, _METHODS)
        data = self._docs(X, reset=True, whom="fit", names=feature_names)
        return data, params, self._config_of_fit(data.shape[0])

    def _config_of_fit(self, n_items):
        online = choice("learning_method", self.learning_method, _METHODS)
        return self._config(n_items, self._batch(n_items) if online else None)

    @with_callbacks
    def fit(self, X: Any, y: Any = None, feature_names: Any = None) -> Self:
        """Learn the topics of documents.

        Parameters
        ----------
        X : {array-like, sparse matrix, path, list of str, list of lists of str}
            How often each document has each word, a row for each document; the path of a file; or the documents
            themselves, as texts or as lists of words, which become words as those of a file do (`data_options`).
        y : Ignored
            Not used, present here for API consistency by convention.
        feature_names : array-like of str, default=None
            The words, such as ``vectorizer.get_feature_names_out()``, for pictures and for what `save` writes. A data
            frame and a file have them, a matrix lacks them; `save` takes them as well.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        data, params, config = self._asked(X, feature_names)
        self._random()
        self._run(self._core_class.fit, data, X, params, config, **self._begin())
        self._tell_notes()
        self._keeps_single = self._single
        if self._has_whole_story(config) and self._outcome["stop"] in ("converged", "steps"):
            self._note(bound_=perplexity_of(*self._core.bound(data, self._threads_for(data))))
        return self

    @staticmethod
    def _has_whole_story(config):
        """Whether a fit ends with the perplexity of all documents, not with an estimate of it."""
        return (config["batch"] is None or config["eval_every"] is not None) and not config["holdout"]

    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Learn from more documents, in one pass over them. The bound is not evaluated: `score` does that.

        Parameters
        ----------
        X : {array-like, sparse matrix, path} of shape (n_samples, n_features)
            How often each document has each word.
        y : Ignored
            Not used, present here for API consistency by convention.

        Returns
        -------
        self : object
            The estimator.
        """
        params = self._params()
        first = not hasattr(self, "_core")
        known = None if first else self._core
        data = self._docs(X, reset=first, whom="partial_fit", known=known)
        n_items = data.shape[0]
        batch = self._batch(n_items) or n_items
        config = {
            **self._config(n_items, batch),
            "steps": -(-n_items // batch),
            "sampling": "in-order",
            "population": max(int(self._total()), n_items),
            "tol": 0.0,
            "holdout": 0.0,
            "eval_every": 0,
            "n_init": 1,
            "search": 0.0,
            "search_by": "bound",
            "warm": False,
            "temper": "off",
        }
        if first:
            self._random()
            self._keeps_single = self._single
            self._run(self._core_class.fit, data, X, params, config, **self._begin())
            self._tell_notes()
            return self
        return self._run(self._core.partial, data, X, config)

    def _take(self, core):
        super()._take(core)
        self._facts = core.attributes()
        alpha = self._facts["alpha"]
        self.n_features_in_ = len(self._facts["word_counts"])
        _, bound = self._best_bounds()
        self._note(
            doc_topic_prior_=float(alpha[0]) if (alpha == alpha[0]).all() else alpha,
            topic_word_prior_=self._facts["eta"],
            topic_names_=self._facts["topic_names"],
            n_batch_iter_=core.step + 1,
            lower_bound_=bound,
            bound_=perplexity_of(bound, self._facts["tokens"]),
            search_=(self._outcome or {}).get("search"),
        )

    @staticmethod
    def _parameters_of(record, _core):
        """The parameters of an LDA model that makes the fit of a run again."""
        params, fit = record["params"], record["fit"]
        shared = fit_parameters(record)
        online = fit["batch"] is not None
        return {
            **shared,
            "n_components": params["topics"],
            "doc_topic_prior": params["alpha"],
            "topic_word_prior": words_of(params.get("word_eta"), params["eta"]),
            "learning_method": "online" if online else "batch",
            "batch_size": fit["batch"] if online else 128,
            "mean_change_tol": params["local_tol"],
            "max_doc_update_iter": params["local_iterations"],
            "priors": "learned" if params.get("priors") == "learned" else "scikit-learn",
            "seed_words": seeds_of(params.get("seed_words")),
            "seed_strength": params.get("seed_strength"),
            "temper": fit.get("temper", "off"),
            "learn_doc_topic_prior": params["learn_alpha"],
            "learn_topic_word_prior": params["learn_eta"],
            "exact": params["exact"],
            "warm": fit["warm"],
            "n_init": fit["n_init"],
            "search": fit.get("search") or 0,
            "search_by": fit.get("search_by", "bound"),
        }
