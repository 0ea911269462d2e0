"""Searches of other kinds on tables of measured configurations, for the table in docs/calibration.md.

    python benches/optimise.py tables FOLDER          writes made-up tables (interactions of three, many levels, modes, constraints)
    python benches/optimise.py search TABLE.csv...    prints the mean regret after 30, 60 and 100 evaluations of each search

A table has a column per option and the cost in the last one. Every evaluation is the cost with 3 % of lognormal noise.
The recommended configuration is the one with the lowest measurement, or with the lowest expectation of those measured
where the search has a model. Needs numpy, scikit-learn and optuna. Lapwing on the same tables:

    LAPWING_TABLES=FOLDER cargo test --release -p lapwing-stats --test integration table_of_searches -- --ignored --nocapture
"""

import csv
import itertools
import os
import sys
import warnings
from concurrent.futures import ProcessPoolExecutor

import numpy as np

warnings.filterwarnings("ignore")
CHECKPOINTS = [30, 60, 100]
NOISE = 0.03
SEEDS = int(os.environ.get("SEEDS", "10"))


def read(path):
    with open(path) as file:
        rows = list(csv.reader(file))
    values = np.array([[float(x) for x in row] for row in rows[1:]])
    x, y = values[:, :-1], values[:, -1]
    return x[:, x.min(0) < x.max(0)], y


class Search:
    """The table, and what was measured of it."""

    def __init__(self, x, y, seed):
        self.x, self.y = x, y
        self.rng = np.random.default_rng(seed)
        self.rows, self.costs, self.regrets = [], [], []

    def measure(self, row):
        cost = self.y[row] * np.exp(NOISE * self.rng.normal())
        self.rows.append(row)
        self.costs.append(np.log(cost))
        return np.log(cost)

    def note(self, row):
        self.regrets.append(self.y[row] / self.y.min() - 1)

    def luckiest(self):
        return self.rows[int(np.argmin(self.costs))]


def random_search(search):
    order = search.rng.permutation(len(search.y))
    for count in range(1, CHECKPOINTS[-1] + 1):
        search.measure(order[(count - 1) % len(order)])
        if count in CHECKPOINTS:
            search.note(search.luckiest())


def expected_improvement(mean, deviation, lowest):
    from scipy.stats import norm

    deviation = np.maximum(deviation, 1e-9)
    z = (lowest - mean) / deviation
    return (lowest - mean) * norm.cdf(z) + deviation * norm.pdf(z)


def by_model(search, predict, first=12):
    """Random configurations, then those with the largest expected improvement over the whole table."""
    for row in search.rng.permutation(len(search.y))[:first]:
        search.measure(row)
    scaled = (search.x - search.x.min(0)) / (search.x.max(0) - search.x.min(0))
    for count in range(first, CHECKPOINTS[-1] + 1):
        costs = np.array(search.costs)
        mean, deviation = predict(scaled[search.rows], costs, scaled, search)
        if count in CHECKPOINTS:
            search.note(search.rows[int(np.argmin(mean[search.rows]))])
        improvement = expected_improvement(mean, deviation, mean[search.rows].min())
        improvement[search.rows] = -1
        search.measure(int(np.argmax(improvement)))


def forest(search):
    from sklearn.ensemble import RandomForestRegressor

    def predict(x, y, asked, search):
        model = RandomForestRegressor(30, min_samples_leaf=2, max_features=0.8, random_state=search.rng.integers(1 << 30))
        model.fit(x, y)
        each = np.array([tree.predict(asked) for tree in model.estimators_])
        return each.mean(0), each.std(0)

    by_model(search, predict)


def gaussian_process(search):
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import ConstantKernel, Matern, WhiteKernel

    kept = {}

    def predict(x, y, asked, search):
        scale = y.std() or 1.0
        kernel = kept.get("kernel")
        is_fitted = kernel is None or len(y) % 5 == 0
        start = ConstantKernel(1.0) * Matern(np.ones(x.shape[1]), (0.1, 30), nu=2.5) + WhiteKernel(0.1, (1e-4, 1))
        model = GaussianProcessRegressor(start if is_fitted else kernel, optimizer="fmin_l_bfgs_b" if is_fitted else None)
        model.fit(x, (y - y.mean()) / scale)
        kept["kernel"] = model.kernel_
        mean, deviation = model.predict(asked, return_std=True)
        noise = model.kernel_.k2.noise_level
        return mean, np.sqrt(np.maximum(deviation**2 - noise, 1e-12))

    by_model(search, predict)


def tree_parzen(search):
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    known = {tuple(row): at for at, row in enumerate(search.x)}
    levels = [sorted(set(column)) for column in search.x.T]
    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=int(search.rng.integers(1 << 30)), multivariate=True))
    misses = 0
    while len(search.rows) < CHECKPOINTS[-1]:
        trial = study.ask()
        row = known.get(tuple(trial.suggest_categorical(str(at), own) for at, own in enumerate(levels)))
        # What is not in the table costs nothing here, in favour of this search.
        if row is None and misses < 2000:
            misses += 1
            study.tell(trial, state=optuna.trial.TrialState.FAIL)
            continue
        if row is None:
            row = int(search.rng.integers(len(search.y)))
        study.tell(trial, search.measure(row))
        if len(search.rows) in CHECKPOINTS:
            search.note(search.luckiest())


def annealing_neighbours(search):
    """Local search: a neighbour of the best one in the table, at times a random one."""
    search.measure(int(search.rng.integers(len(search.y))))
    while len(search.rows) < CHECKPOINTS[-1]:
        distance = (search.x != search.x[search.luckiest()]).sum(1).astype(float)
        distance[search.rows] = np.inf
        near = np.flatnonzero(distance == distance.min())
        row = search.rng.choice(near) if search.rng.random() > 0.15 else search.rng.integers(len(search.y))
        search.measure(int(row))
        if len(search.rows) in CHECKPOINTS:
            search.note(search.luckiest())


SEARCHES = [random_search, annealing_neighbours, tree_parzen, forest, gaussian_process]


def one(job):
    path, name, seed = job
    search = Search(*read(path), seed)
    globals()[name](search)
    return search.regrets


def compare(paths):
    with ProcessPoolExecutor(1) as pool:
        for path in paths:
            for search in SEARCHES:
                name = search.__name__
                regrets = list(pool.map(one, [(path, name, seed) for seed in range(SEEDS)]))
                mean = 100 * np.mean(regrets, 0)
                print(f"{os.path.basename(path)},{name}," + ",".join(f"{own:.2f}" for own in mean), flush=True)


def made_up(folder):
    rng = np.random.default_rng(42)

    def write(name, levels, cost, allowed=lambda run: True, most=6000):
        runs = [run for run in itertools.product(*[range(n) for n in levels]) if allowed(run)]
        if len(runs) > most:
            runs = [runs[at] for at in sorted(rng.choice(len(runs), most, replace=False))]
        with open(os.path.join(folder, name + ".csv"), "w") as file:
            file.write(",".join([f"f{at}" for at in range(len(levels))] + ["cost"]) + "\n")
            for run in runs:
                file.write(",".join(map(str, run)) + f",{100 * np.exp(cost(run)):.4f}\n")

    for number in range(3):
        # Interactions of two to four options.
        groups = [(rng.choice(11, size, replace=False), 0.25 * rng.normal()) for size in [1, 1, 1, 2, 2, 2, 3, 3, 3, 4]]
        write(f"triples{number}", [2] * 11, lambda run: sum(own for group, own in groups if all(run[at] for at in group)))
        # Requirements and exclusions.
        groups2 = [(rng.choice(13, size, replace=False), 0.2 * rng.normal()) for size in [1, 1, 1, 1, 2, 2, 2, 2, 3, 3]]
        write(
            f"constraints{number}",
            [2] * 13,
            lambda run: sum(own for group, own in groups2 if all(run[at] for at in group)),
            lambda run: run[0] + run[1] + run[2] == 1 and run[3] >= run[4] and not (run[5] and run[6]) and run[7] >= run[8],
        )
        # Many levels without an order, in two factors; each pair of levels has something of its own.
        main, pairs = 0.3 * rng.normal(size=(2, 14)), 0.15 * rng.normal(size=(14, 14))
        write(f"levels{number}", [14, 14, 2, 2, 2], lambda run: main[0][run[0]] + main[1][run[1]] + pairs[run[0], run[1]] + 0.1 * run[2] * run[3] - 0.05 * run[4])
        # Numbers with an optimum inside that depends on another option, as block sizes and threads have.
        write(
            f"numbers{number}",
            [9, 7, 5, 2, 2, 2],
            lambda run: 0.06 * abs(run[0] - (3, 1, 6)[number] - 2 * run[3]) + 0.02 * (run[1] - (4, 6, 2)[number]) ** 2 + 0.1 * run[4] * (run[1] > 3) + 0.5 / (1 + run[2]) - 0.1 * run[5] * run[3],
        )
        # A mode decides which of the other options matter.
        effects = 0.25 * rng.normal(size=(4, 8))
        write(f"modes{number}", [4] + [2] * 8, lambda run: 0.3 * run[0] * (run[0] != 2 - number) + sum(effects[run[0]][at] * run[1 + at] for at in range(8)) * (1.5 if run[1] else 0.5))
        # A solver: the product of a smoother's and a cycle's numbers, with a cliff.
        write(
            f"solver{number}",
            [3, 7, 7, 4, 2],
            lambda run: np.log((1 + 0.4 * run[1] + 0.5 * run[2]) * (2 + 30 * np.exp(-((0.25, 0.5, 0.15)[number] + 0.2 * run[0]) * (run[1] + run[2]))) * (1.3 if run[3] == 3 else 1 + 0.1 * run[3])) + 0.05 * run[4],
            lambda run: run[1] + run[2] > 0,
        )


if __name__ == "__main__":
    if sys.argv[1] == "tables":
        made_up(sys.argv[2])
    else:
        compare(sys.argv[2:])
