"""Compare: two targets (providers, sites, chips) side by side, asked in the same way."""

from collections.abc import Callable, Sequence

from exporter.metrics.catalogue import power, probe
from exporter.metrics.catalogue.probe import DURATION, FAILED, ITL, PROBES, TOKENS, TPOT, TTFT
from exporter.metrics.family import Family
from grafana.board import WINDOW, Row, board, line, variable
from grafana.expr import by, mean, quantile, rate
from grafana.panel import GREEN, GREY, ORANGE, Json, Query, bars, hue, stat, timeseries

A = 'target="$a", probe="$probe"'
B = 'target="$b", probe="$probe"'
RATIO = ((None, GREEN), (1, GREY), (1.1, ORANGE))
WHOLE = (("TTFT", TTFT), ("E2E", DURATION))
PER_TOKEN = (("ITL", ITL), ("TPOT", TPOT))
CLOCKS = (*WHOLE, *PER_TOKEN)
HUES = (hue("/^A /", "blue"), hue("/^B /", "orange"))
COMPARABLE = "Only as comparable as the probe is: same prompt, same tokens, same schedule."


def share(q: float) -> str:
    """Return the name of a quantile."""
    return f"P{q * 100:g}"


def each(expr: Callable[[str], str]) -> tuple[Query, Query]:
    """Return a query of A's and one of B's, from an expression with matchers to fill in."""
    return Query(expr(A), "A {{target}}"), Query(expr(B), "B {{target}}")


def ratio(number: int, q: float) -> Json:
    """Return A's quantile of each clock divided by B's."""
    queries = [
        Query(f"{quantile(q, '', family, A)} / {quantile(q, '', family, B)}", name) for name, family in CLOCKS
    ]
    return stat(
        number,
        f"$a / $b, {share(q)}",
        f"Below 1, $a is faster. Over the window chosen above. {COMPARABLE}",
        *queries,
        unit="none",
        decimals=2,
        steps=RATIO,
        nothing="no value",
    )


def level(number: int, q: float, clocks: Sequence[tuple[str, Family]]) -> Json:
    """Return a quantile of some clocks, of both."""
    return bars(
        number,
        f"{' and '.join(name for name, _ in clocks)}, {share(q)}",
        f"Over the window chosen above. {COMPARABLE}",
        *(
            Query(quantile(q, "target", family, where), f"{name} {side} {{{{target}}}}")
            for name, family in clocks
            for side, where in (("A", A), ("B", B))
        ),
        unit="s",
    )


def course(number: int, title: str, family: Family, q: float) -> Json:
    """Return a quantile of both over time."""
    return timeseries(
        number,
        f"{title} {share(q)} over the window",
        COMPARABLE,
        *each(lambda where: quantile(q, "target", family, where)),
        unit="s",
        overrides=HUES,
    )


def energy(number: int, title: str, family: Family, meaning: str) -> Json:
    """Return an efficiency of both over time, where the power of what serves them is known."""
    return timeseries(
        number,
        title,
        f"{meaning} Where power: of the target says what serves it; true of probes where nobody else asks.",
        Query(by("target, work", "max", family, 'target="$a"'), "A {{target}} {{work}}"),
        Query(by("target, work", "max", family, 'target="$b"'), "B {{target}} {{work}}"),
        unit="none",
        overrides=HUES,
    )


def inverse(family: Family, where: str) -> str:
    """Return 1 / the mean of a clock over the window."""
    return f"1 / ({mean('target', family, where)})"


def success(where: str) -> str:
    """Return the share of requests that ended well, over the window."""
    return f"1 - {rate('target', FAILED, where, '$window')} / {rate('target', PROBES, where, '$window')}"


BOARD = board(
    "compare",
    "Compare",
    "Two targets side by side: latency, throughput, success. Pick the same target twice to see that "
    "ratios are 1.",
    (
        variable("a", "A", f"label_values({probe.TARGET_INFO.name}, target)", many=False),
        variable("b", "B", f"label_values({probe.TARGET_INFO.name}, target)", many=False),
        variable(
            "probe", "Probe", f'label_values({probe.PROBE_INFO.name}{{target="$a"}}, probe)', many=False
        ),
        WINDOW,
    ),
    (
        Row("How many times as long", (line(5, ratio(1, 0.5), ratio(2, 0.99)),)),
        Row(
            "How long",
            (
                line(
                    6,
                    level(3, 0.5, WHOLE),
                    level(4, 0.5, PER_TOKEN),
                    level(5, 0.99, WHOLE),
                    level(6, 0.99, PER_TOKEN),
                ),
            ),
        ),
        Row(
            "How it moved",
            (
                line(8, course(10, "TTFT", TTFT, 0.5), course(11, "TTFT", TTFT, 0.99)),
                line(8, course(12, "E2E", DURATION, 0.5), course(13, "E2E", DURATION, 0.99)),
                line(
                    8,
                    timeseries(
                        14,
                        "Output tokens a second of answering",
                        f"1 / mean TPOT: how fast text appears once it has begun. {COMPARABLE}",
                        *each(lambda where: inverse(TPOT, where)),
                        unit="none",
                        overrides=HUES,
                    ),
                    timeseries(
                        15,
                        "Success",
                        "Requests that ended well, over the window.",
                        *each(success),
                        unit="percentunit",
                        low=None,
                        high=1,
                        overrides=HUES,
                    ),
                    timeseries(
                        16,
                        "Output tokens asked for",
                        "A second of wall time, over the window: with the same prompt, who answers more.",
                        *each(lambda where: rate("target", TOKENS, f'{where}, kind="output"', "$window")),
                        unit="none",
                        overrides=HUES,
                    ),
                ),
                line(
                    8,
                    energy(17, "Tokens a joule", power.TOKENS_PER_JOULE, "Output tokens / joules."),
                    energy(
                        18,
                        "Electricity for a million tokens",
                        power.ELECTRICITY_COST,
                        "At power.price_per_kwh of the exporter, in its currency.",
                    ),
                ),
            ),
        ),
    ),
    since="now-3h",
)
