"""Probe kinds, one file each, and their explicit registry."""

from exporter.probes import chat, completions, embeddings, http, models, rerank, responses, transcription
from exporter.probes.base import ProbeKind

KINDS: dict[str, ProbeKind] = {
    kind.name: kind
    for kind in (
        chat.KIND,
        completions.KIND,
        responses.KIND,
        embeddings.KIND,
        rerank.KIND,
        transcription.KIND,
        models.KIND,
        http.KIND,
    )
}
