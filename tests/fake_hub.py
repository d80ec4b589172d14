"""A hub of models on this machine, which answers huggingface_hub as huggingface.co does.

Its API names commits, trees and sizes; ``resolve`` addresses have the headers of a commit, and lead from there to the
content: large files (safetensors) are stored elsewhere and have checksums for names, small ones lie beside it.
"""

from __future__ import annotations

import base64
import hashlib
import http.server
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Files = dict[str, bytes]


@dataclass
class FakeHub:
    """Commits of repositories, oldest first; requests in the order they came, as in ``GET /api/models/org/name``."""

    url: str = ""
    commits: dict[str, dict[str, Files]] = field(default_factory=dict)
    requested: list[str] = field(default_factory=list)
    tags: dict[str, str] = field(default_factory=dict)
    status: int | None = None  # with which everything is refused
    named: list[str] = field(default_factory=list)  # instead of the newest commits, once each
    sizes: dict[str, int] = field(default_factory=dict)  # that are said of files, whatever they have
    sent: dict[str, bytes] = field(default_factory=dict)  # instead of files' content: damage on the way
    overlong: str = ""  # a file of which 100 MiB are sent
    pieces: int = 0  # MiB of it that were sent

    def commit(self, repo: str, files: Files) -> str:
        """A new commit; its name."""
        content = "".join(f"{name} {hashlib.sha1(data).hexdigest()}\n" for name, data in sorted(files.items()))
        sha = hashlib.sha1(f"{repo} {len(self.commits.get(repo, ()))} {content}".encode()).hexdigest()
        self.commits.setdefault(repo, {})[sha] = dict(files)
        return sha

    def resolved(self, repo: str, revision: str) -> str | None:
        """The commit of a revision."""
        there = self.commits.get(repo, {})
        revision = self.tags.get(revision, revision)
        return list(there)[-1] if revision == "main" and there else revision if revision in there else None


def folder_files(folder: Path) -> Files:
    """The files of a folder."""
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@contextmanager
def serving() -> Iterator[FakeHub]:
    """A hub at a port of its own, while the block runs."""
    hub = FakeHub()

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

        def answer(self, status: int, data: bytes = b"", **headers: object) -> None:
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name.replace("_", "-"), str(value))
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(data)

        def json(self, value: Any) -> None:
            self.answer(200, json.dumps(value).encode(), Content_Type="application/json")

        def refuse(self, code: str, words: str) -> None:
            self.answer(404, json.dumps({"error": words}).encode(), X_Error_Code=code, X_Error_Message=words)

        def do_GET(self) -> None:
            """Answer a request for facts or files."""
            path = self.path.partition("?")[0]
            hub.requested.append(f"{self.command} {path}")
            if hub.status is not None:
                return self.answer(hub.status)
            words = path.strip("/").split("/")
            if words[0] in ("cdn", "beside"):
                return self.stored(*words)
            api = words[:2] == ["api", "models"]
            repo, rest = "/".join(words[2:4] if api else words[:2]), words[4:] if api else words[2:]
            if repo not in hub.commits:
                return self.refuse("RepoNotFound", "Repository not found")
            revision = rest[1].replace("%2F", "/") if len(rest) > 1 else "main"
            if (sha := hub.resolved(repo, revision)) is None:
                return self.refuse("RevisionNotFound", f"Invalid rev id: {revision}")
            files = hub.commits[repo][sha]
            if api:
                return self.json(self.tree(files) if rest[:1] == ["tree"] else self.about(repo, sha, files))
            return self.file(repo, sha, rest[2], files)

        do_HEAD = do_GET  # noqa: N815

        def about(self, repo: str, sha: str, files: Files) -> dict[str, Any]:
            siblings = [{"rfilename": name, "size": size_of(name, data)} for name, data in files.items()]
            return {
                "_id": "1",
                "id": repo,
                "modelId": repo,
                "sha": hub.named.pop() if hub.named else sha,
                "private": False,
                "siblings": siblings,
            }

        def tree(self, files: Files) -> list[dict[str, Any]]:
            entries = []
            for name, data in files.items():
                entry = {
                    "type": "file",
                    "path": name,
                    "size": size_of(name, data),
                    "oid": hashlib.sha1(data).hexdigest(),
                }
                if name.endswith(".safetensors"):
                    digest = hashlib.sha256(data).hexdigest()
                    entry["lfs"] = {"oid": digest, "size": size_of(name, data), "pointerSize": 134}
                entries.append(entry)
            return entries

        def file(self, repo: str, sha: str, name: str, files: Files) -> None:
            if name not in files:
                return self.refuse("EntryNotFound", "Entry not found")
            data, about = files[name], {"X_Repo_Commit": sha}
            if name.endswith(".safetensors"):
                digest = hashlib.sha256(data).hexdigest()
                linked = {"X_Linked_Etag": f'"{digest}"', "X_Linked_Size": len(data)}
                return self.answer(302, Location=f"{hub.url}/cdn/{repo}/{sha}/{name}", **about, **linked)
            return self.answer(307, Location=f"/beside/{repo}/{sha}/{name}", **about)

        def stored(self, where: str, org: str, name: str, sha: str, file: str) -> None:
            data = hub.sent.get(file, hub.commits[f"{org}/{name}"][sha][file])
            if file == hub.overlong and self.command == "GET":
                self.overlong()
            else:
                self.answer(200, data, ETag=f'"{hashlib.sha1(data).hexdigest()}"', X_Repo_Commit=sha)

        def overlong(self) -> None:
            self.send_response(200)
            self.send_header("Content-Length", str(100 << 20))
            self.end_headers()
            self.close_connection = True
            with suppress(OSError):  # the client has gone away
                for hub.pieces in range(100):
                    self.wfile.write(bytes(1 << 20))

        def do_POST(self) -> None:
            """Make a repository, or take a commit of small files."""
            hub.requested.append(f"{self.command} {self.path}")
            data = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            if hub.status is not None:
                about = {"error": "refused", "url": f"{hub.url}/org/tiny"}
                return self.answer(hub.status, json.dumps(about).encode(), Content_Type="application/json")
            if self.path == "/api/repos/create":
                about = json.loads(data)
                repo = f"{about['organization']}/{about['name']}" if about.get("organization") else about["name"]
                hub.commits.setdefault(repo, {})
                hub.commit(repo, {".gitattributes": b""})
                return self.json({"url": f"{hub.url}/{repo}", "id": repo, "name": repo})
            if self.path == "/api/validate-yaml":
                return self.json({"errors": [], "warnings": []})
            repo = "/".join(self.path.split("/")[3:5])
            if "/preupload/" in self.path:
                files = json.loads(data)["files"]
                modes = [{"path": file["path"], "uploadMode": "regular", "shouldIgnore": False} for file in files]
                return self.json({"files": modes})
            lines = [json.loads(line) for line in data.splitlines()]
            uploaded = [line["value"] for line in lines if line["key"] == "file"]
            sha = hub.commit(repo, {each["path"]: base64.b64decode(each["content"]) for each in uploaded})
            return self.json({"commitUrl": f"{hub.url}/{repo}/commit/{sha}", "commitOid": sha, "success": True})

    def size_of(name: str, data: bytes) -> int:
        return hub.sizes.get(name, len(data))

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    hub.url = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield hub
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
