"""The planted traces cover what they are to cover, and the program reads the same runs from them."""

import json

import pytest
from planted import CAUSES, PLANTS, planted, with_and_without, without_cause
from scenes import NOISE, SHAPES, as_planned
from settings import settings
from writers import EVENTS, write

NUMBERS = [pytest.param(number, id=f"{number}-{plant.kind}-{plant.name}") for number, plant in enumerate(PLANTS)]


def test_all_causes_shapes_noises_and_formats_are_covered():
    assert {plant.kind for plant in PLANTS} == set(CAUSES)
    assert {plant.name for plant in PLANTS} >= set(SHAPES)
    assert {plant.noise for plant in PLANTS} == set(NOISE)
    assert {plant.form for plant in PLANTS} == set(EVENTS)


def test_every_cause_costs_at_least_eight_percent():
    costs = [(it.cost, it.makespan) for it in map(planted, range(len(PLANTS)))]
    assert [cost for cost, makespan in costs if cost is not None and cost < 0.08 * makespan] == []


def test_no_cost_depends_on_the_order_of_submission():
    for number in range(len(PLANTS)):
        chosen, scene, without, _ = with_and_without(number)
        if without:
            events, run = EVENTS[chosen.form], scene.run()
            costs = [run.makespan(events) - it.run().makespan(events) for it in (without, as_planned(without, run))]
            assert costs[1] == pytest.approx(costs[0], rel=0.05), (number, chosen.kind)


def check(run, form, store, folder):
    """The program finds the makespan, all tasks and copies of a run, and nothing wrong but lost attempts."""
    name, graph = write(run, folder, "trace", form)
    options = ("--graph", folder / graph) if graph else ()
    done = store.run("trace", "lint", folder / name, *options, "--format", "json")
    found = json.loads(done.stdout)
    assert found["makespan"] / 1e9 == pytest.approx(run.makespan(EVENTS[form]), abs=1e-9)
    assert (found["tasks"], found["transfers"]) == (len(run.attempts), len(run.transfers))
    assert done.returncode == any(it.lost for it in run.attempts), done.stdout


@pytest.mark.parametrize("number", NUMBERS)
def test_a_planted_trace_is_read_as_it_was_run(number, store, tmp_path):
    it = planted(number)
    check(it.run, it.plant.form, store, tmp_path)


@pytest.mark.parametrize("number", range(5))
def test_a_balanced_trace_is_read_as_it_was_run(number, store, tmp_path):
    check(*without_cause(number), store, tmp_path)


def test_every_setting_has_questions_of_other_settings():
    asked = {option for seed in range(20) for it in settings(seed)[2] for option in it.options[:1]}
    assert asked == {"--workers", "--free-transfers", "--instant-controller", "--faster"}
