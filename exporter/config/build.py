"""From the checked file to the values that the rest of the service works with."""

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from exporter.config import address, bench_schema, schema, schema_access, units
from exporter.config.build_load import load_spec, pricing
from exporter.config.crosscheck import Known
from exporter.config.power_schema import Power, TargetPower
from exporter.model.clocks import Clock
from exporter.model.configuration import BenchPlan, Configuration, TargetPlan
from exporter.model.confirmation import Confirm
from exporter.model.kernel import Dtype
from exporter.model.power_plan import Electricity, Gpus, PowerOptions, Promql, Watts
from exporter.model.quiet import QuietHours
from exporter.model.roofline import Peak
from exporter.model.target import (
    Azure,
    Budget,
    Connection,
    Header,
    IpFamily,
    KeySource,
    Objective,
    Prices,
    ProbeSpec,
    Severity,
    Target,
    TlsOptions,
)


def build(file: schema.File, probes: Mapping[tuple[int, int], Known], folder: Path) -> Configuration:
    """Return the configuration with the defaults filled in; relative paths count from the folder."""
    return Configuration(
        targets=tuple(
            TargetPlan(
                target=_target(target, folder),
                probes=tuple(
                    _probe(probe, target.confirm or file.defaults.confirm, file.defaults, probes[t, p])
                    for p, probe in enumerate(target.probes)
                ),
                loads=tuple(load_spec(load) for load in target.load),
                pricing=pricing(target, _power_options(file.power).electricity),
            )
            for t, target in enumerate(file.targets)
        ),
        benches=tuple(
            BenchPlan(
                suite=bench.suite,
                every_s=bench.every,
                devices=tuple(bench.devices),
                threads=bench.threads,
                quiet=tuple(QuietHours(*units.hours(text)) for text in bench.quiet),
                peaks=MappingProxyType({name: _peak(peak) for name, peak in file.peaks.items()}),
                state=None if file.bench_state is None else str(folder / file.bench_state),
            )
            for bench in file.benches
        ),
        web=address.listen(file.web.listen),
        state_file=None if file.state_file is None else str(folder / file.state_file),
        target_files=tuple(str(folder / pattern) for pattern in file.target_files),
        power=_power_options(file.power),
    )


def _target(target: schema.Target, folder: Path) -> Target:
    key = None
    if target.api_key_env is not None:
        key = KeySource(env=target.api_key_env)
    elif target.api_key_file is not None:
        key = KeySource(file=str(folder / target.api_key_file))
    return Target(
        name=target.name,
        base_url=target.base_url,
        model=target.model,
        key=key,
        tls=_tls(target.tls, folder),
        proxy=target.proxy,
        ip=None if target.ip is None else IpFamily(target.ip),
        azure=_azure(target.azure),
        headers=tuple(_header(header, folder) for header in target.headers),
        labels=MappingProxyType(dict(target.labels)),
        prices=_prices(target.prices),
        budget=_budget(target.budget),
        power=_power(target.power),
    )


def _peak(peak: bench_schema.Peak) -> Peak:
    given = {dtype: getattr(peak, dtype.value) for dtype in Dtype}
    return Peak(
        flops_per_second={dtype: tera * 1e12 for dtype, tera in given.items() if tera is not None},
        bytes_per_second=None if peak.bandwidth is None else peak.bandwidth * 1e9,
        source="operator",
    )


def _header(header: schema_access.Header, folder: Path) -> Header:
    if header.value is not None:
        return Header(name=header.name, value=header.value)
    file = None if header.value_file is None else str(folder / header.value_file)
    return Header(name=header.name, source=KeySource(env=header.value_env, file=file))


def _azure(azure: schema_access.Azure | None) -> Azure | None:
    return None if azure is None else Azure(api_version=azure.api_version, deployment=azure.deployment)


def _budget(budget: schema_access.Budget | None) -> Budget | None:
    if budget is None:
        return None
    return Budget(tokens_per_day=budget.tokens_per_day, money_per_day=budget.money_per_day)


def _tls(tls: schema_access.Tls | None, folder: Path) -> TlsOptions:
    if tls is None:
        return TlsOptions()
    return TlsOptions(
        ca_file=None if tls.ca_file is None else str(folder / tls.ca_file),
        cert_file=None if tls.cert_file is None else str(folder / tls.cert_file),
        key_file=None if tls.key_file is None else str(folder / tls.key_file),
        insecure=tls.insecure,
        server_name=tls.server_name,
    )


def _prices(prices: schema_access.Prices | None) -> Prices | None:
    if prices is None:
        return None
    return Prices(
        input_per_mtok=prices.input_per_mtok, output_per_mtok=prices.output_per_mtok, currency=prices.currency
    )


def _power(power: TargetPower | None) -> Gpus | Watts | Promql | None:
    if power is None:
        return None
    if power.gpus is not None:
        return Gpus(uuids=tuple(dict.fromkeys(power.gpus)))
    if power.watts is not None:
        return Watts(watts=power.watts)
    return Promql(query=power.promql or "")


def _power_options(power: Power) -> PowerOptions:
    price = power.price_per_kwh
    return PowerOptions(
        enabled=power.enabled,
        every_s=power.every,
        processes=power.processes,
        prometheus=power.prometheus,
        electricity=None if price is None else Electricity(per_kwh=price, currency=power.currency),
    )


def _probe(
    probe: schema.Probe, confirm: schema.Confirm | None, defaults: schema.Defaults, known: Known
) -> ProbeSpec:
    timeout_s = defaults.timeout if probe.timeout is None else probe.timeout
    stall_timeout_s = defaults.stall_timeout if probe.stall_timeout is None else probe.stall_timeout
    return ProbeSpec(
        name=probe.name,
        kind=probe.kind,
        every_s=defaults.every if probe.every is None else probe.every,
        timeout_s=timeout_s,
        stall_timeout_s=timeout_s / 2 if stall_timeout_s is None else stall_timeout_s,
        connection=Connection(probe.connection or defaults.connection),
        params=known.params,
        objectives=_objectives(probe.sla),
        clocks=known.clocks,
        confirm=_confirm(probe.confirm or confirm),
    )


def _confirm(confirm: schema.Confirm | None) -> Confirm | None:
    if confirm is None:
        return None
    return Confirm(every_s=confirm.every, for_s=confirm.for_, per_hour=confirm.per_hour)


def _objectives(sla: schema.Sla) -> tuple[Objective, ...]:
    promised = {
        Clock.TTFT: sla.ttft,
        Clock.TTFC: sla.ttfc,
        Clock.ITL: sla.itl,
        Clock.TPOT: sla.tpot,
        Clock.E2E: sla.e2e,
    }
    objectives = [
        Objective(
            sli=f"{clock}_p{percentile.replace('.', '_')}",
            ratio=round(float(percentile) / 100, 6),
            clock=clock,
            threshold_s=threshold_s,
            severity=Severity(latency.severity or sla.severity),
        )
        for clock, latency in promised.items()
        if latency is not None
        for percentile, threshold_s in latency.thresholds()
    ]
    if sla.availability is not None:
        objectives.append(
            Objective(sli="availability", ratio=sla.availability, severity=Severity(sla.severity))
        )
    return tuple(objectives)
