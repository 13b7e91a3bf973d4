"""One cell of the starter sweep: a parabola goes down by gradient steps; the final loss lands in metrics.json."""

import argparse
import json
import os
import pathlib
import time

parser = argparse.ArgumentParser()
parser.add_argument("--lr", type=float, required=True)
rate = parser.parse_args().lr

place = 3.0
for step in range(50):
    started = time.monotonic()
    place -= rate * 2 * place
    time.sleep(0.01)
    print("nodus.unit_done", json.dumps({"id": step, "ms": round((time.monotonic() - started) * 1000, 3)}), flush=True)

loss = place * place
run_dir = pathlib.Path(os.environ["RUN_DIR"])
(run_dir / "metrics.json").write_text(json.dumps({"loss": loss}))
print(f"lr {rate}: loss {loss:.6f}")
