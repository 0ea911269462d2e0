# Measures a statement: SETUP STATEMENT LOOPS VALUES. Without loops it finds out how many take a tenth of a second.
import json, math, os, sys, time, timeit

setup, statement = sys.argv[1:3]
loops, values = map(int, sys.argv[3:5])
timer = timeit.Timer(statement, setup, time.perf_counter, {"__name__": "__main__"})
if loops:
    answer = {"@loops": loops, "wall_time": [timer.timeit(loops) / loops for _ in range(values)]}
else:
    loops, seconds = 1, timer.timeit(1)
    while seconds < 0.1:
        wanted = math.ceil(1.05 * loops * 0.1 / max(seconds, 1e-9))
        loops = min(max(wanted, loops + 1), loops * 10)
        seconds = timer.timeit(loops)
    answer = {"@loops": loops}
text = json.dumps(answer)
path = os.environ.get("LAPWING_METRICS")
if path is None:
    print("\n" + text)
else:
    with open(path, "w") as file:
        file.write(text)
