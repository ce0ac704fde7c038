"""Good files, and what becomes of them."""

from pathlib import Path
from textwrap import dedent

import pytest

from exporter.config.load import load
from exporter.model.clocks import Clock
from exporter.model.configuration import EVERY_THREAD, BenchPlan, Configuration, WebOptions
from exporter.model.confirmation import Confirm
from exporter.model.kernel import Dtype
from exporter.model.quiet import QuietHours
from exporter.model.target import Connection, KeySource, Objective, Prices, ProbeSpec, Severity, TlsOptions
from tests.config.kinds import KINDS, ChatParams

ONE_TARGET = "targets:\n  - name: t\n    base_url: http://127.0.0.1:1/v1\n    model: m\n"
ONE_PROBE = "    probes: [{name: a, kind: chat}]\n"


def loaded(tmp_path: Path, text: str) -> Configuration:
    path = tmp_path / "config.yml"
    path.write_text(dedent(text), encoding="utf-8")
    return load(path, KINDS)


def probes(tmp_path: Path, *lines: str, defaults: str = "{}") -> list[ProbeSpec]:
    head = f"defaults: {defaults}\n{ONE_TARGET}    probes:\n"
    configuration = loaded(tmp_path, head + "".join(f"      - {line}\n" for line in lines))
    return list(configuration.targets[0].probes)


def test_smallest_file_gets_every_default(tmp_path: Path) -> None:
    (spec,) = probes(tmp_path, "{name: short, kind: chat}")
    assert spec == ProbeSpec(
        name="short",
        kind="chat",
        every_s=15.0,
        timeout_s=30.0,
        stall_timeout_s=15.0,
        connection=Connection.REUSE,
        params=ChatParams(),
        objectives=(),
        clocks=frozenset(Clock),
    )


def test_probe_overrides_defaults_overrides_built_in(tmp_path: Path) -> None:
    first, second = probes(
        tmp_path,
        "{name: a, kind: chat}",
        "{name: b, kind: chat, every: 2m, timeout: 10s, stall_timeout: 1.5s, connection: reuse}",
        defaults="{every: 1m, timeout: 20s, stall_timeout: 4s, connection: fresh}",
    )
    assert (first.every_s, first.timeout_s, first.stall_timeout_s, first.connection) == (60, 20, 4, "fresh")
    assert (second.every_s, second.timeout_s, second.stall_timeout_s, second.connection) == (
        120,
        10,
        1.5,
        "reuse",
    )


def test_stall_timeout_follows_the_probe_own_timeout(tmp_path: Path) -> None:
    (spec,) = probes(tmp_path, "{name: a, kind: chat, timeout: 5s}")
    assert spec.stall_timeout_s == 2.5


def test_objectives_carry_clock_percentile_and_threshold(tmp_path: Path) -> None:
    (spec,) = probes(
        tmp_path,
        "{name: a, kind: chat, sla: {e2e: {p99: 2s}, ttft: {p99.9: 1s, p50: 100ms}, availability: 99.5%}}",
    )
    assert spec.objectives == (
        Objective(sli="ttft_p50", ratio=0.5, clock=Clock.TTFT, threshold_s=0.1),
        Objective(sli="ttft_p99_9", ratio=0.999, clock=Clock.TTFT, threshold_s=1.0),
        Objective(sli="e2e_p99", ratio=0.99, clock=Clock.E2E, threshold_s=2.0),
        Objective(sli="availability", ratio=0.995),
    )


def test_severity_of_a_clock_overrides_that_of_the_sla_overrides_page(tmp_path: Path) -> None:
    sla = "{ttft: {p99: 1s}, e2e: {p50: 1s, severity: page}, availability: 99%, severity: ticket}"
    mixed, plain = probes(
        tmp_path,
        f"{{name: a, kind: chat, sla: {sla}}}",
        "{name: b, kind: chat, sla: {ttft: {p99: 1s}}}",
    )
    assert [(o.sli, str(o.severity)) for o in mixed.objectives] == [
        ("ttft_p99", "ticket"),
        ("e2e_p50", "page"),
        ("availability", "ticket"),
    ]
    assert [o.severity for o in plain.objectives] == [Severity.PAGE]


def test_confirm_of_a_probe_overrides_that_of_the_target_overrides_the_default(tmp_path: Path) -> None:
    text = """
        defaults: {confirm: {every: 5s}}
        targets:
          - {name: a, base_url: "http://127.0.0.1:1/v1", model: m, probes: [{name: p, kind: chat}]}
          - name: b
            base_url: http://127.0.0.1:1/v1
            model: m
            confirm: {for: 2m}
            probes: [{name: p, kind: chat}, {name: q, kind: chat, confirm: {per_hour: 9}}]
        """
    specs = [spec for plan in loaded(tmp_path, text).targets for spec in plan.probes]
    assert [spec.confirm for spec in specs] == [
        Confirm(every_s=5.0, for_s=60.0, per_hour=150),
        Confirm(every_s=3.0, for_s=120.0, per_hour=150),
        Confirm(every_s=3.0, for_s=60.0, per_hour=9),
    ]
    (plain,) = probes(tmp_path, "{name: a, kind: chat}")
    assert plain.confirm is None


def test_clocks_come_from_the_kind_with_these_params(tmp_path: Path) -> None:
    (spec,) = probes(tmp_path, "{name: a, kind: chat, params: {stream: false}, sla: {e2e: {p99: 1s}}}")
    assert spec.clocks == {Clock.E2E}


def test_full_target(tmp_path: Path) -> None:
    (tmp_path / "ca.pem").write_text("-----BEGIN CERTIFICATE-----\n")
    configuration = loaded(
        tmp_path,
        """
        targets:
          - name: prod-chat
            base_url: https://10.0.0.1:8443/v1/
            model: meta-llama/Llama-3-70b
            api_key_file: keys/prod
            labels: {site: fra1, chip: "no"}
            prices: {input_per_mtok: 0.5, output_per_mtok: 1, currency: EUR}
            tls: {ca_file: ca.pem, server_name: api.example.com}
            proxy: http://proxy:3128
            probes: [{name: a, kind: chat}]
        benches:
          - {suite: light}
          - {suite: once, every: 1d, devices: [cpu, "cuda:1"]}
        web: {listen: "[::1]:9780"}
        """,
    )
    target = configuration.targets[0].target
    assert target.base_url == "https://10.0.0.1:8443/v1"
    assert target.key == KeySource(file=str(tmp_path / "keys/prod"))
    assert dict(target.labels) == {"site": "fra1", "chip": "no"}
    assert target.prices == Prices(input_per_mtok=0.5, output_per_mtok=1.0, currency="EUR")
    assert target.tls == TlsOptions(ca_file=str(tmp_path / "ca.pem"), server_name="api.example.com")
    assert target.proxy == "http://proxy:3128"
    assert configuration.benches == (
        BenchPlan(suite="light", every_s=300.0),
        BenchPlan(suite="once", every_s=86400.0, devices=("cpu", "cuda:1")),
    )
    assert configuration.web == WebOptions(host="::1", port=9780)


def test_a_bench_has_its_hours_threads_peaks_and_state(tmp_path: Path) -> None:
    (bench,) = loaded(
        tmp_path,
        """
        benches: [{suite: light, threads: all, quiet: ["22:00-06:30", "12:00 - 24:00"]}]
        peaks: {NVIDIA H200: {bfloat16: 989, bandwidth: 4800}}
        bench_state: kernels.json
        """,
    ).benches
    assert bench.threads == EVERY_THREAD
    assert bench.quiet == (QuietHours(1320, 390), QuietHours(720, 1440))
    assert bench.state == str(tmp_path / "kernels.json")
    peak = bench.peaks["NVIDIA H200"]
    assert (peak.flops_per_second, peak.bytes_per_second) == ({Dtype.BFLOAT16: 989e12}, 4800e9)
    assert peak.source == "operator"


def test_absolute_paths_stay_as_they_are(tmp_path: Path) -> None:
    text = ONE_TARGET + "    api_key_file: /run/k\n" + ONE_PROBE
    assert loaded(tmp_path, text).targets[0].target.key == KeySource(file="/run/k")


def test_unquoted_words_that_older_yaml_converts_stay_text(tmp_path: Path) -> None:
    text = """
        targets:
          - {name: no, base_url: "http://h/v1", model: 12:30:45, probes: [{name: on, kind: chat}],
             labels: {a: yes, b: 2026-01-02, c: 0x1F, d: .inf}}
        """
    plan = loaded(tmp_path, text).targets[0]
    assert (plan.target.name, plan.target.model, plan.probes[0].name) == ("no", "12:30:45", "on")
    assert dict(plan.target.labels) == {"a": "yes", "b": "2026-01-02", "c": "0x1F", "d": ".inf"}


def test_alias_repeats_a_list_of_probes(tmp_path: Path) -> None:
    text = """
        targets:
          - {name: a, base_url: "http://h/v1", model: m, probes: &standard [{name: short, kind: chat}]}
          - {name: b, base_url: "http://h/v1", model: m, probes: *standard}
        """
    first, second = loaded(tmp_path, text).targets
    assert first.probes == second.probes


def test_file_may_begin_with_a_byte_order_mark_and_hold_any_script(tmp_path: Path) -> None:
    path = tmp_path / "config.yml"
    text = ONE_TARGET + "    labels: {site: Zürich}\n" + ONE_PROBE
    path.write_bytes(b"\xef\xbb\xbf" + text.encode())
    assert load(path, KINDS).targets[0].target.labels["site"] == "Zürich"


def test_thousand_targets_are_within_the_bounds(tmp_path: Path) -> None:
    one = ONE_TARGET.removeprefix("targets:\n") + "    labels: {site: fra1}\n" + ONE_PROBE
    text = "targets:\n" + "".join(one.replace("name: t", f"name: t{i}") for i in range(1000))
    assert len(loaded(tmp_path, text).targets) == 1000


@pytest.mark.parametrize(
    ("listen", "expected"),
    [
        ("127.0.0.1:9780", WebOptions(host="127.0.0.1", port=9780)),
        ("0.0.0.0:0", WebOptions(host="0.0.0.0", port=0)),
        ("localhost:80", WebOptions(host="localhost", port=80)),
        ("[::]:9780", WebOptions(host="::", port=9780)),
        ("[2001:0db8::0001]:443", WebOptions(host="2001:db8::1", port=443)),
        ("[fe80::1%eth0]:443", WebOptions(host="fe80::1%eth0", port=443)),
    ],
)
def test_listen_addresses(tmp_path: Path, listen: str, expected: WebOptions) -> None:
    assert loaded(tmp_path, f"benches: [{{suite: light}}]\nweb: {{listen: '{listen}'}}").web == expected
