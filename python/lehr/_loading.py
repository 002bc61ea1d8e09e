"""The parameters that an estimator would have had to make the run that it is loaded from."""

import numpy as np

from ._settings import steps_in_a_pass

STARTS = {
    "kmeans": "kmeans",
    "k-means++": "kmeans-plus-plus",
    "random": "responsibilities",
    "random_from_data": "points",
}
WEIGHTS = {"dirichlet_process": "sticks", "dirichlet_distribution": "dirichlet"}
COVARIANCES = {"full": "full", "diag": "diagonal"}


def fit_parameters(record):
    """The parameters that all estimators have."""
    fit, n_items = record["fit"], record["data"]["items"]
    passes = None if fit["steps"] is None else -(-fit["steps"] // steps_in_a_pass(n_items, fit["batch"]))
    return {
        **({} if passes is None else {"max_iter": passes}),
        "batch_size": fit["batch"],
        "effective_batch_size": None if fit["effective"] == "off" else fit["effective"],
        "noise": fit["law"],
        "noise_end": fit["noise_end"],
        "step_size": fit["step_size"],
        "guard": fit["guard"],
        "random_state": fit["seed"],
    }


def mixture_parameters(record, core):
    """The parameters of a mixture that makes the fit of a run again."""
    params, fit = record["params"], record["fit"]
    starts = {ours: theirs for theirs, ours in STARTS.items()}
    weights = {ours: theirs for theirs, ours in WEIGHTS.items()}
    covariances = {ours: theirs for theirs, ours in COVARIANCES.items()}
    # Priors that the command line took from the data have other defaults than ours.
    known = core.attributes() if params.get("defaults") != "scikit-learn" else {}
    prior = {
        "weight_concentration_prior": known.get("weight_concentration_prior_", params.get("concentration")),
        "mean_precision_prior": known.get("mean_precision_prior_", params.get("mean_precision")),
        "degrees_of_freedom_prior": known.get("degrees_of_freedom_prior_", params.get("degrees_of_freedom")),
        "mean_prior": known.get("mean_prior_", params.get("mean")),
        "covariance_prior": known.get("covariance_prior_", _matrix(params.get("scatter"), record)),
    }
    return {
        **fit_parameters(record),
        **prior,
        **({"tol": fit["tol"]} if fit.get("tol_of") == "absolute" else {}),
        "n_components": params["components"],
        "covariance_type": covariances[params["covariance"]],
        "init_params": starts[params["start"]],
        "init_units": params.get("start_units", "deviations"),
        "weight_concentration_prior_type": weights[params["weights"]],
        "reg_covar": params.get("ridge", 0.0),
        "sort_components": params["sort"],
        "n_init": fit["n_init"],
    }


def _matrix(scatter, record):
    """A number, a diagonal or a matrix that was written as a list."""
    if scatter is None:
        return None
    d = len(record["frozen"]["units"]["shift"])
    return scatter[0] if len(scatter) == 1 < d else np.reshape(scatter, (d, d)) if len(scatter) == d * d else scatter


def lda_parameters(record, _core):
    """The parameters of an LDA model that makes the fit of a run again."""
    params, fit = record["params"], record["fit"]
    shared = fit_parameters(record)
    online = fit["batch"] is not None
    return {
        **shared,
        "n_components": params["topics"],
        "doc_topic_prior": params["alpha"],
        "topic_word_prior": params["eta"],
        "learning_method": "online" if online else "batch",
        "batch_size": fit["batch"] if online else 128,
        "mean_change_tol": params["local_tol"],
        "max_doc_update_iter": params["local_iterations"],
        "learn_doc_topic_prior": params["learn_alpha"],
        "learn_topic_word_prior": params["learn_eta"],
        "exact": params["exact"],
        "warm": fit["warm"],
    }


def pmf_parameters(record, _core):
    """The parameters of a matrix factorisation that makes the fit of a run again."""
    params = record["params"]
    names = ("prior_variance", "noise_variance", "learn_noise", "ard", "gauge", "centre", "biases")
    return {
        **fit_parameters(record),
        **{name: params[name] for name in names},
        "n_components": params["dims"],
        "tol": record["fit"]["tol"],
        "n_init": record["fit"]["n_init"],
    }
