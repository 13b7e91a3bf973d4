"""Fit a line by stochastic gradient steps; the parameters of the sweep come as PARAM_*, the loss goes to metrics.json."""

import json
import os
import random
import time

rate = float(os.environ.get("PARAM_learning_rate", "0.05"))
batch = int(os.environ.get("PARAM_batch_size", "32"))
alpha = float(os.environ.get("PARAM_alpha", "1"))  # how much a new gradient counts in the running mean

rng = random.Random(0)
slope = bias = mean_slope = mean_bias = 0.0
for step in range(400):
    started = time.monotonic()
    sum_slope = sum_bias = loss = 0.0
    for _ in range(batch):
        x = rng.uniform(-1, 1)
        error = slope * x + bias - (3 * x - 1 + rng.gauss(0, 0.1))
        sum_slope += error * x / batch
        sum_bias += error / batch
        loss += error * error / batch
    mean_slope += alpha * (sum_slope - mean_slope)
    mean_bias += alpha * (sum_bias - mean_bias)
    slope -= rate * mean_slope
    bias -= rate * mean_bias
    if step % 40 == 39:
        print("nodus.unit_done", json.dumps({"id": step, "ms": (time.monotonic() - started) * 1000}))

with open(os.path.join(os.environ["RUN_DIR"], "metrics.json"), "w") as file:
    json.dump({"loss": loss}, file)
print(f"rate {rate}, batch {batch}, alpha {alpha}: loss {loss:.4f}")
