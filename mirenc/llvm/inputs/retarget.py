"""`bring`: IR of another target rewritten for the target of a `Dialect`, as text, which LLVM then verifies."""

import re

from mirenc.base.errors import ForeignIRError, IRParseError
from mirenc.llvm.child.parsing_worker import default_worker
from mirenc.llvm.inputs.dialect import Dialect
from mirenc.llvm.ir.canonical_reader import read_canonical
from mirenc.llvm.ir.functions import check_kernels
from mirenc.llvm.ir.lines import NAME, balanced
from mirenc.llvm.ir.module import IRModule

_STRING = r'"[^"]*"'
_SPACE = re.compile(rf"({_STRING})|,? addrspace\(\d+\)")
_CONVENTION = re.compile(rf"({_STRING})|\b(?:spir_func|ptx_device|amdgpu_gfx|cc ?\d+) |\b(?:amdgpu|ptx)_kernel\b")
_OVERLOAD = re.compile(r"(?<=@)llvm\.[\w.]+")
_POINTER_SUFFIX = re.compile(r"(\.|v\d+)p[1-9]\d*(?=\.|$)")
_IMAGE = re.compile(r'target\("spirv\.[^"]*"[^()]*\)')
_BODY = re.compile(r"^define .*?^\}$", re.MULTILINE | re.DOTALL)
_CAST = re.compile(rf"^  (%{NAME}) = addrspacecast (?:ptr|<[^>]*>) (.+) to (?:ptr|<[^>]*>)\n", re.MULTILINE)
_LOCAL = re.compile(rf"%{NAME}")
_DECLARATION = re.compile(rf"^declare [^@\n]*@({NAME})\(.*\n", re.MULTILINE)
# OpenCL 1.2 for a target without address spaces names them in words; for spir by number.
_MANGLED_SPACE = re.compile(r"(?<=U)3AS([1-4])")
_SPACE_WORDS = {"1": "8CLglobal", "2": "10CLconstant", "3": "7CLlocal", "4": "9CLgeneric"}

_AXIS = {"x": "0", "y": "1", "z": "2"}
_QUERY = {"tid": "get_local_id", "ntid": "get_local_size", "ctaid": "get_group_id", "nctaid": "get_num_groups"}
_QUERY |= {"workitem": "get_local_id", "workgroup": "get_group_id"}
_SPECIAL_REGISTER = re.compile(
    rf"^  (%{NAME}) = (?:tail )?call [^@\n]*@llvm\."
    r"(?:nvvm\.read\.ptx\.sreg\.(\w+)\.([xyz])|amdgcn\.(workitem|workgroup)\.id\.([xyz]))\(\).*$",
    re.MULTILINE,
)
_PLAIN_QUERY = re.compile(
    r"(?<=@)get_(?:(?:global|local|group)_id|(?:global|local)_size|num_groups|global_offset)(?=\()"
)
_NARROW_QUERY = re.compile(
    rf"^  (%{NAME}) = (?:tail )?call [^@\n]*\bi32 @(_Z\d+get_\w+j)\(i32 (?:noundef )?([^)]*)\).*$", re.MULTILINE
)
_BARRIER = re.compile(
    r"^  (?:tail )?call void @llvm\.(?:nvvm\.barrier0|nvvm\.barrier\.cta\.sync\.aligned\.all|amdgcn\.s\.barrier)\(.*$",
    re.MULTILINE,
)
# Clangs of the published kernels' time, by `!llvm.ident`: their spelling is the dialect's.
_OLD_WRITER = re.compile(r'^![0-9]+ = !\{!"[^"]*(?:Apple LLVM version|clang version [3-6]\.)', re.MULTILINE)
_FOREIGN = re.compile(r"^ .*(@llvm\.(?:nvvm|amdgcn|r600|spv|genx)\.[\w.]+|\basm (?:sideeffect )?\")", re.MULTILINE)


def bring(module: IRModule, dialect: Dialect) -> IRModule:
    """A module with kernels, rewritten to a dialect; the module itself where nothing changes.

    A dialect of any target takes IR as it is. Raises ForeignIRError: it has no kernel, or instructions that the
    dialect has none for, such as a warp shuffle.
    """
    if not dialect.triple:
        return module
    check_kernels(module)
    text = _rewrite(module.text)
    foreign = _FOREIGN.search(text)
    if foreign:
        reason = f"it uses {'assembly text' if foreign[1].startswith('asm') else foreign[1][1:]} of its target"
        advice = "Give the kernel's OpenCL source, or IR that does not use this"
        raise ForeignIRError(f"{module.name}: {reason}, which cannot be written in {dialect.title}. {advice}")
    if text == module.text:
        return module
    for key, value in (("triple", dialect.triple), ("datalayout", dialect.data_layout)):
        text = re.sub(rf'^target {key} = ".*"$', f'target {key} = "{value}"', text, flags=re.MULTILINE)
    worker = default_worker()
    try:
        canonical = worker.canonicalise(text.encode("utf-8", "surrogateescape"))
    except IRParseError as error:
        problem = f"{module.name}: it cannot be translated to {dialect.title}: {error.args[0]}"
        raise ForeignIRError(f"{problem}. Give the kernel's OpenCL source") from None
    return read_canonical(canonical, name=module.name, demangle=worker.demangle)


def _rewrite(text: str) -> str:
    text = _SPACE.sub(lambda match: match[1] or "", text)
    text = _CONVENTION.sub(lambda m: m[1] or ("spir_kernel" if m[0].endswith("kernel") else ""), text)
    text = _OVERLOAD.sub(lambda match: _POINTER_SUFFIX.sub(r"\1p0", match[0]), text)
    text = _IMAGE.sub("ptr", text)
    text = _MANGLED_SPACE.sub(lambda match: _SPACE_WORDS[match[1]], text)
    if "addrspacecast" in text:
        text = _BODY.sub(lambda match: _without_casts(match[0]), _fold_constant_casts(text))
    text = _opencl_builtins(text)
    if not _OLD_WRITER.search(text):
        from mirenc.llvm.inputs.llvm5_text import as_llvm5  # here: it compiles patterns, and few modules need it

        text = _BODY.sub(lambda match: as_llvm5(match[0]), text)
    return _merge_declarations(text)


def _fold_constant_casts(text: str) -> str:
    """Text with ``@x`` in place of ``addrspacecast (ptr @x to ptr)``."""
    mark = "addrspacecast ("
    while (first := text.find(mark)) >= 0:
        end = balanced(text, first + len(mark) - 1)
        operand = text[first + len(mark) : end - 1]
        text = text[:first] + operand.removeprefix("ptr ").removesuffix(" to ptr") + text[end:]
    return text


def _without_casts(body: str) -> str:
    """A function whose casts between address spaces, which change nothing now, are gone."""
    values = {match[1]: match[2] for match in _CAST.finditer(body)}

    def value(match: re.Match[str]) -> str:
        name = match[0]
        while name in values:
            name = values[name]
        return name

    return _LOCAL.sub(value, _CAST.sub("", body))


def _opencl_builtins(text: str) -> str:
    """Work-item queries, barriers and libdevice's functions by OpenCL's names."""
    declarations: dict[str, str] = {}

    def query(name: str, result: str, argument: str) -> str:
        # OpenCL's size_t has 64 bits here; a special register or a 32-bit target's size_t has 32.
        declarations[name] = f"declare i64 @{name}(i32)"
        wide_name = f"%mirenc.{result[1:].strip(chr(34))}"
        return f"  {wide_name} = call i64 @{name}(i32 {argument})\n  {result} = trunc i64 {wide_name} to i32"

    def register(match: re.Match[str]) -> str:
        kind, axis = match[2] or match[4], match[3] or match[5]
        return query(_mangle(_QUERY[kind]), match[1], _AXIS[axis]) if kind in _QUERY else match[0]

    text = _PLAIN_QUERY.sub(lambda match: _mangle(match[0]), text)
    text = _SPECIAL_REGISTER.sub(register, text)
    text = _NARROW_QUERY.sub(lambda match: query(match[2], match[1], match[3]), text)
    text, barriers = _BARRIER.subn("  call void @_Z7barrierj(i32 1)", text)
    if barriers:
        declarations["_Z7barrierj"] = "declare void @_Z7barrierj(i32)"
    for line in declarations.values():
        text = re.sub(rf"^declare i32 {re.escape(line.split()[2].split('(')[0])}\(.*\n", "", text, flags=re.MULTILINE)
    return text + "".join(line + "\n" for line in declarations.values())


def _mangle(name: str) -> str:
    """Itanium name of an OpenCL builtin that takes one number."""
    return f"_Z{len(name)}{name}j"


def _merge_declarations(text: str) -> str:
    """Text without repeated declarations: overloads that differed by address space alone are one function now."""
    declared_names: set[str] = set()

    def keep_first(match: re.Match[str]) -> str:
        is_repeated = match[1] in declared_names
        declared_names.add(match[1])
        return "" if is_repeated else match[0]

    return _DECLARATION.sub(keep_first, text)
