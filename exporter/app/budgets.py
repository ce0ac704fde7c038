"""Budgets: what each target has spent today, held against its bounds before a request is sent."""

import asyncio
import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from exporter.adapters.state_file import StateFileError, read_state, write_state
from exporter.config.forecast import most_tokens
from exporter.model.budget import NOTHING, Spend, allows, day_of, spent_on
from exporter.model.clocks import Tokens
from exporter.model.results import ProbeResult
from exporter.model.target import ProbeSpec, Target

WRITE_AFTER_S = 1.0
"""A crash loses no more than this; a thousand targets write once a second, not a thousand times."""
_REFUSED_BELOW = 500

log = logging.getLogger(__name__)


@dataclass(slots=True)
class _Account:
    day: str
    spent: Spend = NOTHING
    reserved: Spend = NOTHING


class Budgets:
    """Admits requests and keeps the account; belongs to one event loop, but for the first reading."""

    def __init__(
        self,
        unix_s: Callable[[], float],
        *,
        path: Path | None,
        on_spent: Callable[[Target, Spend], None],
        on_file: Callable[[bool], None],
    ) -> None:
        """Read what was spent before.  ``on_file`` is told whether the file could be used."""
        self._unix_s = unix_s
        self._path = path
        self._on_spent = on_spent
        self._on_file = on_file
        self._accounts: dict[str, _Account] = {}
        self._writing: asyncio.Task[None] | None = None
        if path is not None:
            self._guarded(lambda: self._adopt(read_state(path)))

    def admit(self, target: Target, spec: ProbeSpec) -> Spend | None:
        """Reserve the most that a request can cost and return it; None when that exceeds the day's budget.

        What is reserved goes back with ``settle``.
        """
        if target.budget is None:
            return NOTHING
        into, out = most_tokens(spec)
        most = spent_on(Tokens(input=into, output=out), target.prices)
        account = self._account(target)
        if not allows(target.budget, account.spent + account.reserved, most):
            return None
        account.reserved += most
        return most

    def settle(self, target: Target, reserved: Spend, result: ProbeResult | None) -> None:
        """Book what a request did cost; None when it was given up.

        The server's counts go first.  Without them, a request that was refused or never sent costs nothing,
        and any other its most: the server may well have worked on it.
        """
        if target.budget is None:
            return
        account = self._account(target)
        account.reserved -= reserved
        account.spent += _cost(target, reserved, result)
        self._on_spent(target, account.spent)
        if self._path is not None and self._writing is None:
            self._writing = asyncio.get_running_loop().create_task(self._write_soon(self._path))

    def show(self, targets: Iterable[Target]) -> None:
        """Tell ``on_spent`` how every budget stands."""
        for target in targets:
            if target.budget is not None:
                self._on_spent(target, self._account(target).spent)

    async def aclose(self) -> None:
        """Write what is not written yet."""
        if self._writing is not None and self._path is not None:
            self._writing.cancel()
            await asyncio.gather(self._writing, return_exceptions=True)
            await self._write(self._path)

    def _account(self, target: Target) -> _Account:
        today = day_of(self._unix_s())
        account = self._accounts.get(target.name)
        if account is None:
            account = self._accounts[target.name] = _Account(today)
        elif account.day != today:
            account.day, account.spent = today, NOTHING
        return account

    def _adopt(self, state: dict[str, object]) -> None:
        spent = state.get("spent")
        for name, entry in spent.items() if isinstance(spent, dict) else ():
            if not isinstance(entry, dict):
                continue
            day, tokens, money = (entry.get(key) for key in ("day", "tokens", "money"))
            if isinstance(day, str) and isinstance(tokens, int) and isinstance(money, (int, float)):
                self._accounts[str(name)] = _Account(day, Spend(max(tokens, 0), max(float(money), 0.0)))

    async def _write_soon(self, path: Path) -> None:
        await asyncio.sleep(WRITE_AFTER_S)
        self._writing = None
        await self._write(path)

    async def _write(self, path: Path) -> None:
        spent = {
            name: {"day": account.day, "tokens": account.spent.tokens, "money": account.spent.money}
            for name, account in self._accounts.items()
        }
        await asyncio.to_thread(self._guarded, lambda: write_state(path, {"version": 1, "spent": spent}))

    def _guarded(self, work: Callable[[], None]) -> None:
        try:
            work()
        except StateFileError as error:
            log.error("%s", error)
            self._on_file(False)
        else:
            self._on_file(True)


def _cost(target: Target, reserved: Spend, result: ProbeResult | None) -> Spend:
    if result is None:
        return reserved
    if result.tokens.input is not None or result.tokens.output is not None:
        return spent_on(result.tokens, target.prices)
    never_sent = result.phases is None or result.phases.send_s is None
    was_refused = result.status is not None and 300 <= result.status < _REFUSED_BELOW
    return NOTHING if never_sent or was_refused else reserved
