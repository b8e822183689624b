"""Tables of the figures of whole services."""

import statistics

from compare.tables import aligned

FIGURES = [("p50 ms", "p50_ms"), ("p99 ms", "p99_ms"), ("p99.9 ms", "p999_ms"), ("CPU ms/query", "cpu_ms_query"),
           ("memory MB", "memory_bytes"), ("J/query", "joules_query"), ("failed", "failed")]


def shown(key, value):
    """Three digits or more; memory in MB."""
    if value is None:
        return "-"
    if key == "memory_bytes":
        return f"{value / 1e6:,.0f}"
    return f"{value:,.0f}" if key == "failed" else f"{value:.3g}" if value < 100 else f"{value:,.0f}"


def line(run):
    """One line for a run that has just ended."""
    figures = "  ".join(f"{title} {shown(key, run[key])}" for title, key in FIGURES)
    return f"{run['rate']:>6}/s  {run['generator']:<7} {run['service']:<11} {figures}"


def summary(runs):
    """Medians over the rounds, by rate, generator and service; under each group, Shorttail's share of every other service."""
    rows = [["rate", "generator", "service", *(title for title, _ in FIGURES)]]
    groups = dict.fromkeys((run["rate"], run["generator"]) for run in runs)
    for rate, generator in groups:
        of_group = [run for run in runs if (run["rate"], run["generator"]) == (rate, generator)]
        medians = {service: medians_of([run for run in of_group if run["service"] == service])
                   for service in dict.fromkeys(run["service"] for run in of_group)}
        for service, median in medians.items():
            rows.append([f"{rate}/s", generator, service, *(shown(key, median[key]) for _, key in FIGURES)])
        ours = medians.get("shorttail")
        for service, median in medians.items():
            if ours and service != "shorttail":
                rows.append(["", "", f"over {service}", *(share(ours[key], median[key]) for _, key in FIGURES)])
    return aligned(rows, 3)


def medians_of(runs):
    values = {key: [run[key] for run in runs if run[key] is not None] for _, key in FIGURES}
    return {key: statistics.median(one) if one else None for key, one in values.items()}


def share(ours, theirs):
    return f"{ours / theirs:.3f}" if ours is not None and theirs else "-"
