"""Tables of the figures."""

from compare.engines import BEFORE, SHORTTAIL

TIMES = ["mean_us", "p50_us", "p99_us"]


def times(modes, titles):
    """Modes down, engines across: mean / p50 / p99, and what Shorttail takes of the best peer; of that
    in brackets what it takes where each query counts with its fastest pass."""
    names = list(next(iter(modes.values()))["engines"])
    earlier = ["over before: mean", "p99"] if {BEFORE, SHORTTAIL} <= set(names) else []
    rows = [["mode", *(titles[name] for name in names), "mean ratio", "p50 ratio", "p99 ratio", *earlier]]
    for mode, measured in modes.items():
        engines = measured["engines"]
        cells = [" / ".join(figure(engines[name][time]) for time in TIMES) for name in names]
        fastest = {name: figures["fastest"] for name, figures in engines.items()}
        rows.append([mode, *cells,
                     *(f"{ratio(engines, time)} ({ratio(fastest, time)})" for time in TIMES),
                     *(f"{over_before(engines, time)} ({over_before(fastest, time)})"
                       for time in ("mean_us", "p99_us") if earlier)])
    return aligned(rows, 1)


def threads(found, titles):
    """One row a mode and number of threads: times of single queries, and answers a second of many clients."""
    rows = [["mode", "threads", *(f"{title}: p50 / p99 (p99 of all), a second" for title in titles.values())]]
    for mode, by_threads in found.items():
        for count, engines in by_threads.items():
            cells = []
            for name in titles:
                if name not in engines:
                    cells.append("-")
                    continue
                one = engines[name]
                rate = "-" if one["saturated_qps"] is None else f"{one['saturated_qps']:,.0f}"
                cells.append(f"{figure(one['p50_us'])} / {figure(one['p99_us'])} "
                             f"({figure(one['every_p99_us'])}), {rate}")
            rows.append([mode, str(count), *cells])
    return aligned(rows, 1)


def costs(found, titles):
    """What indexing took, one row a build, and Shorttail's share of the best peer's."""
    figures = [("seconds", "wall_s", 1), ("CPU seconds", "cpu_s", 1),
               ("peak MB", "peak_memory_bytes", 1e6), ("index MB", "index_bytes", 1e6)]
    rows = [["engine", "segments", "made", "threads", "documents", *(f[0] for f in figures),
             "texts MB", "load"]]
    for (segments, threads), engines in found.items():
        for name, cost in engines.items():
            rows.append([titles[name], segments, str(cost["segments"]), str(threads),
                         f"{cost['documents']:,}",
                         *(f"{cost[key] / unit:,.1f}" for _, key, unit in figures),
                         f"{cost['store_bytes'] / 1e6:,.1f}" if cost["store_bytes"] else "-",
                         f"{cost['load']:.1f}"])
        rows.append(["ratio", segments, "", str(threads), "",
                     *(ratio(engines, key) for _, key, _ in figures), "", ""])
    return aligned(rows, 2)


def ratio(engines, key):
    """Shorttail's figure over the best of its peers."""
    peers = [figures[key] for name, figures in engines.items() if name not in (SHORTTAIL, BEFORE)]
    if SHORTTAIL not in engines or not peers or not min(peers):
        return "-"
    return f"{engines[SHORTTAIL][key] / min(peers):.2f}"


def over_before(engines, key):
    """Shorttail's figure over that of an earlier commit."""
    return f"{engines[SHORTTAIL][key] / engines[BEFORE][key]:.3f}"


def figure(us):
    """Three digits or more: 8.41, 16.8, 404, 2738."""
    return f"{us:.2f}" if us < 10 else f"{us:.1f}" if us < 100 else f"{us:.0f}"


def aligned(rows, left_columns):
    """Formats a table with the first columns aligned left, the others right."""
    widths = [max(map(len, column)) for column in zip(*rows)]
    return "\n".join(
        "  ".join(cell.ljust(width) if at < left_columns else cell.rjust(width)
                  for at, (cell, width) in enumerate(zip(row, widths))).rstrip()
        for row in rows)
