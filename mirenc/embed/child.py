"""A reader in a process of its own: ``python -m mirenc.embed.child``; `mirenc.embed.processes` starts it.

Protocol over stdin and stdout, pickled, between processes of one program: first (request, tokenizer's JSON, memory
limit), then lists of inputs, each answered by a list of answers, or by the exception that no input is to blame for.
"""

from __future__ import annotations

import os
import pickle
import signal
import sys

from mirenc.embed.reading import Reader
from mirenc.ir import start_reader
from mirenc.tokenizer import IRTokenizer


def main() -> None:
    """Answer until the parent closes the pipe."""
    # SystemExit lets LLVM's process be ended, too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # only answers may travel there
    requests = sys.stdin.buffer
    request, tokenizer, memory_limit = pickle.load(requests)  # noqa: S301 - from this process's own parent
    start_reader(memory_limit=memory_limit)
    reader = Reader(request, IRTokenizer.from_json(tokenizer))
    while True:
        try:
            inputs = pickle.load(requests)  # noqa: S301
        except EOFError:
            return
        try:
            answer: object = reader.read(inputs)
        except Exception as error:  # noqa: BLE001 - the parent raises it
            answer = error
        pickle.dump(answer, replies, protocol=pickle.HIGHEST_PROTOCOL)
        replies.flush()


if __name__ == "__main__":
    main()
