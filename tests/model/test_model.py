"""Agreement of the formulas and the simulator with independent ones: decimal arithmetic, and SimPy."""

import json
import random
import statistics

import definitions
import pytest
import simpy

# Student's t for 99.9 % and 9 degrees of freedom (10 runs).
T_999 = 4.781
# The program prints the 95 % interval of 10 runs.
T_950 = 2.262


def answers(shorttail, *arguments):
    return [json.loads(line) for line in shorttail("model", *arguments, "--json").splitlines()]


# ---- formulas ----------------------------------------------------------------------------------


def test_golden_values_are_those_of_the_definitions():
    """The file that the Rust tests read; the slowest rows to recalculate are left out."""
    golden = definitions.GOLDEN.read_text().splitlines()
    assert len(golden) == 294

    def is_slow(line):
        name, arguments, _ = line.split("\t")
        return name == "mdc" and float(arguments.split()[0]) > 0.9 * int(arguments.split()[2])

    assert [line for line in golden if not is_slow(line)] == definitions.text(rho_max="0.9").splitlines()


@pytest.mark.parametrize("rate, service, servers", [(150, 20, 8), (3, 1, 4), (990, 1, 1000), (7.5, 40, 1)])
def test_mmc(shorttail, rate, service, servers):
    (ours,) = answers(shorttail, "mmc", "--rate", rate, "--service", service, "--servers", servers)
    theirs = definitions.Mmc(rate, service, servers)
    expected = {
        "p_wait": theirs.p_wait,
        "wait_ms": theirs.wait,
        "response_ms": theirs.response,
        "response_p50_ms": theirs.response_quantile("0.5"),
        "response_p99_ms": theirs.response_quantile("0.99"),
        "wait_p99_ms": theirs.wait_quantile("0.99"),
    }
    for key, value in expected.items():
        assert ours[key] == pytest.approx(float(value), rel=1e-9), key


# ---- simulator ---------------------------------------------------------------------------------


def simulated(run):
    """Mean and half-width (99.9 %) of ten independent runs."""
    means = [run(random.Random(seed)) for seed in range(10)]
    return statistics.mean(means), T_999 * statistics.stdev(means) / 10**0.5


def assert_near(ours, theirs):
    mean, width = theirs
    our_width = ours["response_ms_ci95"] * T_999 / T_950
    assert abs(ours["response_ms"] - mean) <= (width**2 + our_width**2) ** 0.5, (ours, theirs)


def run_simpy(chance, interarrival_ms, row, pools, queries=4000):
    """Mean response. Every query takes a part time from `row` for each part and queues it at the pool
    that `pools(environment)[part]` names."""
    environment = simpy.Environment()
    resources = pools(environment)
    responses = []

    def part(resource, time_ms):
        with resource.request() as request:
            yield request
            yield environment.timeout(time_ms)

    def query(counted):
        arrived = environment.now
        times = row(chance)
        parts = [environment.process(part(resources[idx % len(resources)], t)) for idx, t in enumerate(times)]
        yield environment.all_of(parts)
        if counted:
            responses.append(environment.now - arrived)

    def arrive():
        for number in range(queries):
            yield environment.timeout(interarrival_ms(chance))
            environment.process(query(number >= queries // 10))

    environment.process(arrive())
    environment.run()
    return statistics.mean(responses)


@pytest.fixture(scope="session")
def rows(tmp_path_factory):
    """Search times of two different partitions, and their file."""
    chance = random.Random(42)
    rows = [(chance.lognormvariate(2.5, 0.8), chance.expovariate(1 / 12)) for _ in range(3000)]
    file = tmp_path_factory.mktemp("times") / "times.jsonl"
    file.write_text("".join(json.dumps({"times_ms": row}) + "\n" for row in rows))
    return rows, file


def test_shared_pool_of_unlike_parts(shorttail, rows):
    times, file = rows
    theirs = simulated(
        lambda chance: run_simpy(
            chance, lambda c: c.expovariate(0.11), lambda c: c.choice(times), lambda e: [simpy.Resource(e, 4)]
        )
    )
    (ours,) = answers(shorttail, "simulate", file, "--cores", 4, "--rate", 110)
    assert ours["load"] > 0.6
    assert_near(ours, theirs)


def test_pinned_partitions_with_constant_arrivals(shorttail, rows):
    times, file = rows
    theirs = simulated(
        lambda chance: run_simpy(
            chance,
            lambda c: 1000 / 90,
            lambda c: c.choice(times),
            lambda e: [simpy.Resource(e, 2), simpy.Resource(e, 2)],
        )
    )
    (ours,) = answers(
        shorttail, "simulate", file, "--cores", 4, "--rate", 90, "--layout", "pinned", "--arrivals", "constant"
    )
    assert_near(ours, theirs)


def test_a_ramp_into_a_queue_that_refuses(shorttail, rows):
    """Whole queries on three cores, at most two waiting, while the rate rises from 40 to 200 a second."""
    times, file = rows
    queries, first, last = 4000, 0.04, 0.2

    def one_run(chance):
        environment = simpy.Environment()
        cores = simpy.Resource(environment, 3)
        responses, refused = [], 0

        def query():
            arrived = environment.now
            with cores.request() as request:
                yield request
                yield environment.timeout(sum(chance.choice(times)))
            responses.append(environment.now - arrived)

        def arrive():
            nonlocal refused
            expected, length = 0.0, 2 * queries / (first + last)
            for number in range(queries):
                # The instant up to which this many queries are expected: first·t + (last − first)·t²/2·length.
                expected += chance.expovariate(1)
                slope = (last - first) / length
                at = ((first**2 + 2 * slope * expected) ** 0.5 - first) / slope
                yield environment.timeout(at - environment.now)
                if len(cores.queue) >= 2:
                    refused += number >= queries // 10
                elif number >= queries // 10:
                    environment.process(query())
                else:
                    environment.process(uncounted())

        def uncounted():
            with cores.request() as request:
                yield request
                yield environment.timeout(sum(chance.choice(times)))

        environment.process(arrive())
        environment.run()
        return statistics.mean(responses), refused / (queries - queries // 10)

    runs = [one_run(random.Random(seed)) for seed in range(10)]
    (ours,) = answers(
        shorttail, "simulate", file, "--cores", 3, "--arrivals", "ramp", "--from", 40, "--to", 200,
        "--partitions", 1, "--queue", 2, "--queries", queries, "--runs", 20,
    )  # fmt: skip
    means = [mean for mean, _ in runs]
    theirs = statistics.mean(means), T_999 * statistics.stdev(means) / 10**0.5
    assert_near(ours, theirs)
    shares = [share for _, share in runs]
    width = T_999 * statistics.stdev(shares) / 10**0.5
    assert abs(ours["refused"] / ours["offered"] - statistics.mean(shares)) <= 2 * width


def test_siblings_that_slow_each_other(shorttail):
    """Two contexts of a core, slower by 1.5 together, as a process whose pace changes."""

    def one_run(chance, queries=4000):
        now, left, queue, responses = 0.0, [], [], []
        arrivals = iter([chance.expovariate(0.02) for _ in range(queries)])
        next_arrival = next(arrivals)
        number = 0
        while left or queue or next_arrival is not None:
            pace = 1 / 1.5 if len(left) == 2 else 1.0
            ends = min((work / pace for work, _ in left), default=float("inf"))
            step = min(ends, next_arrival - now if next_arrival is not None else float("inf"))
            now += step
            left = [(work - step * pace, query) for work, query in left]
            if step == ends:
                done = min(range(len(left)), key=lambda idx: left[idx][0])
                responses.append((left[done][1][1], now - left[done][1][0]))
                del left[done]
            else:
                queue.append((now, number))
                number += 1
                gap = next(arrivals, None)
                next_arrival = None if gap is None else now + gap
            while queue and len(left) < 2:
                left.append((chance.expovariate(1 / 50), queue.pop(0)))
        return statistics.mean(response for idx, response in responses if idx >= queries // 10)

    (ours,) = answers(shorttail, "simulate", "--mean", "50ms", "--cores", 1, "--smt-slowdown", 1.5, "--rate", 20)
    assert_near(ours, simulated(one_run))
