"""Cost of a step in the paper's two environments: through Gymnasium, and direct, past its wrappers and MuJoCo's clock.

    OMP_NUM_THREADS=1 python studies/benchmarks/rollouts.py --out studies/benchmarks/results/rollouts.json

`thalweg reproduce rl` steps environments directly. Both ways take the same random actions from the same starts, in processes of
their own (the clock is one for a process) and in turns, so that a busy machine slows them alike; their rewards must agree to
the last bit. This takes about a minute.
"""

import platform
import statistics
import subprocess
import sys
from pathlib import Path

from shared import make_parser, versions, write_json

from thalweg_studies.report.files import markdown

ENVIRONMENTS = {"swimmer": "Swimmer-v5", "inverted_double_pendulum": "InvertedDoublePendulum-v5"}
STEPS = 20_000

CODE = """
import sys, time
import gymnasium, numpy as np
make, name, steps = sys.argv[1], sys.argv[2], int(sys.argv[3])
if make:
    from thalweg_studies.rl import environments
    env = getattr(environments, make)()
else:
    env = gymnasium.make(name, disable_env_checker=True)
actions = np.random.default_rng(1).uniform(-1, 1, (steps, *env.action_space.shape)).astype("f")
env.reset(seed=1)
total, start = 0.0, time.process_time()
for action in actions:
    _, reward, failed, over, _ = env.step(action)
    total += float(reward)
    if failed or over:
        env.reset()
print(time.process_time() - start, repr(total))
"""


def step(make: str, name: str) -> tuple[float, str]:
    """Return the microseconds of a step, resets included, and the sum of the rewards."""
    command = [sys.executable, "-c", CODE, make, name, str(STEPS)]
    seconds, total = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout.split()
    return 1e6 * float(seconds) / STEPS, total


def main() -> None:
    parser = make_parser(__doc__)
    parser.add_argument("--rounds", type=int, default=7, help="number of measurements of each kind (default: 7)")
    parser.add_argument("--out", type=Path, help="JSON file")
    asked = parser.parse_args()
    found: dict[str, dict[str, list[float]]] = {}
    for make, name in ENVIRONMENTS.items():
        pairs = [(step("", name), step(make, name)) for _ in range(asked.rounds)]
        if len({total for pair in pairs for _, total in pair}) != 1:
            raise SystemExit(f"{name}: the rewards differ")
        found[name] = {"gymnasium": [plain for (plain, _), _ in pairs], "direct": [direct for _, (direct, _) in pairs]}
    if asked.out:
        packages = versions("gymnasium", "mujoco", "numpy")
        made = {"python": platform.python_version(), "versions": packages, "steps": STEPS, "microseconds": found}
        write_json(asked.out, made)
    rows: list[list[str]] = []
    for name, times in found.items():
        ratios = sorted(plain / direct for plain, direct in zip(times["gymnasium"], times["direct"], strict=True))
        middle = [f"{statistics.median(times[kind]):.0f} us" for kind in ("gymnasium", "direct")]
        rows.append([name, *middle, f"{statistics.median(ratios):.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f})"])
    print(markdown(["environment", "Gymnasium", "direct", "ratio (range)"], rows))


if __name__ == "__main__":
    main()
