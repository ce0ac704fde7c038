"""How a target is reached and let in: headers, client certificates, Azure, budgets."""

from pathlib import Path

import pytest

from exporter.config.advice import advice
from exporter.config.load import load
from exporter.config.problem import ConfigError
from exporter.model.target import Azure, Budget, Header, IpFamily, KeySource, Target
from exporter.web.effective import effective
from tests.config.kinds import KINDS

PEM = "-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n-----BEGIN PRIVATE KEY-----\n"


def loaded(tmp_path: Path, keys: str) -> Target:
    path = tmp_path / "c.yml"
    path.write_text(
        "targets:\n  - name: t\n    base_url: https://h.example/v1\n    model: m\n"
        "    api_key_env: KEY\n    probes: [{name: p, kind: chat}]\n" + keys
    )
    return load(path, KINDS).targets[0].target


def test_headers_say_where_their_values_come_from(tmp_path: Path) -> None:
    target = loaded(
        tmp_path,
        "    headers:\n"
        "      - {name: X-Tenant, value: ops}\n"
        "      - {name: Authorization, value_env: TENANT_AUTH}\n"
        "      - {name: X-Signature, value_file: sig}\n",
    )
    assert target.headers == (
        Header(name="X-Tenant", value="ops"),
        Header(name="Authorization", source=KeySource(env="TENANT_AUTH")),
        Header(name="X-Signature", source=KeySource(file=str(tmp_path / "sig"))),
    )
    assert "ops" not in effective(load(tmp_path / "c.yml", KINDS))


def test_client_certificate_family_azure_and_budget(tmp_path: Path) -> None:
    (tmp_path / "me.pem").write_text(PEM)
    target = loaded(
        tmp_path,
        "    tls: {cert_file: me.pem, key_file: me.pem}\n    ip: ipv6\n"
        "    azure: {api_version: 2024-10-21}\n    budget: {tokens_per_day: 1000}\n",
    )
    assert (target.tls.cert_file, target.tls.key_file) == (str(tmp_path / "me.pem"),) * 2
    assert target.ip is IpFamily.IPV6
    assert target.azure == Azure(api_version="2024-10-21")
    assert target.budget == Budget(tokens_per_day=1000)


BAD = [
    ("two values", "    headers: [{name: X-A, value: a, value_env: B}]\n", "exactly one of"),
    ("no value", "    headers: [{name: X-A}]\n", "exactly one of"),
    ("a secret in plain", "    headers: [{name: X-Api-Key, value: abc}]\n", "is a secret"),
    ("the wire's own header", "    headers: [{name: Host, value: abc}]\n", "set by the exporter itself"),
    ("not a header", "    headers: [{name: 'X A', value: abc}]\n", "name of an HTTP header"),
    ("a break in a header", '    headers: [{name: X-A, value: "a\\r\\nB: c"}]\n', "printable"),
    ("a key without its certificate", "    tls: {key_file: me.key}\n", "needs cert_file"),
    ("a certificate that is not there", "    tls: {cert_file: no.pem}\n", "cannot be read"),
    ("money without prices", "    budget: {money_per_day: 1}\n", "needs prices"),
    ("no bound", "    budget: {}\n", "names no bound"),
    ("no version", "    azure: {deployment: d}\n", "api_version"),
    ("an unknown family", "    ip: ipv5\n", "ipv4"),
]


@pytest.mark.parametrize(("_", "keys", "says"), BAD, ids=[row[0] for row in BAD])
def test_what_is_refused(tmp_path: Path, _: str, keys: str, says: str) -> None:
    with pytest.raises(ConfigError, match=says) as caught:
        loaded(tmp_path, keys)
    assert "abc" not in str(caught.value)


def test_a_budget_that_a_day_exceeds_is_worth_a_second_look(tmp_path: Path) -> None:
    def said(tokens: int) -> list[str]:
        loaded(tmp_path, f"    budget: {{tokens_per_day: {tokens}}}\n")
        return [line for line in advice(load(tmp_path / "c.yml", KINDS), {"KEY": "x"}) if "budget" in line]

    assert said(10**9) == []
    (line,) = said(1000)
    assert "the budget is 1,000: once it is spent" in line
