"""Parameters of any estimator that would have made the run that it is loaded from."""

from ._settings import steps_in_a_pass


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
