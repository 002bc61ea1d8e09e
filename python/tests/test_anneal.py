"""Annealing weights for others' gradients."""

import numpy as np
import pytest

from lehr.anneal import LossWeights, weights


@pytest.mark.parametrize("law", ["gaussian", "gamma", "subsample"])
def test_weights_have_mean_one_and_the_variance_of_m_examples(law):
    drawn = np.array([weights(200, 50, rng=seed, law=law) for seed in range(300)])
    np.testing.assert_allclose(drawn.mean(axis=1), 1.0, atol=1e-12)
    assert drawn.var() == pytest.approx(3.0, rel=0.1)
    assert law == "gaussian" or drawn.min() >= 0


def test_random_states_of_every_kind():
    np.testing.assert_array_equal(weights(9, 3, rng=1), weights(9, 3, rng=1))
    rng = np.random.default_rng(0)
    assert not np.array_equal(weights(9, 3, rng=rng), weights(9, 3, rng=rng))
    weights(9, 3, rng=np.random.RandomState(0))
    weights(9, 3)


@pytest.mark.parametrize(
    ("args", "message"),
    [((0, 1), "n = 0"), ((5, 0.0), "effective = 0"), ((5, np.nan), "effective = nan"), ((5, 2, 0, "pink"), "law = pink")],
)
def test_what_makes_no_sense_is_refused(args, message):
    with pytest.raises(ValueError) as caught:
        weights(*args)
    assert message in str(caught.value)


def test_loss_weights_change_with_the_step_and_repeat_with_the_seed():
    losses = np.ones(40, dtype=np.float32)
    one, other = LossWeights(10, seed=3), LossWeights(10, seed=3)
    first, second = one(losses), one(losses)
    assert first.dtype == np.float32 and not np.array_equal(first, second)
    np.testing.assert_array_equal(other(losses), first)
    rising = LossWeights(lambda step: 20 * step)
    assert rising(losses).std() > 0
    np.testing.assert_array_equal(rising(losses), losses)


def test_torch_tensors_stay_torch_tensors():
    torch = pytest.importorskip("torch")
    losses = torch.ones(16)
    assert torch.is_tensor(LossWeights(4)(losses)) and LossWeights(4)(losses).dtype == losses.dtype


def test_jax_arrays_stay_jax_arrays():
    jnp = pytest.importorskip("jax.numpy")
    losses = jnp.ones(16, dtype=jnp.float32)
    drawn = LossWeights(4, seed=2)(losses)
    assert type(drawn) is type(losses) and drawn.dtype == losses.dtype and drawn.device == losses.device
    np.testing.assert_allclose(drawn, LossWeights(4, seed=2)(np.ones(16)), rtol=1e-6)


class Elsewhere:
    """An array of a library that has the array API, on its own device."""

    def __init__(self, values, dtype, device):
        self.values, self.dtype, self.device = np.asarray(values, dtype=dtype), dtype, device
        self.shape = self.values.shape

    def __array_namespace__(self, api_version=None):
        return Library


class Library:
    @staticmethod
    def asarray(values, *, dtype, device):
        return Elsewhere(values, dtype, device)

    @staticmethod
    def isdtype(dtype, kind):
        return kind == "real floating" and np.issubdtype(dtype, np.floating)


def test_weights_go_where_the_losses_are():
    losses = Elsewhere(np.ones(12), np.float32, "second")
    for drawn, plain in (
        (weights(12, 3, rng=1, like=losses), weights(12, 3, rng=1)),
        (LossWeights(3, seed=1)(losses), LossWeights(3, seed=1)(np.ones(12))),
    ):
        assert isinstance(drawn, Elsewhere) and (drawn.dtype, drawn.device) == (np.float32, "second")
        np.testing.assert_allclose(drawn.values, plain, rtol=1e-6)
    assert weights(5, 2, rng=0, like=np.ones(3, dtype=np.float32)).dtype == np.float32
