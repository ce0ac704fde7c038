"""LitServe's chat and embeddings endpoints over a toy model; run inside the interop environment.

The protocol code is LitServe's own; what stands here only makes words and vectors.
"""

import sys
import time

import litserve as ls
import litserve.server

WORDS = ["the", "quick", "brown", "fox", "jumps", "over", "the", "lazy", "dog", "and", "runs", "away"]
STEP_S = 0.01
DIMENSIONS = 8


class Chat(ls.LitAPI):
    def setup(self, device):
        pass

    def predict(self, request):  # noqa: ARG002 - LitServe's signature
        for word in WORDS:
            time.sleep(STEP_S)
            yield word + " "


class Embeddings(ls.LitAPI):
    def setup(self, device):
        pass

    def predict(self, inputs):
        texts = inputs if isinstance(inputs, list) else [inputs]
        return [[float(len(text) + n) for n in range(DIMENSIONS)] for text in texts]


if __name__ == "__main__":
    # LitServe 0.2 does not start beside mcp 2, which LiteLLM brings.
    litserve.server._MCP_AVAILABLE = False  # noqa: SLF001
    apis = [Chat(spec=ls.OpenAISpec()), Embeddings(spec=ls.OpenAIEmbeddingSpec())]
    server = ls.LitServer(apis, accelerator="cpu", workers_per_device=1, timeout=20)
    server.run(host="127.0.0.1", port=int(sys.argv[1]), generate_client_file=False, log_level="warning")
