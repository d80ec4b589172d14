"""Lists of passes run by a libLLVM of this system, for `mirenc.llvm.passes.find_llvm`.

By ctypes and LLVM's C API, the part of it that is the same from LLVM 16 on.
"""

import contextlib
import ctypes
import mmap
import os
import re
from collections.abc import Iterator
from ctypes import POINTER, byref, c_char_p, c_int, c_size_t, c_uint, c_uint64, c_void_p
from functools import cache
from typing import Any

from mirenc.llvm.child.pass_service import Answer, PassService, RefusedError
from mirenc.llvm.passes.object_file import Section, is_elf, named_section

_TARGETS = ("X86", "AArch64", "ARM", "RISCV", "PowerPC", "SystemZ", "LoongArch", "Mips", "Sparc", "WebAssembly")
_PARTS = ("TargetInfo", "Target", "TargetMC", "AsmPrinter", "AsmParser")
_PIC = 2  # LLVMRelocPIC, clang's default on Linux
_DEFAULT_CODE_MODEL = 0
_OBJECT = 1  # LLVMObjectFile
_RETURN_STATUS = 2  # LLVMReturnStatusAction
_ERROR = 0  # LLVMDSError
_AVAILABLE_EXTERNALLY, _PRIVATE = 1, 9  # LLVMLinkage
_LAST = 65535  # the priority of constructors and destructors without one
# A pass that takes away what it works on, such as a loop, leaves nothing to print: it is told as invalidated. So are
# the managers around it, whose names are no words, and adaptors.
_CHANGED_PASS = re.compile(
    rb"^\*\*\* IR (?:Dump After (\S+) on [^\n]*(?<! omitted because no change)|Pass ([\w-]+) invalidated) \*\*\*$",
    re.MULTILINE,
)
_WRAPPERS = ("PassAdaptor", "DevirtSCCRepeatedPass")

_HANDLER = ctypes.CFUNCTYPE(None, c_void_p, c_void_p)
# Every function that is used: names, result and parameters. `M` stands for text that LLVM gives away and wants back.
_P, _M, _I, _U = c_void_p, POINTER(c_char_p), c_int, POINTER(c_uint)
_FUNCTIONS: tuple[tuple[Any, ...], ...] = (
    ("ContextCreate CreatePassBuilderOptions GetDefaultTargetTriple", _P),
    ("GetBufferStart GetComdat GetDiagInfoDescription GetErrorMessage GetInitializer", _P, _P),
    ("ObjectFileCopySectionIterator TypeOf", _P, _P),
    ("GetFirstBasicBlock GetFirstFunction GetFirstInstruction WriteBitcodeToMemoryBuffer", _P, _P),
    ("GetNextBasicBlock GetNextFunction GetNextInstruction PrintModuleToString", _P, _P),
    ("ContextDispose DisposeBinary DisposeErrorMessage DisposeMemoryBuffer DisposeMessage", None, _P),
    ("DeleteGlobal DisposeModule DisposeSectionIterator MoveToNextSection", None, _P),
    ("GetDiagInfoSeverity GetLinkage GetNumOperands IsDeclaration IsNull StripModuleDebugInfo", _I, _P),
    ("GetSectionName GetTarget", c_char_p, _P),
    ("GetBufferSize", c_size_t, _P),
    ("ConstIntGetZExtValue GetSectionSize", c_uint64, _P),
    ("SetComdat SetInitializer", None, _P, _P),
    ("SetLinkage", None, _P, _I),
    ("SetSection", None, _P, c_char_p),
    ("GetNamedGlobal", _P, _P, c_char_p),
    ("ModuleCreateWithName", _P, c_char_p),
    ("AddGlobal", _P, _P, _P, c_char_p),
    ("GetOperand", _P, _P, c_uint),
    ("ContextSetDiagnosticHandler", None, _P, _HANDLER, _P),
    ("ContextSetDiscardValueNames", None, _P, _I),
    ("CreateBinary", _P, _P, _P, _M),
    ("CreateMemoryBufferWithMemoryRangeCopy", _P, c_char_p, c_size_t, c_char_p),
    ("CreateTargetMachine", _P, _P, c_char_p, c_char_p, c_char_p, _I, _I, _I),
    ("GetTargetFromTriple", _I, c_char_p, POINTER(_P), _M),
    ("GetVersion", None, _U, _U, _U),
    ("ObjectFileIsSectionIteratorAtEnd", _I, _P, _P),
    ("ParseCommandLineOptions", None, _I, _M, c_char_p),
    ("ParseIRInContext", _I, _P, _P, POINTER(_P), _M),
    ("RunPasses", _P, _P, c_char_p, _P, _P),
    ("TargetMachineEmitToMemoryBuffer", _I, _P, _P, _I, _M, POINTER(_P)),
    ("VerifyModule", _I, _P, _I, _M),
)


class LibLLVMPassService(PassService):
    """The first libLLVM of some file names that can be loaded; OSError if none can.

    ``options`` are LLVM's own, as ``opt`` takes them; they hold for the whole process.
    """

    def __init__(self, names: list[str], options: list[str]) -> None:
        super().__init__()
        self._c = _load(names)
        for functions, result, *parameters in _FUNCTIONS:
            for name in functions.split():
                function = getattr(self._c, f"LLVM{name}")
                function.restype, function.argtypes = result, parameters
        numbers = [c_uint() for _ in range(3)]
        self._c.LLVMGetVersion(*map(byref, numbers))
        self.version = ".".join(str(number.value) for number in numbers)
        for target in _TARGETS:
            for part in _PARTS:
                # A library is built for some targets, and not every target has every part.
                with contextlib.suppress(AttributeError):
                    getattr(self._c, f"LLVMInitialize{target}{part}")()
        words = [b"mirenc", *map(str.encode, options)]
        self._c.LLVMParseCommandLineOptions(len(words), (c_char_p * len(words))(*words), None)
        self._options = self._c.LLVMCreatePassBuilderOptions()
        self._machine = cache(self._new_machine)
        self._errors: list[str] = []
        # Without a handler of ours LLVM would end the process at an error of the backend. ctypes' object must live on.
        self._handler = _HANDLER(self._diagnose)

    def read(self, ir: bytes, debug: bool) -> bytes:
        with self._module(ir) as module:
            if problem := self._verifier_message(module):
                raise ValueError(problem)
            if not debug:
                self._c.LLVMStripModuleDebugInfo(module)
            return self._buffer_bytes(self._c.LLVMWriteBitcodeToMemoryBuffer(module))

    @contextlib.contextmanager
    def run(self, bitcode: bytes, pipeline: str, codegen: int) -> Iterator[tuple[c_void_p, int]]:
        self._errors.clear()
        with self._module(bitcode, diagnosed=True) as module:
            machine = self._machine(self._c.LLVMGetTarget(module), codegen)
            # LLVM takes an empty text for a pass without a name.
            if pipeline and (error := self._c.LLVMRunPasses(module, pipeline.encode(), machine, self._options)):
                message = self._c.LLVMGetErrorMessage(error)  # the error itself is gone with it
                raise RefusedError("pipeline", self._text(message, self._c.LLVMDisposeErrorMessage))
            yield module, machine

    def write_bitcode(self, module: c_void_p, machine: int) -> bytes:
        if problem := self._verifier_message(module):
            raise RefusedError("broken", problem)
        return self._buffer_bytes(self._c.LLVMWriteBitcodeToMemoryBuffer(module))

    @contextlib.contextmanager
    def _module(self, ir: bytes, *, diagnosed: bool = False) -> Iterator[c_void_p]:
        """A module in a context of its own, both for the time of a ``with``; ValueError where it cannot be parsed."""
        context = c_void_p(self._c.LLVMContextCreate())
        try:
            if diagnosed:
                self._c.LLVMContextSetDiagnosticHandler(context, self._handler, None)
                # Names of locals mean nothing, cost time, and would make two equal results look different.
                self._c.LLVMContextSetDiscardValueNames(context, 1)
            module, problem = c_void_p(), c_char_p()
            # LLVM takes the buffer, whatever comes of it.
            buffer = self._c.LLVMCreateMemoryBufferWithMemoryRangeCopy(ir, len(ir), b"<string>")
            if self._c.LLVMParseIRInContext(context, buffer, byref(module), byref(problem)):
                raise ValueError(self._message(problem))
            try:
                yield module
            finally:
                self._c.LLVMDisposeModule(module)
        finally:
            self._c.LLVMContextDispose(context)

    def _verifier_message(self, module: c_void_p) -> str:
        """The verifier's words where it refuses a module; "" where it accepts it."""
        problem = c_char_p()
        is_broken = self._c.LLVMVerifyModule(module, _RETURN_STATUS, byref(problem))
        words = self._message(problem)
        return (words or "no reason given") if is_broken else ""

    def _buffer_bytes(self, buffer: int | c_void_p) -> bytes:
        data = ctypes.string_at(self._c.LLVMGetBufferStart(buffer), self._c.LLVMGetBufferSize(buffer))
        self._c.LLVMDisposeMemoryBuffer(buffer)
        return data

    def instructions(self, module: c_void_p) -> int:
        blocks = (block for function in self._iter("Function", module) for block in self._iter("BasicBlock", function))
        return sum(1 for block in blocks for _ in self._iter("Instruction", block))

    def _iter(self, kind: str, parent: Any) -> Iterator[Any]:
        """The functions of a module, the blocks of a function, or the instructions of a block."""
        part = getattr(self._c, f"LLVMGetFirst{kind}")(parent)
        next_of = getattr(self._c, f"LLVMGetNext{kind}")
        while part:
            yield part
            part = next_of(part)

    def emit_object(self, module: c_void_p, machine: int) -> bytes:
        self._write_init_arrays(module, machine)
        return self._object(module, machine)

    def _write_init_arrays(self, module: c_void_p, machine: int) -> None:
        """List constructors and destructors in ``.init_array`` and ``.fini_array``, where object files are ELF.

        LLVM does so by itself for clang, which sets TargetOptions.UseInitArray; the C API cannot, and ``.ctors`` and
        ``.dtors``, the older way, mean nothing to LLD and to current C libraries: constructors would not run.
        """
        c = self._c
        for name, section in ((b"llvm.global_ctors", ".init_array"), (b"llvm.global_dtors", ".fini_array")):
            global_array = c_void_p(c.LLVMGetNamedGlobal(module, name))
            if not global_array or not self._is_elf(machine):
                continue
            array = c.LLVMGetInitializer(global_array)
            for row in range(c.LLVMGetNumOperands(array)):
                entry = c.LLVMGetOperand(array, row)
                priority, function, key = (c.LLVMGetOperand(entry, part) for part in range(3))
                if c.LLVMIsNull(function):
                    break
                comdat = c_void_p()
                if not c.LLVMIsNull(key):  # the constructor of what may be defined in several modules
                    if c.LLVMIsDeclaration(key) or c.LLVMGetLinkage(key) == _AVAILABLE_EXTERNALLY:
                        continue
                    comdat = c_void_p(c.LLVMGetComdat(key))
                number = c.LLVMConstIntGetZExtValue(priority)
                variable = c.LLVMAddGlobal(module, c.LLVMTypeOf(function), section[1:].encode())
                c.LLVMSetInitializer(variable, function)
                c.LLVMSetLinkage(variable, _PRIVATE)
                c.LLVMSetSection(variable, (section if number == _LAST else f"{section}.{number}").encode())
                if comdat:
                    c.LLVMSetComdat(variable, comdat)
            c.LLVMDeleteGlobal(global_array)

    def _is_elf(self, machine: int) -> bool:
        empty = c_void_p(self._c.LLVMModuleCreateWithName(b""))
        try:
            return is_elf(self._object(empty, machine))
        finally:
            self._c.LLVMDisposeModule(empty)

    def _object(self, module: c_void_p, machine: int) -> bytes:
        problem, buffer = c_char_p(), c_void_p()
        if self._c.LLVMTargetMachineEmitToMemoryBuffer(machine, module, _OBJECT, byref(problem), byref(buffer)):
            raise RefusedError("backend", self._message(problem))
        data = self._buffer_bytes(buffer)
        if self._errors:
            raise RefusedError("backend", self._errors[0])
        return data

    def print_text(self, module: c_void_p) -> bytes:
        return self._text(self._c.LLVMPrintModuleToString(module)).encode()

    def sections(self, data: bytes) -> list[Section]:
        c, problem, sections = self._c, c_char_p(), []
        buffer = c.LLVMCreateMemoryBufferWithMemoryRangeCopy(data, len(data), b"object")
        binary = c.LLVMCreateBinary(buffer, None, byref(problem))
        try:
            if not binary:
                raise RefusedError("backend", self._message(problem))
            section = c.LLVMObjectFileCopySectionIterator(binary)
            while not c.LLVMObjectFileIsSectionIteratorAtEnd(binary, section):
                sections.append(named_section(c.LLVMGetSectionName(section) or b"", c.LLVMGetSectionSize(section)))
                c.LLVMMoveToNextSection(section)
            c.LLVMDisposeSectionIterator(section)
            c.LLVMDisposeBinary(binary)
        finally:
            c.LLVMDisposeMemoryBuffer(buffer)
        return sections

    def _new_machine(self, triple: bytes, codegen: int) -> int:
        """Target machine of a triple, of this host's where a module names none."""
        triple = triple or self._text(self._c.LLVMGetDefaultTargetTriple()).encode()
        target, problem = c_void_p(), c_char_p()
        if self._c.LLVMGetTargetFromTriple(triple, byref(target), byref(problem)):
            raise RefusedError("backend", self._message(problem))
        machine = self._c.LLVMCreateTargetMachine(target, triple, b"", b"", codegen, _PIC, _DEFAULT_CODE_MODEL)
        if not machine:
            raise RefusedError("backend", f"LLVM makes no machine code for {triple.decode()}")
        return int(machine)

    def _diagnose(self, info: int, _: object) -> None:
        if self._c.LLVMGetDiagInfoSeverity(info) == _ERROR:
            self._errors.append(self._text(self._c.LLVMGetDiagInfoDescription(info)))

    def _message(self, message: c_char_p) -> str:
        """Text of an error message of LLVM's, which is then freed; "" where it left none."""
        return self._text(ctypes.cast(message, c_void_p).value).strip() if message else ""

    def _text(self, pointer: int | None, dispose: Any = None) -> str:
        """A copy of LLVM's text, which is then freed by ``dispose``, or LLVMDisposeMessage."""
        text = ctypes.string_at(pointer or 0).decode("utf-8", "replace")
        (dispose or self._c.LLVMDisposeMessage)(pointer)
        return text


class ChangedPassesService(LibLLVMPassService):
    """A libLLVM that says which passes of a list change a module, by its own option ``-print-changed``.

    LLVM prints to descriptor 2, which the parent has made a file; ``=quiet`` would keep back that a pass deleted its
    loop.
    """

    def answer(self, bitcode: bytes, pipeline: str, codegen: int, keep: str) -> Answer:
        """Names of the passes that changed the module; RefusedError."""
        os.ftruncate(2, 0)
        os.lseek(2, 0, os.SEEK_SET)
        with self.run(bitcode, pipeline, codegen):
            size = os.fstat(2).st_size
            if not size:
                return {"changed": []}, b""
            with mmap.mmap(2, size, access=mmap.ACCESS_READ) as output:
                names = {(changed or invalidated).decode() for changed, invalidated in _CHANGED_PASS.findall(output)}
        return {"changed": sorted(name.removesuffix("Pass") for name in names if not name.endswith(_WRAPPERS))}, b""


def _load(names: list[str]) -> Any:
    problems = []
    for name in names:
        try:
            return ctypes.CDLL(name)
        except OSError as error:
            problems.append(str(error))
    # One that is there but cannot be loaded is what a user wants to hear of, not the names that do not exist.
    load_errors = [problem for problem in problems if "no such file" not in problem.lower()]
    raise OSError((load_errors or problems)[0])


def open_service(arguments: list[str]) -> LibLLVMPassService:
    """The service. ``arguments``: LLVM's options, which begin with a dash, and file names of the library."""
    options = [argument for argument in arguments if argument.startswith("-")]
    names = [argument for argument in arguments if not argument.startswith("-")]
    return (ChangedPassesService if "-print-changed" in options else LibLLVMPassService)(names, options)
