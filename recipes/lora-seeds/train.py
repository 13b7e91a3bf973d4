"""A low-rank update of a fixed matrix, fitted by gradient descent: small enough for any machine, real enough to vary."""

import argparse
import json
import random
import time
from pathlib import Path

SIZE, STEPS, RATE = 24, 60, 0.02


def product(left, right):
    columns = list(zip(*right))
    return [[sum(a * b for a, b in zip(row, column)) for column in columns] for row in left]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--rank", type=int, required=True)
    parser.add_argument("--out", type=Path, required=True)
    said = parser.parse_args()
    truth = random.Random(0)
    target = product(
        [[truth.gauss(0, 0.5) for _ in range(6)] for _ in range(SIZE)],
        [[truth.gauss(0, 0.5) for _ in range(SIZE)] for _ in range(6)],
    )
    rng = random.Random(said.seed)
    a = [[rng.gauss(0, 0.3) for _ in range(said.rank)] for _ in range(SIZE)]
    b = [[rng.gauss(0, 0.3) for _ in range(SIZE)] for _ in range(said.rank)]
    loss = 0.0
    with (said.out / "units.jsonl").open("w") as units:
        for step in range(STEPS):
            began = time.perf_counter()
            error = [[x - y for x, y in zip(*rows)] for rows in zip(product(a, b), target)]
            loss = sum(x * x for row in error for x in row) / SIZE**2
            grad_a = product(error, list(zip(*b)))
            grad_b = product(list(zip(*a)), error)
            a = [[x - RATE * g for x, g in zip(*rows)] for rows in zip(a, grad_a)]
            b = [[x - RATE * g for x, g in zip(*rows)] for rows in zip(b, grad_b)]
            units.write(json.dumps({"id": step, "ms": round(1000 * (time.perf_counter() - began), 3)}) + "\n")
    (said.out / "metrics.json").write_text(json.dumps({"eval_loss": round(loss, 6)}))
    print(f"seed {said.seed} rank {said.rank}: loss {loss:.6f}")


main()
