"""What to do about it: for each reason of a failure its usual causes and the next steps.

The one source of what ``probe`` and the debug page say and of docs/troubleshooting.md.
"""

from dataclasses import dataclass

from exporter.model.outcome import Outcome


@dataclass(frozen=True, slots=True)
class Remedy:
    """Why it usually happens, and what to look at, the likeliest first."""

    cause: str
    steps: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Symptom:
    """Something that is wrong although requests end well."""

    name: str
    cause: str
    steps: tuple[str, ...]


REMEDIES: dict[Outcome, Remedy] = {
    Outcome.DNS: Remedy(
        "The host of base_url has no address here: misspelt, not yet published, or the resolver does "
        "not answer.",
        (
            "Ask the same resolver from the same host or pod: getent hosts HOST.",
            (
                "In Kubernetes check the search domains and ndots of the pod, and that a NetworkPolicy "
                "lets DNS out."
            ),
            "The name is looked up again for each new connection: nothing has to be restarted.",
        ),
    ),
    Outcome.CONNECT: Remedy(
        "Nothing accepts connections there (refused), nothing answers (unreachable), the proxy said "
        "no, or the server closed the connection before any response.",
        (
            (
                "Refused: is the server up, and on this port? It is refused for as long as weights are "
                "loading."
            ),
            (
                "Closed before a response on kept connections only: the server's idle timeout is shorter "
                "than the probe's interval; a probe with connection: fresh tells."
            ),
            ("Unreachable: firewall, NetworkPolicy, route; check HTTPS_PROXY and NO_PROXY of this process."),
        ),
    ),
    Outcome.TLS: Remedy(
        "The certificate is not accepted (unknown authority, another name, expired), or the server "
        "speaks no TLS on this port, or it wants a certificate of ours.",
        (
            "Own authority: tls.ca_file. Another name in the certificate: tls.server_name.",
            "A server that asks for a certificate: tls.cert_file and tls.key_file.",
            "The certificate expiry metric tells weeks before: alert on it.",
        ),
    ),
    Outcome.AUTH: Remedy(
        "The key is missing, wrong, expired or of another project (401), or it may not use this model "
        "(403); or the configured key could not be read, and nothing was sent.",
        (
            (
                "See which: the detail names the variable or file that cannot be read, else the server's "
                "status."
            ),
            "Keys are read at every use: a rotated key file needs no restart, a changed variable does.",
            "A gateway in front may want a header of its own: headers with value_env or value_file.",
        ),
    ),
    Outcome.RATE_LIMITED: Remedy(
        "429: the key's requests or tokens a minute, or the server's own queue limit, are used up; "
        "probes share them with your users.",
        (
            "The rate limit metrics show which limit and when it resets.",
            "Give probes a key of their own, a longer interval (every) or a smaller max_tokens.",
            "From your own server it means overload: look at its queue before you raise its limit.",
        ),
    ),
    Outcome.HTTP_3XX: Remedy(
        "The server redirects. That is not followed: the key must not go to another host, and the time"
        " would be another server's.",
        (
            (
                "Put the final address into base_url; usual causes are http instead of https, and a "
                "missing /v1."
            ),
        ),
    ),
    Outcome.HTTP_4XX: Remedy(
        "The server does not take the request: 404 for a wrong path or an unknown model, 400 or 422 "
        "for a parameter that it does not know.",
        (
            "404: base_url mostly ends in /v1; compare it and model with what a models probe lists.",
            (
                "400 after an upgrade: token_field: max_completion_tokens, temperature: null, or "
                "extra_body: {stream_options: null} for servers that refuse ours."
            ),
            "413 or a context length error: shorten the prompt or input_tokens.",
        ),
    ),
    Outcome.HTTP_5XX: Remedy(
        "The server or the gateway before it failed: 500 a crash in the model server, 502 and 503 no "
        "healthy replica, 504 a gateway that gave up first.",
        (
            "Probe the model server past the gateway, to learn which of the two it is.",
            ("500 under load is often memory: look for out-of-memory in its log and at its key-value cache."),
            "504: raise the gateway's timeout above the probe's, or streams are cut.",
        ),
    ),
    Outcome.TIMEOUT_CONNECT: Remedy(
        "The deadline struck before there was a connection: packets are dropped, or the accept queue "
        "is full.",
        (
            "Dropped without an answer is a firewall; a full queue comes and goes with load.",
            "See the phases: time in dns, connect or tls names the culprit.",
        ),
    ),
    Outcome.TIMEOUT_FIRST_TOKEN: Remedy(
        "The request was taken but no token came in time: it waits in the server's queue, or prefill "
        "is slow.",
        (
            (
                "Look at the server's queue length and running requests: a queue needs replicas or smaller"
                " batches."
            ),
            (
                "A long prompt alone: compare with a probe of a short prompt; prefix caching or chunked "
                "prefill help."
            ),
            "A cold replica loads weights on the first request: keep one warm.",
        ),
    ),
    Outcome.TIMEOUT_STALL: Remedy(
        "The stream began and then stopped for longer than stall_timeout: the request was preempted, a"
        " worker hangs, or something in between buffers.",
        (
            (
                "Preemption: the key-value cache is too small for the load; look at the server's "
                "preemption count."
            ),
            (
                "A hung worker in a group of several stops them all: look at its log and at the "
                "collectives' timeout."
            ),
            "A proxy that buffers sends in bursts: switch response buffering off there.",
        ),
    ),
    Outcome.TIMEOUT_TOTAL: Remedy(
        "Tokens were coming, or a body without stream was, but not all within timeout.",
        (
            ("Tokens a second x timeout must be above max_tokens; a lower max_tokens tells slow from stuck."),
            "Slow decode: too many requests in the batch, a throttled chip, or a neighbour on it.",
        ),
    ),
    Outcome.STREAM_ERROR: Remedy(
        "The server sent an error object after it had answered 200, or finish_reason error or abort.",
        (
            "The code in the detail is the server's; its log has the rest.",
            "Common under memory pressure, and when a replica is drained while requests run.",
        ),
    ),
    Outcome.STREAM_TRUNCATED: Remedy(
        "The answer stopped without its end: a replica died, a gateway cut the connection at its own "
        "timeout, or a deployment ended pods before their requests.",
        (
            "Always after the same time: a timeout of a gateway or load balancer (60 s is a favourite).",
            "At deployments: give pods a longer termination grace and let them drain.",
            "At random: look for restarts and out-of-memory kills of the model server.",
        ),
    ),
    Outcome.EMPTY: Remedy(
        "A proper answer without a token: a stop word at once, a content filter, or all of max_tokens "
        "spent on reasoning that is not shown.",
        (
            "Reasoning models need a larger max_tokens, or less effort (extra_body).",
            "Check the chat template: a wrong one makes models end at once.",
        ),
    ),
    Outcome.INVALID_RESPONSE: Remedy(
        "What came is not what was asked for: an HTML page of a gateway or login, another content "
        "type, broken JSON, vectors of another length.",
        (
            "HTML is almost always something in between: probe past it.",
            "base_url must end where the OpenAI paths begin, usually in /v1.",
            "A stream where none was asked for, or none where it was: the server ignores stream.",
        ),
    ),
    Outcome.CONTENT_MISMATCH: Remedy(
        "The answer is whole but not what the probe expects: another model, a broken template, a "
        "quantisation or sampling change; or the expectation is too strict.",
        (
            "Did the model hash change at the same time? Then another model or build answers.",
            "temperature: 0 and a short question make canaries steady; prefer contains over equals.",
        ),
    ),
    Outcome.OVER_BUDGET: Remedy(
        "Not sent: what it could cost at most would exceed the target's budget of the day (UTC).",
        (
            (
                "Raise the budget, lengthen every, or lower max_tokens; inference-exporter check prints a "
                "day's cost."
            ),
        ),
    ),
    Outcome.CLIENT_OVERLOAD: Remedy(
        "This host could not drive the request in time, so it says nothing about the server.",
        ("Look at the exporter's event loop lag and CPU limit; give it a core or fewer targets.",),
    ),
    Outcome.CANCELLED: Remedy(
        "Given up by us: a reload changed the probe, or the service stopped.",
        ("Nothing to do.",),
    ),
    Outcome.INTERNAL: Remedy(
        "A defect of the exporter.",
        ("The log says where; please report it with the version and that line.",),
    ),
}
"""Every outcome but ok."""

SYMPTOMS: tuple[Symptom, ...] = (
    Symptom(
        "High time to first token, normal gaps",
        "Requests queue, or prefill is slow; decode is fine.",
        (
            (
                "Queue: compare with the server's own queue time (server-reported durations) and its "
                "waiting requests."
            ),
            (
                "Prefill: cached input tokens show whether the prefix cache works; nonce: true measures "
                "without it."
            ),
        ),
    ),
    Symptom(
        "Normal time to first token, long gaps",
        "Decode is slow: large batches, preemption, a throttled or shared chip, buffering in between.",
        (
            "Gaps of a few fixed sizes with bursts after them: a proxy buffers.",
            "Gaps that grow with load: the batch; cap concurrency, or add replicas.",
            "Gaps that grow without load: clocks and temperature of the chip, neighbours on the host.",
        ),
    ),
    Symptom(
        "Low chip utilisation while requests queue",
        "The chip waits for its host: too small batches, tokenising on a starved CPU, slow interconnect.",
        (
            "Raise the server's batch limits until gaps grow; check that its CPU is not throttled.",
            (
                "Decode is bound by memory bandwidth: judge it by bandwidth, not by floating-point "
                "utilisation."
            ),
            (
                "Compare a kernel bench of today with its baseline: equal means the chip is well and the "
                "server is not."
            ),
        ),
    ),
    Symptom(
        "Fresh connections slow, kept ones fast",
        "Name resolution, handshake or a far load balancer.",
        ("The phases of the fresh probe say which; users without a warm connection pay it each time.",),
    ),
    Symptom(
        "Slots are missed",
        "The former run was still going (overrun), a load test held the target (busy), or this host "
        "was late.",
        ("overrun: timeout above every; late: see the exporter's event loop lag and its CPU limit.",),
    ),
)
