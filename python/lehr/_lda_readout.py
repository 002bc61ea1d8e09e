"""What a fitted topic model says of documents: topics, scores; and what it is saved with."""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from . import _data, _diagnostics, _to_sklearn, _topics
from ._settings import flag

if TYPE_CHECKING:
    from numpy.typing import NDArray


class LdaReadout(ClassNamePrefixFeaturesOutMixin, TransformerMixin):
    """The attributes and methods of a topic model that need no fitting.

    scikit-learn wraps `transform` for `set_output` in the class that defines it, hence the mixins here.
    """

    @property
    def components_(self) -> NDArray[np.floating[Any]]:
        check_is_fitted(self, "_core")
        return self._cached("components", lambda: self._kept(self._core.components(self._threads())))

    @property
    def exp_dirichlet_component_(self) -> NDArray[np.floating[Any]]:
        check_is_fitted(self, "_core")
        return self._cached("expected", lambda: self._kept(self._core.expected_topics(self._threads())))

    def _kept(self, numbers):
        """Numbers of the type that X had in `fit`."""
        return numbers.astype(np.float32) if self.__dict__.get("_keeps_single") else numbers

    @property
    def _n_features_out(self):
        return self._record["params"]["topics"]

    def _new_docs(self, X, whom):
        check_is_fitted(self, "_core")
        return self._docs(X, reset=False, whom=whom, known=self._core)

    def transform(self, X: Any, *, normalize: bool = True) -> NDArray[np.floating[Any]]:
        """Find the topics of documents.

        Parameters
        ----------
        X : {array-like, sparse matrix, path} of shape (n_samples, n_features)
            How often each document has each word.
        normalize : bool, default=True
            Whether each row is made to sum to 1; if not, it is gamma.

        Returns
        -------
        doc_topic_distr : ndarray of shape (n_samples, n_components)
            Each document's topics.
        """
        data = self._new_docs(X, "transform")
        return self._core.transform(data, flag("normalize", normalize), self._single, self._threads_for(data))

    def fit_transform(self, X: Any, y: Any = None, *, normalize: bool = True) -> NDArray[np.floating[Any]]:
        """Learn the topics of documents and find them in these; see `fit` and `transform`.

        Parameters
        ----------
        X : {array-like, sparse matrix, path} of shape (n_samples, n_features)
            Documents.
        y : None
            Ignored.
        normalize : bool, default=True
            Whether to return shares, which sum to 1, or gamma.

        Returns
        -------
        topics : ndarray of shape (n_samples, n_components)
            Each document's topics.
        """
        return self.fit(X, y).transform(X, normalize=normalize)

    def score(self, X: Any, y: Any = None) -> float:
        """Compute the bound on the log-likelihood of documents, every constant included.

        Parameters
        ----------
        X : {array-like, sparse matrix, path} of shape (n_samples, n_features)
            Documents.
        y : None
            Ignored.

        Returns
        -------
        score : float
            The bound.
        """
        data = self._new_docs(X, "score")
        bound, _ = self._core.bound(data, self._threads_for(data))
        return bound

    def perplexity(self, X: Any, sub_sampling: bool = False) -> float:
        """Compute exp(-score / words).

        Parameters
        ----------
        X : {array-like, sparse matrix, path} of shape (n_samples, n_features)
            How often each document has each word.
        sub_sampling : bool, default=False
            Whether X is a part of `total_samples` documents, to whose number its bound is scaled up.

        Returns
        -------
        perplexity : float
            Lower is better.
        """
        data = self._new_docs(X, "perplexity")
        if flag("sub_sampling", sub_sampling):
            scores = self._core.scores(data, self._threads_for(data))
            return float(np.exp(-scores["full"]))
        return _topics.perplexity_of(*self._core.bound(data, self._threads_for(data)))

    def heldout_scores(self, X: Any) -> dict[str, float]:
        """Score documents that the model has not seen, in nats per word; higher is better.

        Parameters
        ----------
        X : {array-like, sparse matrix, path} of shape (n_samples, n_features)
            How often each document has each word.

        Returns
        -------
        scores : dict of float
            'completion': every other word predicted from the rest of its document; 'unigram': the same from
            frequencies alone; 'local': the documents' bound; 'full': the same, the topics' cost included.
        """
        data = self._new_docs(X, "heldout_scores")
        return self._core.scores(data, self._threads_for(data))

    def report(
        self, path: str | PathLike[str], X: Any = None, texts: Any = None, feature_names: Any = None, by: Any = None
    ) -> None:
        """Write one page of HTML to look at the topics with: the same as ``lehr report``.

        Parameters
        ----------
        path : str or os.PathLike
            The file to write; one that is there is replaced.
        X : array-like or sparse matrix of shape (n_documents, n_features), default=None
            Documents to show: those that each topic has most of. They become part of the file.
        texts : list of str of length n_documents, default=None
            The texts of `X`, of which the page shows the first words; without them it shows words.
        feature_names : array-like of str of shape (n_features,), default=None
            The words, e.g. those of a vectorizer; without them words are numbers, unless `X` had names in `fit`.
        by : array-like of length n_documents, default=None
            What each document of `X` belongs to: the page shows the topics' shares by it, of dates by month.
        """
        check_is_fitted(self, "_core")
        core = self._core
        if feature_names is not None:
            core = core.with_words(_data.texts("feature_names", feature_names))
        data = None if X is None else self._new_docs(X, "report")
        if texts is not None:
            if X is None:
                raise ValueError("texts are those of X; give X, the counts of the same documents, as well")
            texts = _data.texts("texts", texts)
        groups = None if by is None else (str(getattr(by, "name", None) or "group"), _data.groups(by))
        if groups is not None and X is None:
            raise ValueError("by says what the rows of X belong to; give X, the counts of these documents, as well")
        if groups is not None and len(groups[1]) != data.shape[0]:
            raise ValueError(f"there are {len(groups[1])} values of by for {data.shape[0]} documents; give one for each")
        self._write_report(path, core.report(self._threads(), data, texts, groups))

    def save(self, path: str | PathLike[str], feature_names: Any = None) -> None:
        """Save the fitted model as a run directory, which the command line reads as well.

        Parameters
        ----------
        path : str or os.PathLike
            The directory to make. One that holds a run already is refused.
        feature_names : array-like of str, default=None
            The words, such as ``vectorizer.get_feature_names_out()``, so that ``lehr topics`` can show them. Not needed
            if the model knows them: from `fit`, from a data frame, or from a file.
        """
        check_is_fitted(self, "_core")
        names = None if feature_names is None else _data.texts("feature_names", feature_names)
        self._save(self._core if names is None else self._core.with_words(names), path)

    name_topics = _topics.name_topics
    diagnostics = _diagnostics.diagnostics
    topic_documents = _diagnostics.topic_documents
    to_pyldavis = _topics.to_pyldavis
    to_sklearn = _to_sklearn.topics_to_sklearn
