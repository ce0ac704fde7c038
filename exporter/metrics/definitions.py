"""The words of the metrics' documentation that stand in no HELP text: clocks, bounds, label values."""

from exporter.metrics.catalogue.gpu import FAULT, THROTTLE
from exporter.metrics.catalogue.load import RUN_FAILURES
from exporter.metrics.catalogue.power import RESTARTS, SOURCE_FAULT
from exporter.metrics.catalogue.probe import FAILED, INVALID, KERNEL_STAMPS, LATENESS
from exporter.metrics.catalogue.schedule import CRASHES, MISSED
from exporter.metrics.catalogue.sla import REQUESTS, UNDECIDED
from exporter.model.clocks import INVALID_BOUND_RATIO, INVALID_BOUND_S, Clock

BOUND_FROM: dict[Clock, str] = {
    Clock.TTFT: "bound of the first token's event",
    Clock.TTFC: "bound of that event",
    Clock.ITL: "above: bound of the earlier event; below: bound of the later one",
    Clock.TPOT: "the bounds of the two events, divided by the same number",
    Clock.E2E: "bound of the [DONE] event; 0 for the end of the message",
}
"""Where the error bound of each clock comes from."""

CLOCK_RULES = f"""\
All clocks are taken on the client's side, with the monotonic clock, in seconds.

- **Stamps.** An arrival is when the kernel received the last segment of a read, not when this process read
  it. How late it read is `{LATENESS.name}`, and is part of no latency. Where the kernel
  gives no stamps the time of reading is used, and `{KERNEL_STAMPS.name}` says so.
- **Error bound.** One read can carry several events, and the kernel stamps its last segment only. The last
  event of a read has bound 0. An earlier one arrived somewhere between the read before (or the last time the
  socket was seen empty) and the stamp: that span is its bound, and a clock's bound is made of its events'.
- **Invalid samples.** A value whose bound exceeds both {INVALID_BOUND_S * 1000:g} ms and \
{INVALID_BOUND_RATIO * 100:g} % of it is counted in
  `{INVALID.name}` and not observed.
- **Objectives** are decided by the value and its bound, not by buckets: certainly within the threshold,
  certainly over it, or counted in `{UNDECIDED.name}`. An objective on `{Clock.ITL}` is kept by a
  request when every gap of it is within the threshold. A failed request is a breach of every objective of its
  probe; a request that has no such clock (a single token has no gap) is counted in none.
- **What is no token.** Role-only and empty deltas, keep-alive comments, pings and usage chunks.
- **Connection.** Name resolution, connect and TLS are phases of their own, before the clocks start. A probe
  with `connection: fresh` has its own series because it has its own probe name.
- **Failures give no latency.** The histograms hold successful probes only; shares of promises kept come from
  `{REQUESTS.name}` and its companions.
- **Buckets.** Each clock's histogram has the bounds listed below, every threshold that an objective sets on
  that clock, and the largest timeout, above which nothing can lie. A reload that changes this list restarts
  those histograms, and nothing else.
- **Few samples.** A P99 of fewer than 100 requests is their maximum: show the count beside it."""

FAULT_MEANINGS = {
    "no_library": "the driver's library is not on this host or in this container",
    "no_driver": "the kernel's driver is not loaded",
    "no_device": "there is nothing to read on this host",
    "no_permission": "this user may not read it",
    "uninitialized": "the library forgot that it was initialised",
    "version_mismatch": "library and kernel driver are of two versions",
    "lost": "the GPU fell off the bus, or was taken out",
    "reset_required": "the GPU must be reset",
    "hung": "a driver call has not come back",
    "unknown": "Unknown Error; on all GPUs at once: the container lost its devices",
    "worker": "the process that reads the devices is down or silent",
}

VALUE_MEANINGS: dict[tuple[str, str], dict[str, str]] = {
    (FAILED.name, "reason"): {
        "dns": "the name could not be resolved",
        "connect": "no connection: refused, unreachable, the proxy said no, or closed before any answer",
        "tls": "handshake or certificate",
        "auth": "401, 403, or the configured key could not be read",
        "rate_limited": "429",
        "http_3xx": "a redirect, which is not followed",
        "http_4xx": "another 4xx",
        "http_5xx": "5xx",
        "timeout_connect": "the deadline struck before there was a connection",
        "timeout_first_token": "the deadline struck before the first token",
        "timeout_stall": "the deadline struck in a gap longer than the stall timeout",
        "timeout_total": "the deadline struck while tokens were coming, or before a body was whole",
        "stream_error": "an error object in the answer, or finish_reason error or abort",
        "stream_truncated": "the answer ended with neither [DONE] nor a finish_reason, or broke off",
        "empty": "a proper end without a token",
        "invalid_response": "not what was asked for: HTML, another content type, bad JSON, too large",
        "content_mismatch": "the text is not what the probe expects",
        "internal": "a defect of the exporter",
    },
    (SOURCE_FAULT.name, "reason"): FAULT_MEANINGS,
    (FAULT.name, "reason"): FAULT_MEANINGS,
    (RESTARTS.name, "reason"): {
        "not_started": "the operating system did not start it",
        "timeout": "it said nothing for too long",
        "crashed": "it died of a signal or an exception",
        "bad_output": "it said what is not of this version",
        "version_mismatch": "the driver was replaced; only a new process can load its library",
        "hung": "NVML did not answer at all for a minute",
    },
    (THROTTLE.name, "reason"): {
        "idle": "nothing runs",
        "application_clocks": "somebody set the application clocks",
        "sw_power_cap": "the power limit",
        "hw_slowdown": "temperature, power supply or power brake, by the hardware",
        "sync_boost": "the slowest GPU of a sync boost group",
        "sw_thermal": "temperature, by the driver",
        "hw_thermal": "temperature, by the hardware",
        "hw_power_brake": "the power supply asked for it",
        "display_clocks": "somebody set the display clocks",
    },
    (MISSED.name, "cause"): {
        "overrun": "the previous run was still going",
        "busy": "the target was held exclusively, by a load test",
        "late": "the event loop or the host came to the slot after its grace",
        "over_budget": "not sent: the budget of tokens is spent",
        "client_overload": "this host could not drive the request in time",
        "cancelled": "given up by us: reload or shutdown",
    },
    (RUN_FAILURES.name, "reason"): {
        "busy": "another load test held the target, or its probes did not leave in time",
        "not_begun": "the workers could not begin: no key, no such host",
        "ended_early": "a bound was reached, the breaker opened, or a worker was lost",
    },
    (CRASHES.name, "ending"): {
        "crashed": "an unexpected exception",
        "overdue": "its own deadline did not end it; it was stopped",
        "abandoned": "it could not be stopped",
    },
}
"""For the labels whose values do not explain themselves: what each value means."""
