"""The process that does what the tools of ``mirenc mcp`` are asked for; the server ends it when nobody waits for it.

Over a pipe come the name of a tool and its arguments; back go ``progress``, any number of times, and an ``answer`` or
``error``. First of all goes the list of tools.
"""

import inspect
import os
import sys
import time
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import typer
from pydantic import BaseModel, ConfigDict, ValidationError, create_model
from pydantic.json_schema import GenerateJsonSchema

from mirenc.base.errors import input_error
from mirenc.cli.mcp_folders import Folders
from mirenc.cli.mcp_tools import Tools, as_data
from mirenc.llvm import start_reader
from mirenc.llvm.child.pass_service import OPEN_NO_FILE

_REPORT_INTERVAL = 0.5  # seconds between two reports of progress
_ERROR_LENGTH = 800  # characters of an error


def serve(pipe: Connection, roots: list[Path], compiles: bool, vectors: str) -> None:
    """Answer questions until the server is gone."""
    os.environ[OPEN_NO_FILE] = "1"  # assembly in a module could include any file
    if not compiles:
        os.environ["PATH"] = os.devnull  # no program is started: old IR text would be given to an older clang
    last_report = time.monotonic()

    def report(done: int, total: int | None, activity: str) -> None:
        nonlocal last_report
        if time.monotonic() - last_report > _REPORT_INTERVAL:
            last_report = time.monotonic()
            pipe.send(("progress", (done, total, as_data(activity))))

    tools = Tools(Folders(roots, compiles), vectors, report)
    questions = {name: _question_model(tools, name) for name in Tools.NAMES}
    pipe.send([_describe(tools, name, question) for name, question in questions.items()])
    start_reader()
    while True:
        name, arguments = pipe.recv()
        pipe.send(_answer(tools, name, questions[name], arguments))


class _Untitled(GenerateJsonSchema):
    """Schemas without titles, which repeat the names of fields."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False


def _question_model(tools: Tools, name: str) -> type[BaseModel]:
    """The model of a tool's arguments."""
    parameters = inspect.signature(getattr(tools, name)).parameters.values()
    fields: Any = {arg.name: (arg.annotation, ... if arg.default is arg.empty else arg.default) for arg in parameters}
    return create_model(name, __config__=ConfigDict(extra="forbid"), **fields)


def _describe(tools: Tools, name: str, question: type[BaseModel]) -> dict[str, Any]:
    """A tool as the protocol lists it."""
    tool = getattr(tools, name)
    answer: type[BaseModel] = inspect.signature(tool).return_annotation
    return {
        "name": name,
        "description": inspect.getdoc(tool),
        "input_schema": question.model_json_schema(schema_generator=_Untitled),
        "output_schema": answer.model_json_schema(mode="serialization", schema_generator=_Untitled),
    }


def _answer(tools: Tools, name: str, question: type[BaseModel], arguments: dict[str, Any]) -> tuple[str, Any]:
    try:
        values = question.model_validate(arguments)
    except ValidationError as error:
        # Without the values: they may be long.
        problems = (f"{'.'.join(map(str, detail['loc']))}: {detail['msg']}" for detail in error.errors())
        return "error", as_data("; ".join(problems), _ERROR_LENGTH)
    try:
        return "answer", getattr(tools, name)(**dict(values)).model_dump(mode="json")
    except typer.BadParameter as error:
        problem = error.format_message()
    except Exception as error:  # noqa: BLE001 - what one question meets must not end the others
        problem = str(input_error(error, name, "answered"))
    return "error", as_data(problem, _ERROR_LENGTH)


def main() -> None:
    """``python -m mirenc.cli.mcp_worker DESCRIPTOR``: the pipe's descriptor, over which first the settings come."""
    pipe = Connection(int(sys.argv[1]))
    try:
        serve(pipe, *pipe.recv())
    except (EOFError, BrokenPipeError, ConnectionResetError):
        os._exit(0)  # the server is gone


if __name__ == "__main__":
    main()
