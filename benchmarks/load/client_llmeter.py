"""LLMeter's own runner over its own endpoint for the openai SDK.

python client_llmeter.py BASE_URL STREAMS SECONDS OUT.json
"""

import asyncio
import re
import sys

from kept import TOKENS, Kept, write
from llmeter.endpoints.openai import OpenAICompletionStreamEndpoint
from llmeter.runner import Runner

PAYLOAD = {
    "model": "mock",
    "messages": [{"role": "user", "content": "w1 " * 64}],
    "max_tokens": TOKENS,
    "stream": True,
    "stream_options": {"include_usage": True},
}


async def main(base_url: str, streams: int, seconds: float, out: str) -> None:
    endpoint = OpenAICompletionStreamEndpoint(
        model_id="mock", api_key="x", base_url=base_url, max_retries=0, timeout=60
    )
    kept = Kept()
    found = await Runner(endpoint=endpoint).run(
        payload=PAYLOAD,
        clients=streams,
        run_duration=seconds,
        timeout=60,
        disable_per_client_progress_bar=True,
        disable_clients_progress_bar=True,
    )
    for answer in found.responses:
        number = re.search(r"(\d+)$", answer.id or "")
        if number and answer.time_to_first_token is not None:
            kept.requests.append(
                {
                    "sequence": int(number[1]),
                    "ttft": round(answer.time_to_first_token * 1e9),
                    "e2e": round((answer.time_to_last_token or 0) * 1e9),
                    "gaps": [],
                }
            )
    write(kept, out)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), sys.argv[4]))
