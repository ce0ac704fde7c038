"""What several boards show of promises: expressions, and the table of objectives."""

from exporter.metrics.catalogue.probe import SUCCESS
from exporter.metrics.catalogue.sla import BREACHES, CONSECUTIVE, OBJECTIVE, REQUESTS, THRESHOLD
from grafana.expr import PROBE, SLI, braces, by, increase
from grafana.panel import GOOD_ABOVE_ZERO, GREEN, GREY, ORANGE, RED, Json, column, override, table, values
from prometheus import evidence
from prometheus.sla_rules import BUDGET_LEFT, IN_A_ROW, PAGE_LOOKS

DOWN_AFTER = "2m"
KEEPS, BREACHING, DOWN = 2, 1, 0
STATES = values((KEEPS, "keeps", GREEN), (BREACHING, "breaches", ORANGE), (DOWN, "down", RED))
STATE_MEANS = "keeps; breaches: the alert InferenceSLABreach fires; down: no success in two minutes."


def broken(labels: str, where: str) -> str:
    """Return 1 for what the page says is broken; nothing for the rest."""
    return f'max by ({labels}) (ALERTS{{alertname="InferenceSLABreach", alertstate="firing", {where}}})'


def sure(where: str) -> str:
    """Return the effective evidence as a share of what pages, the highest over the windows that do."""
    shares = (f"{evidence.effective(look.window)}{braces(where)} / {look.nats}" for look in PAGE_LOOKS)
    named = (f'label_replace({share}, "look", "{i}", "", "")' for i, share in enumerate(shares))
    return f"max by ({SLI}) ({' or '.join(named)})"


def state(where: str) -> str:
    """Return 0 for a probe without a success in two minutes, 1 while its page fires, else 2."""
    answers = f"max by ({PROBE}) (max_over_time({SUCCESS.name}{braces(where)}[{DOWN_AFTER}]))"
    return f"({KEEPS} - {broken(PROBE, where)}) * {answers} or {KEEPS} * {answers}"


def kept(labels: str, where: str, window: str) -> str:
    """Return the share of requests that kept their objectives."""
    lost, held = (increase(labels, family, where, window) for family in (BREACHES, REQUESTS))
    return f"1 - {lost} / ({held} > 0)"


def left(where: str, window: str) -> str:
    """Return the share of the window's budget of breaches that is left; below 0 it is overdrawn."""
    lost, held = (increase(SLI, family, where, window) for family in (BREACHES, REQUESTS))
    return f"1 - {lost} / ({held} > 0) / {evidence.BUDGET}{braces(where)}"


def objectives(number: int, where: str, labels: tuple[str, ...], hidden: tuple[str, ...] = ()) -> Json:
    """Return the table with one row an objective, the worst first."""
    percent = ("unit", "percentunit")
    budget = {
        "mode": "absolute",
        "steps": [{"value": value, "color": color} for value, color in GOOD_ABOVE_ZERO],
    }
    text = ("custom.cellOptions", {"type": "color-text"})
    return table(
        number,
        "Promises",
        "Kept, n and the budget are of the window chosen above. Evidence: what chance does not explain, as a "
        "share of what pages, the highest of 15m to 6h; breaches in a row count as one witness, and "
        f"{IN_A_ROW} of them page besides. A P99 of fewer than 100 requests (n) is their maximum. 30 days: "
        "recorded by the rules, from the first full hour on.",
        column(kept(SLI, where, "$window")),
        column(by(SLI, "max", OBJECTIVE, where)),
        column(by(SLI, "max", THRESHOLD, where)),
        column(increase(SLI, REQUESTS, where)),
        column(left(where, "$window")),
        column(f"max by ({SLI}) ({BUDGET_LEFT}{braces(where)})"),
        column(sure(where)),
        column(by(SLI, "max", CONSECUTIVE, where)),
        labels=labels,
        hidden=hidden,
        sort="Budget left",
        names=("Kept", "Promised", "Within", "n", "Budget left", "Left of 30 days", "Evidence", "In a row"),
        overrides=(
            override("Kept", percent, ("decimals", 2), ("custom.cellOptions", {"type": "auto"})),
            override("Promised", percent),
            override("Within", ("unit", "s")),
            override("n", ("decimals", 0)),
            override("/left/i", percent, ("decimals", 0), ("thresholds", budget), text, regexp=True),
            override(
                "Evidence",
                percent,
                ("decimals", 0),
                ("thresholds", _steps((None, GREY), (0.5, ORANGE), (1, RED))),
                text,
            ),
            override("In a row", ("thresholds", _steps((None, GREY), (6, ORANGE), (IN_A_ROW, RED))), text),
        ),
    )


def _steps(*steps: tuple[float | None, str]) -> Json:
    return {"mode": "absolute", "steps": [{"value": value, "color": color} for value, color in steps]}
