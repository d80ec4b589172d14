"""A dataset of the tests' own making, in every layout, and a server that publishes it."""

from __future__ import annotations

import gzip
import hashlib
import io
import tarfile
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from mirenc.decide.datasets.dataset_registry import Dataset

CONTENT = {
    "kernels/a.ll": b"define void @a() {\n  ret void\n}\n",
    "kernels/b.ll": b"define void @b() {\n  ret void\n}\n",
    "kernels/c.ll": b"define void @c() {\n  ret void\n}\n",
    "table.csv": b"kernel,cost\na,1\nb,2\nc,3\n",
}


def toy(address: str = "http://127.0.0.1:9") -> Dataset:
    """The dataset, published at an address."""
    return Dataset(
        name="toy",
        title="A toy",
        licence="MIT",
        source="these tests",
        megabytes=0.1,
        urls={part: f"{address}/v1/{part}" for part in ("table.csv", "kernels/")},
        sums={name: hashlib.sha256(data).hexdigest() for name, data in CONTENT.items()},
    )


def write_plain(folder: Path) -> Path:
    """Tables and archives as they are."""
    for name, data in CONTENT.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    return folder


def write_packed(folder: Path) -> Path:
    """Tables under gzip, archives as .tar.xz."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "table.csv.gz").write_bytes(gzip.compress(CONTENT["table.csv"]))
    write_tar(folder / "kernels.tar.xz", {name: data for name, data in CONTENT.items() if "/" in name})
    return folder


def write_tar(path: Path, members: dict[str, bytes], *others: tarfile.TarInfo) -> None:
    """A .tar.xz of some files, and of members of other kinds."""
    with tarfile.open(path, "w:xz") as archive:
        for name, data in members.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
        for member in others:
            archive.addfile(member)


@dataclass
class Site:
    """What a server gives: bytes by path, and how often each was asked for; ``None`` drops the connection."""

    address: str = ""
    answers: dict[str, bytes | None] = field(default_factory=dict)
    requested: Counter[str] = field(default_factory=Counter)


@contextmanager
def serve() -> Iterator[Site]:
    """A server on this machine that publishes `CONTENT` below ``/v1/``."""
    site = Site(answers={f"/v1/{name}": data for name, data in CONTENT.items()})

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            site.requested[self.path.removeprefix("/v1/")] += 1
            if self.path not in site.answers:
                self.send_error(404)
                return
            data = site.answers[self.path]
            if data is None:
                self.close_connection = True
                return
            self.send_response(200)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            """Stderr belongs to the command under test."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        site.address = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield site
        finally:
            server.shutdown()
            thread.join()
