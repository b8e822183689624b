"""Values of the formulas to 40 digits, calculated from definitions and not by the methods of the program.

Sums of states in place of recursions, series in place of roots, and decimal arithmetic throughout.
`python tests/model/definitions.py` rewrites crates/model/tests/golden/exact.tsv.
"""

import pathlib
from decimal import Decimal as D
from decimal import getcontext

getcontext().prec = 40
GOLDEN = pathlib.Path(__file__).resolve().parents[2] / "crates/model/tests/golden/exact.tsv"


def erlang_b(c, a):
    term, total = D(1), D(1)
    for k in range(1, c + 1):
        term = term * a / k
        total += term
    return term / total


def erlang_c(c, a):
    b = erlang_b(c, a)
    return c * b / (c - a * (1 - b))


def bisect(low, high, f):
    low, high = D(low), D(high)
    negative = f(low) < 0
    for _ in range(120):
        middle = (low + high) / 2
        low, high = (middle, high) if (f(middle) < 0) == negative else (low, middle)
    return (low + high) / 2


class Mmc:
    """Times in ms, rates in 1/s."""

    def __init__(self, rate, service, c):
        self.rate, self.mu, self.c = D(rate), D(service), c
        self.theta = c * self.mu - self.rate
        self.p_wait = erlang_c(c, self.rate / self.mu)
        self.wait = 1000 * self.p_wait / self.theta
        self.response = self.wait + 1000 / self.mu

    def exceeds(self, ms):
        t = ms / 1000
        first = (-self.mu * t).exp()
        if self.theta == self.mu:
            return first * (1 + self.p_wait * self.mu * t)
        return first + self.p_wait * self.mu * (first - (-self.theta * t).exp()) / (self.theta - self.mu)

    def response_quantile(self, share):
        return bisect(0, 1000 * (1 / self.mu + 1 / self.theta) * 40, lambda t: 1 - D(share) - self.exceeds(t))

    def wait_quantile(self, share):
        beyond = 1 - D(share)
        return max(D(0), 1000 * (self.p_wait / beyond).ln() / self.theta)


def mdc_wait(rho, c):
    """In service times, by Spitzer's identity; for one server by Pollaczek and Khinchine."""
    rho = D(rho)
    if c == 1:
        return rho / (2 * (1 - rho))
    total, factorial_ln, term, n = D(0), D(0), D(1), 0
    while n == 0 or term > D("1e-15") * total:
        n += 1
        level, mean = n * c, rho * n * c
        factorial_ln += sum(D(k).ln() for k in range(level - c + 1, level + 1))
        p = (level * mean.ln() - mean - factorial_ln).exp()
        term, k, more = D(0), level, D(1)
        while more > term * D("1e-18"):
            k += 1
            p = p * mean / k
            more = p * (k - level)
            term += more
        term /= n
        total += term
    return total / (rho * c)


def dmc(rate, service, c):
    rate, mu = D(rate), D(service)
    rho = rate / (c * mu)
    # The other root is 1: 1 − σ is about 2(1 − ρ), so ρ lies between the two.
    sigma = bisect(0, rho, lambda s: s - (-(1 - s) / rho).exp())
    phi = [(-k * mu / rate).exp() for k in range(c + 1)]
    total, choose, product = 1 / (1 - sigma), D(1), D(1)
    for k in range(1, c + 1):
        choose = choose * (c - k + 1) / k
        product *= phi[k] / (1 - phi[k])
        ratio = (c * (1 - phi[k]) - k) / (c * (1 - sigma) - k)
        total += choose / (product * (1 - phi[k])) * ratio
    p_wait = 1 / total / (1 - sigma)
    return p_wait, 1000 * p_wait / (c * mu * (1 - sigma))


def closed(clients, think_ms, service, c):
    """Throughput and mean response."""
    mu, weights = D(service), [D(1)]
    if think_ms == 0:
        throughput = min(clients, c) * mu
    else:
        for n in range(1, clients + 1):
            weights.append(weights[-1] * (clients - n + 1) * 1000 / (D(think_ms) * min(n, c) * mu))
        busy = sum(w * min(n, c) for n, w in enumerate(weights)) / sum(weights)
        throughput = busy * mu
    return throughput, 1000 * clients / throughput - D(think_ms)


def crossing(first, second, below):
    return bisect("0.001", below, lambda r: Mmc(r, *first).response - Mmc(r, *second).response)


def rows(rho_max):
    """(name, arguments, value): every number that the formulas promise to 1e-9; of M/D/c, which is slow
    near saturation, up to a utilisation."""
    slow = D(3) / 2
    third = D(40) / 3
    for rate, mu, c in [(150, 20, 8), (150, third, 16), (150, 40, 4), (150, 40 / slow, 8), (150, 80, 2), (150, 160, 1)]:
        q = Mmc(rate, mu, c)
        yield from (
            ("mmc", (rate, mu, c, name), value)
            for name, value in [
                ("p_wait", q.p_wait),
                ("wait", q.wait),
                ("response", q.response),
                ("queue_length", q.rate * q.wait / 1000),
                ("in_system", q.rate * q.response / 1000),
                *[(f"response_{p}", q.response_quantile(p)) for p in ("0.5", "0.9", "0.95", "0.99", "0.999")],
                *[(f"wait_{p}", q.wait_quantile(p)) for p in ("0.95", "0.99")],
            ]
        )
    table = [(1, "0.5"), (1, "0.8"), (1, "0.9"), (2, "0.5"), (2, "0.75"), (3, D(2) / 3), (4, "0.75"), (5, "0.8")]
    table += [(8, "0.5"), (8, "0.75"), (10, "0.8"), (16, "0.9"), (20, "0.9"), (50, "0.9"), (100, "0.9"), (100, "0.95")]
    for c, rho in [*table, (2, "0.999"), (1000, "0.99"), (1000, "0.9999")]:
        q = Mmc(D(rho) * c, 1, c)
        yield "erlang_b", (c, q.rate), erlang_b(c, q.rate)
        yield "mmc", (q.rate, 1, c, "p_wait"), q.p_wait
        yield "mmc", (q.rate, 1, c, "wait"), q.wait
    for rate in (80, 100, 120, 140, 155):
        for mu, c in [(20, 8), (third, 16), (40, 4), (40 / slow, 8)]:
            yield "mmc", (rate, mu, c, "response"), Mmc(rate, mu, c).response
    for c in (1, 2, 4, 8, 16):
        for rho in filter(lambda rho: D(rho) <= D(rho_max), ("0.5", "0.8", "0.9", "0.9375", "0.95")):
            yield "mdc", (D(rho) * c, 1, c), 1000 * mdc_wait(rho, c)
    for rho in ("0.5", "0.8", "0.9", "0.9375", "0.95"):
        yield "dmc", (rho, 1, 1, "wait"), dmc(rho, 1, 1)[1]
    for mu, c in [(20, 8), (third, 16), (40, 4), (40 / slow, 8)]:
        p_wait, wait = dmc(150, mu, c)
        yield "dmc", (150, mu, c, "p_wait"), p_wait
        yield "dmc", (150, mu, c, "wait"), wait
    # Utilisations as close to 1 as the numbers of the program get, exactly as it has them.
    for mu, c in [(20.0, 8), (0.1, 3), (7.3, 16), (1.0, 1)]:
        for spare in (1e-6, 1e-10, 6e-14, 2e-15):
            rate = D(mu * c * (1 - spare))
            q = Mmc(rate, D(mu), c)
            p_wait, wait = dmc(rate, D(mu), c)
            yield "mmc", (rate, D(mu), c, "p_wait"), q.p_wait
            yield "mmc", (rate, D(mu), c, "wait"), q.wait
            yield "dmc", (rate, D(mu), c, "p_wait"), p_wait
            yield "dmc", (rate, D(mu), c, "wait"), wait
    for clients, think in [(32, 500), (64, 500), (8, 0), (16, 0), (200, 500)]:
        throughput, response = closed(clients, think, 20, 8)
        yield "closed", (clients, think, 20, 8, "throughput"), throughput
        yield "closed", (clients, think, 20, 8, "response"), response
    for d in ("1.2", "1.3", "1.5", "1.7", "1.9"):
        yield "crossing", (20, 8, 20 / D(d), 16), crossing((20, 8), (20 / D(d), 16), D("159.999999"))
        yield "crossing", (40, 4, 40 / D(d), 8), crossing((40, 4), (40 / D(d), 8), D("159.999999"))
    yield "crossing", (third, 16, 40, 4), crossing((third, 16), (40, 4), D("159.999999"))
    speed_ups = [(2, s) for s in ("1.95", "1.9", "1.8", "1.7", "1.6", "1.5", "1.4")]
    speed_ups += [(p, p * D(e)) for p in (4, 8) for e in ("0.95", "0.9", "0.8", "0.7", "0.6", "0.5")]
    speed_ups += [(p, p / sum(D(1) / k for k in range(1, p + 1))) for p in (2, 4, 8)]
    for parts, s in speed_ups:
        c, mu = 8 // parts, 20 * D(s)
        yield "crossing", (mu, c, 20, 8), crossing((mu, c), (20, 8), c * mu * D("0.999999999"))


def text(rho_max="1"):
    return "".join(
        f"{name}\t{' '.join(f'{a:.17g}' if isinstance(a, D) else str(a) for a in arguments)}\t{value:.20g}\n"
        for name, arguments, value in rows(rho_max)
    )


if __name__ == "__main__":
    GOLDEN.write_text(text())
