"""JAX and optax in a loop of one's own, over a bar of tqdm."""

import sys

import jax
import jax.numpy as jnp
import optax
from tqdm import tqdm

key = jax.random.key(0)
weights = {
    "in": jax.random.normal(key, (64, 256)) / 8,
    "out": jax.random.normal(key, (256, 10)) / 32,
}
optimizer = optax.adam(1e-3)
state = optimizer.init(weights)


def loss_of(weights, x, y):
    scores = jnp.tanh(x @ weights["in"]) @ weights["out"]
    return optax.softmax_cross_entropy_with_integer_labels(scores, y).mean()


@jax.jit
def step(weights, state, x, y):
    loss, gradients = jax.value_and_grad(loss_of)(weights, x, y)
    updates, state = optimizer.update(gradients, state)
    return optax.apply_updates(weights, updates), state, loss


x, y = jax.random.normal(key, (64, 64)), jax.random.randint(key, (64,), 0, 10)
for turn in tqdm(range(2000 * int(sys.argv[1] if len(sys.argv) > 1 else 1))):
    weights, state, loss = step(weights, state, x, y)
    if turn % 500 == 0:
        print(turn, f"{float(loss):.4f}")
