"""Probe kinds, one file each, and their explicit registry."""

from exporter.probes import chat
from exporter.probes.base import ProbeKind

KINDS: dict[str, ProbeKind] = {kind.name: kind for kind in (chat.KIND,)}
