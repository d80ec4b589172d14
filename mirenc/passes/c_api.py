"""LLVM's C API by ctypes: the child's side of `mirenc.passes.engines`.

It knows the part of LLVM's stable C interface (``llvm-c/*.h``) that is the same from LLVM 16 on.
"""

from __future__ import annotations

import contextlib
import ctypes
import mmap
import os
import re
from collections.abc import Iterator
from ctypes import POINTER, byref, c_char_p, c_int, c_size_t, c_uint, c_uint64, c_void_p
from typing import Any

from mirenc.passes.object_file import Section, named_section
from mirenc.passes.side import Answer, PassLibrary, RefusedError

_TARGETS = ("X86", "AArch64", "ARM", "RISCV", "PowerPC", "SystemZ", "LoongArch", "Mips", "Sparc", "WebAssembly")
_PARTS = ("TargetInfo", "Target", "TargetMC", "AsmPrinter", "AsmParser")
_PIC = 2  # LLVMRelocPIC, clang's default on Linux
_DEFAULT_CODE_MODEL = 0
_OBJECT = 1  # LLVMObjectFile
_RETURN_STATUS = 2  # LLVMReturnStatusAction
_ERROR = 0  # LLVMDSError
# A pass that takes away what it works on, such as a loop, leaves nothing to print: it is told as invalidated. So are
# the managers around it, whose names are no words, and adaptors.
_CHANGED = re.compile(
    rb"^\*\*\* IR (?:Dump After (\S+) on [^\n]*(?<! omitted because no change)|Pass ([\w-]+) invalidated) \*\*\*$",
    re.MULTILINE,
)
_AROUND = ("PassAdaptor", "DevirtSCCRepeatedPass")

# Every function that is used: result and parameters. `M` stands for text that LLVM gives away and wants back.
_P, _M = c_void_p, POINTER(c_char_p)
_FUNCTIONS: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "LLVMContextCreate": (_P, ()),
    "LLVMContextDispose": (None, (_P,)),
    "LLVMContextSetDiscardValueNames": (None, (_P, c_int)),
    "LLVMCreateBinary": (_P, (_P, _P, _M)),
    "LLVMCreateMemoryBufferWithMemoryRangeCopy": (_P, (c_char_p, c_size_t, c_char_p)),
    "LLVMCreatePassBuilderOptions": (_P, ()),
    "LLVMCreateTargetMachine": (_P, (_P, c_char_p, c_char_p, c_char_p, c_int, c_int, c_int)),
    "LLVMDisposeBinary": (None, (_P,)),
    "LLVMDisposeErrorMessage": (None, (_P,)),
    "LLVMDisposeMemoryBuffer": (None, (_P,)),
    "LLVMDisposeMessage": (None, (_P,)),
    "LLVMDisposeModule": (None, (_P,)),
    "LLVMDisposeSectionIterator": (None, (_P,)),
    "LLVMGetBufferSize": (c_size_t, (_P,)),
    "LLVMGetBufferStart": (_P, (_P,)),
    "LLVMGetDefaultTargetTriple": (_P, ()),
    "LLVMGetDiagInfoDescription": (_P, (_P,)),
    "LLVMGetDiagInfoSeverity": (c_int, (_P,)),
    "LLVMGetErrorMessage": (_P, (_P,)),
    "LLVMGetFirstBasicBlock": (_P, (_P,)),
    "LLVMGetFirstFunction": (_P, (_P,)),
    "LLVMGetFirstInstruction": (_P, (_P,)),
    "LLVMGetNextBasicBlock": (_P, (_P,)),
    "LLVMGetNextFunction": (_P, (_P,)),
    "LLVMGetNextInstruction": (_P, (_P,)),
    "LLVMGetSectionName": (c_char_p, (_P,)),
    "LLVMGetSectionSize": (c_uint64, (_P,)),
    "LLVMGetTarget": (c_char_p, (_P,)),
    "LLVMGetTargetFromTriple": (c_int, (c_char_p, POINTER(_P), _M)),
    "LLVMGetVersion": (None, (POINTER(c_uint), POINTER(c_uint), POINTER(c_uint))),
    "LLVMMoveToNextSection": (None, (_P,)),
    "LLVMObjectFileCopySectionIterator": (_P, (_P,)),
    "LLVMObjectFileIsSectionIteratorAtEnd": (c_int, (_P, _P)),
    "LLVMParseCommandLineOptions": (None, (c_int, POINTER(c_char_p), c_char_p)),
    "LLVMParseIRInContext": (c_int, (_P, _P, POINTER(_P), _M)),
    "LLVMRunPasses": (_P, (_P, c_char_p, _P, _P)),
    "LLVMStripModuleDebugInfo": (c_int, (_P,)),
    "LLVMTargetMachineEmitToMemoryBuffer": (c_int, (_P, _P, c_int, _M, POINTER(_P))),
    "LLVMVerifyModule": (c_int, (_P, c_int, _M)),
    "LLVMWriteBitcodeToMemoryBuffer": (_P, (_P,)),
}
_HANDLER = ctypes.CFUNCTYPE(None, c_void_p, c_void_p)


class Library(PassLibrary):
    """The first libLLVM of some file names that can be loaded; OSError if none can."""

    def __init__(self, names: list[str]) -> None:
        super().__init__()
        self._c = _load(names)
        for name, (result, parameters) in _FUNCTIONS.items():
            function = getattr(self._c, name)
            function.restype, function.argtypes = result, parameters
        numbers = [c_uint() for _ in range(3)]
        self._c.LLVMGetVersion(*map(byref, numbers))
        self.version = ".".join(str(number.value) for number in numbers)
        for target in _TARGETS:
            for part in _PARTS:
                # A library is built for some targets, and not every target has every part.
                initialise = getattr(self._c, f"LLVMInitialize{target}{part}", None)
                if initialise is not None:
                    initialise()
        self._options = self._c.LLVMCreatePassBuilderOptions()
        self._machines: dict[tuple[bytes, int], int] = {}
        self._errors: list[str] = []
        # Without a handler of ours LLVM would end the process at an error of the backend. ctypes' object must live on.
        self._handler = _HANDLER(self._diagnose)
        self._c.LLVMContextSetDiagnosticHandler.restype = None
        self._c.LLVMContextSetDiagnosticHandler.argtypes = (c_void_p, _HANDLER, c_void_p)

    def read(self, ir: bytes) -> bytes:
        with _Context(self._c) as context:
            module = self._parsed(context, ir)
            try:
                problem = self._broken(module)
                if problem:
                    raise ValueError(problem)
                self._c.LLVMStripModuleDebugInfo(module)
                return self._bitcode(module)
            finally:
                self._c.LLVMDisposeModule(module)

    @contextlib.contextmanager
    def run(self, bitcode: bytes, pipeline: str, codegen: int) -> Iterator[tuple[c_void_p, int]]:
        self._errors.clear()
        with _Context(self._c) as context:
            self._c.LLVMContextSetDiagnosticHandler(context, self._handler, None)
            # Names of locals mean nothing, cost time, and would make two equal results look different.
            self._c.LLVMContextSetDiscardValueNames(context, 1)
            module = self._parsed(context, bitcode)
            try:
                machine = self._machine(self._c.LLVMGetTarget(module), codegen)
                # LLVM takes an empty text for a pass without a name.
                if pipeline:
                    error = self._c.LLVMRunPasses(module, pipeline.encode(), machine, self._options)
                    if error:
                        raise RefusedError("pipeline", self._error_text(error))
                yield module, machine
            finally:
                self._c.LLVMDisposeModule(module)

    def finished(self, module: c_void_p, machine: int) -> bytes:
        problem = self._broken(module)
        if problem:
            raise RefusedError("broken", problem)
        return self._bitcode(module)

    def _parsed(self, context: c_void_p, ir: bytes) -> c_void_p:
        module, problem = c_void_p(), c_char_p()
        # LLVM takes the buffer, whatever comes of it.
        buffer = self._c.LLVMCreateMemoryBufferWithMemoryRangeCopy(ir, len(ir), b"<string>")
        if self._c.LLVMParseIRInContext(context, buffer, byref(module), byref(problem)):
            raise ValueError(self._taken(problem))
        return module

    def _broken(self, module: c_void_p) -> str:
        """What the verifier says against a module; "" where it says nothing."""
        problem = c_char_p()
        broken = self._c.LLVMVerifyModule(module, _RETURN_STATUS, byref(problem))
        words = self._taken(problem)
        return (words or "no reason given") if broken else ""

    def _bitcode(self, module: c_void_p) -> bytes:
        return self._bytes_of(self._c.LLVMWriteBitcodeToMemoryBuffer(module))

    def _bytes_of(self, buffer: int | c_void_p) -> bytes:
        data = ctypes.string_at(self._c.LLVMGetBufferStart(buffer), self._c.LLVMGetBufferSize(buffer))
        self._c.LLVMDisposeMemoryBuffer(buffer)
        return data

    def instructions(self, module: c_void_p) -> int:
        c, count = self._c, 0
        first, following = c.LLVMGetFirstInstruction, c.LLVMGetNextInstruction
        function = c.LLVMGetFirstFunction(module)
        while function:
            block = c.LLVMGetFirstBasicBlock(function)
            while block:
                instruction = first(block)
                while instruction:
                    count += 1
                    instruction = following(instruction)
                block = c.LLVMGetNextBasicBlock(block)
            function = c.LLVMGetNextFunction(function)
        return count

    def emitted(self, module: c_void_p, machine: int) -> bytes:
        problem, buffer = c_char_p(), c_void_p()
        failed = self._c.LLVMTargetMachineEmitToMemoryBuffer(machine, module, _OBJECT, byref(problem), byref(buffer))
        if failed:
            raise RefusedError("backend", self._taken(problem))
        data = self._bytes_of(buffer)
        if self._errors:
            raise RefusedError("backend", self._errors[0])
        return data

    def sections(self, data: bytes) -> list[Section]:
        c, problem, sections = self._c, c_char_p(), []
        buffer = c.LLVMCreateMemoryBufferWithMemoryRangeCopy(data, len(data), b"object")
        binary = c.LLVMCreateBinary(buffer, None, byref(problem))
        try:
            if not binary:
                raise RefusedError("backend", self._taken(problem))
            section = c.LLVMObjectFileCopySectionIterator(binary)
            while not c.LLVMObjectFileIsSectionIteratorAtEnd(binary, section):
                sections.append(named_section(c.LLVMGetSectionName(section) or b"", c.LLVMGetSectionSize(section)))
                c.LLVMMoveToNextSection(section)
            c.LLVMDisposeSectionIterator(section)
            c.LLVMDisposeBinary(binary)
        finally:
            c.LLVMDisposeMemoryBuffer(buffer)
        return sections

    def _machine(self, triple: bytes, codegen: int) -> int:
        """Target machine of a triple, of this host's where a module names none; made once."""
        if not triple:
            pointer = self._c.LLVMGetDefaultTargetTriple()
            triple = ctypes.string_at(pointer)
            self._c.LLVMDisposeMessage(pointer)
        key = (triple, codegen)
        if key not in self._machines:
            target, problem = c_void_p(), c_char_p()
            if self._c.LLVMGetTargetFromTriple(triple, byref(target), byref(problem)):
                raise RefusedError("backend", self._taken(problem))
            machine = self._c.LLVMCreateTargetMachine(target, triple, b"", b"", codegen, _PIC, _DEFAULT_CODE_MODEL)
            if not machine:
                raise RefusedError("backend", f"LLVM makes no machine code for {triple.decode()}")
            self._machines[key] = machine
        return self._machines[key]

    def _diagnose(self, info: int, _: object) -> None:
        if self._c.LLVMGetDiagInfoSeverity(info) == _ERROR:
            pointer = self._c.LLVMGetDiagInfoDescription(info)
            self._errors.append(ctypes.string_at(pointer).decode("utf-8", "replace"))
            self._c.LLVMDisposeMessage(pointer)

    def _taken(self, message: c_char_p) -> str:
        """Text of a message, which is given back to LLVM."""
        text = (message.value or b"").decode("utf-8", "replace").strip()
        if message:
            self._c.LLVMDisposeMessage(ctypes.cast(message, c_void_p))
        return text

    def _error_text(self, error: int) -> str:
        pointer = self._c.LLVMGetErrorMessage(error)  # the error itself is gone with this
        text = ctypes.string_at(pointer).decode("utf-8", "replace")
        self._c.LLVMDisposeErrorMessage(pointer)
        return text


class Watcher(Library):
    """A libLLVM that says which passes of a list change a module, by its own option ``-print-changed``.

    LLVM prints what each pass did to descriptor 2, which the parent has made a file; ``=quiet`` would keep back that a
    pass deleted its loop. The option holds for the whole process, so this is not the library that weighs.
    """

    def __init__(self, names: list[str]) -> None:
        super().__init__(names)
        arguments = (c_char_p * 2)(b"mirenc", b"-print-changed")
        self._c.LLVMParseCommandLineOptions(len(arguments), arguments, None)

    def answer(self, bitcode: bytes, pipeline: str, codegen: int) -> Answer:
        """Names of the passes that changed the module; RefusedError."""
        os.ftruncate(2, 0)
        os.lseek(2, 0, os.SEEK_SET)
        with self.run(bitcode, pipeline, codegen):
            size = os.fstat(2).st_size
            if not size:
                return {"changed": []}, b""
            with mmap.mmap(2, size, access=mmap.ACCESS_READ) as printed:
                names = {(changed or gone).decode() for changed, gone in _CHANGED.findall(printed)}
        return {"changed": sorted(name.removesuffix("Pass") for name in names if not name.endswith(_AROUND))}, b""


class _Context:
    """An LLVM context for the time of a ``with``; its modules must be gone before."""

    def __init__(self, c: Any) -> None:
        self._c = c

    def __enter__(self) -> c_void_p:
        self._pointer = c_void_p(self._c.LLVMContextCreate())
        return self._pointer

    def __exit__(self, *_: object) -> None:
        self._c.LLVMContextDispose(self._pointer)


def _load(names: list[str]) -> Any:
    problems = []
    for name in names:
        try:
            return ctypes.CDLL(name)
        except OSError as error:
            problems.append(str(error))
    # One that is there but cannot be loaded is what a user wants to hear of, not the names that do not exist.
    damaged = [problem for problem in problems if "no such file" not in problem.lower()]
    raise OSError((damaged or problems)[0])


def open_library(arguments: list[str]) -> Library:
    """The library of an engine; with ``--watch`` before the names, the one that says what changes."""
    return Watcher(arguments[1:]) if arguments[:1] == ["--watch"] else Library(arguments)
