"""ProGraML's graph and the native graph of one module, node by node and edge by edge.

The released program holds LLVM 10 and reads typed pointers; mirenc reads through LLVM 22.
`compare` first rewrites ProGraML's graph as LLVM 22 would have made it: `REWRITES` and
`modernised` name the change of LLVM each rewrite stands for, and nothing else is forgiven. Then it
builds the isomorphism: instructions are known by function and number, variables and constants by
the operands they fill. No node is left to a guess, so equality of the labelled graphs is equality
of the graphs.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from mirenc.model.graph import Flow, NodeKind, ProgramGraph

INSTRUCTION, VARIABLE, CONSTANT = NodeKind
CONTROL, DATA, CALL = Flow
WORD = r"[-a-zA-Z$._0-9]+"
NAME = rf'(?:{WORD}|"[^"]*")'
Edge = tuple[int, int, Flow, int]
Rewrite = str | Callable[[re.Match[str]], str]
OPENERS = {")": "(", "]": "[", "}": "{", ">": "<"}


@dataclass(frozen=True)
class Node:
    """A node of either graph."""

    kind: NodeKind
    text: str
    full_text: str
    function: str


@dataclass
class Graph:
    """Nodes by number, edges as (source, target, flow, position)."""

    nodes: dict[int, Node]
    edges: list[Edge]


def compare(programl: ProgramGraph, native: ProgramGraph, source: str) -> tuple[int, int]:
    """Demand equal graphs.

    Parameters
    ----------
    programl, native : ProgramGraph
        The native one with texts of level ``none``.
    source : str
        The typed-pointer text both were made from.

    Returns
    -------
    nodes, edges : int
        How many of the native graph were compared.
    """
    expected_nodes, expected_edges = labelled(modernised(plain(programl), source))
    found_nodes, found_edges = labelled(without_noise(plain(native)))
    for label, node in expected_nodes.items():
        if "struct*" in (node.text, node.full_text.partition(" ")[0]) and label in found_nodes:
            expected_nodes[label] = with_address_space(node, found_nodes[label])
    assert_equal(found_nodes.items(), expected_nodes.items(), "nodes")
    assert_equal(found_edges.elements(), expected_edges.elements(), "edges")
    return native.node_count, native.edge_count


def with_address_space(node: Node, native: Node) -> Node:
    """Fill in what ProGraML leaves out: ``struct*`` is a pointer in any address space."""
    if not re.fullmatch(POINTER, native.text):
        return node
    full_text = re.sub(r"^struct\* ", f"{native.text} ", node.full_text)
    return replace(node, text=native.text, full_text=full_text)


def without_markers(source: str) -> str:
    """Typed-pointer text without lifetime markers and debug intrinsics.

    LLVM 22 turns them into something else while it reads: a marker loses its size, moves from the
    cast to the alloca and leaves a declaration behind; debug intrinsics become records. So neither
    backend gets them.
    """
    return re.sub(
        r"^ *(?:(?:tail )?call|declare) void @llvm\.(?:lifetime|dbg)\..*\n",
        "",
        source,
        flags=re.MULTILINE,
    )


def assert_equal(native: Iterable[object], expected: Iterable[object], elements: str) -> None:
    """Compare as multisets; the message shows only what differs."""
    more = Counter(map(str, native))
    less = Counter(map(str, expected))
    extra, lacking = more - less, less - more
    assert not extra, f"native has other {elements}:\n{_few(extra)}\nProGraML has:\n{_few(lacking)}"
    assert not lacking, f"native lacks {elements} that ProGraML has:\n{_few(lacking)}"


def _few(items: Counter[str]) -> str:
    shown = sorted(items)[:12]
    return "\n".join(f"  {items[item]} x {item[:300]}" for item in shown) or "  none"


def plain(graph: ProgramGraph) -> Graph:
    """The arrays as objects."""
    nodes = {
        number: Node(NodeKind(kind), text, full_text, graph.functions[row] if row >= 0 else "")
        for number, (kind, text, full_text, row) in enumerate(
            zip(
                graph.node_kind.tolist(),
                graph.node_text,
                graph.node_full_text,
                graph.node_function.tolist(),
                strict=True,
            )
        )
    }
    edges = [
        (source, target, Flow(flow), position)
        for source, target, flow, position in zip(
            *graph.edge_index.tolist(),
            graph.edge_flow.tolist(),
            graph.edge_position.tolist(),
            strict=True,
        )
    ]
    return Graph(nodes, edges)


def labelled(graph: Graph) -> tuple[dict[object, Node], Counter[object]]:
    """Nodes and edges under names that do not depend on node numbers."""
    labels: dict[int, object] = {}
    seen: Counter[str] = Counter()
    for number, node in graph.nodes.items():
        if node.kind == INSTRUCTION:
            labels[number] = f"{node.function}:{seen[node.function]}" if number else node.text
            seen[node.function] += number > 0
    uses: dict[int, list[str]] = defaultdict(list)
    for source, target, flow, position in graph.edges:
        if flow == DATA and graph.nodes[target].kind == INSTRUCTION:
            uses[source].append(f"{labels[target]}[{position}]")
    for number, node in graph.nodes.items():
        if node.kind != INSTRUCTION:
            labels[number] = f"{node.kind.name.lower()} {' '.join(sorted(uses[number]))}"
    assert len(set(labels.values())) == len(labels), "two nodes fill the same operands"
    edges = Counter(
        f"{labels[source]} -> {labels[target]}, {flow.name.lower()} {position}"
        for source, target, flow, position in graph.edges
    )
    return {labels[number]: node for number, node in graph.nodes.items()}, edges


def outside_strings(change: Callable[[str], str], text: str) -> str:
    """Change a text but for names and strings in quotes: they may hold stars and brackets."""
    strings: list[str] = []

    def hide(match: re.Match[str]) -> str:
        strings.append(match[0])
        return f'"{len(strings) - 1}"'

    changed = change(re.sub(r'"[^"]*"', hide, text))
    return re.sub(r'"(\d+)"', lambda match: strings[int(match[1])], changed)


def typed_to_opaque(text: str) -> str:
    """Typed pointers as LLVM 15 and later print them: ``i8 addrspace(3)*`` is ``ptr addrspace(3)``.

    The leftmost ``*`` always ends a pointer to a type without ``*``, so the stars fall one by one.
    """
    if re.match(r"struct\*+(?: %|$)", text):  # ProGraML's word, not LLVM's: see `with_address_space`
        return re.sub(r"\*+", "*", text)
    while (star := text.find("*")) >= 0:
        space = re.search(r" addrspace\((\d+)\)$", text[:star])
        start = _type_start(text, space.start() if space else star)
        # One word until the end: `ptr addrspace(1)*` could be read in two ways.
        text = f"{text[:start]}ptr{f'.{space[1]}' if space else ''}{text[star + 1 :]}"
    return re.sub(r"\bptr\.(\d+)", r"ptr addrspace(\1)", text)


def _type_start(text: str, end: int) -> int:
    """Where the type that ends at ``end`` begins; there is no ``*`` in it."""
    closer, at = text[end - 1], end - 1
    if closer not in OPENERS:
        word = re.search(r'%?(?:[-a-zA-Z$._0-9]+|"\d+")$', text[:end])
        assert word, text
        return word.start()
    depth = 1
    while depth:
        at -= 1
        depth += (text[at] == closer) - (text[at] == OPENERS[closer])
    # Before the parameters of a function type stands its return type.
    return _type_start(text, at - 1) if closer == ")" else at


POINTER = r"ptr(?: addrspace\(\d+\))?"
# What LLVM 10 printed, and how LLVM 22 prints the same thing.
REWRITES = [
    # Opaque pointers: a cast between pointers of one address space, or an offset of zero, computes
    # nothing, and constant expressions of them fold to their operand.
    (rf"\bbitcast \({POINTER} ((?:(?! to )[^()]|\([^()]*\))+) to {POINTER}\)", r"\1"),
    (rf"\bgetelementptr (?:inbounds )?\([^()@]+, {POINTER} (@{NAME})(?:, i\d+ 0)+\)", r"\1"),
    # Opaque pointers: the names of overloaded intrinsics lose the pointee ...
    (rf"(?<=llvm\.)({WORD})", lambda match: re.sub(r"(?<![a-z])p(\d+)[a-z]\w*", r"p\1", match[1])),
    # ... and these get the address space.
    (r"\bllvm\.(eh\.typeid\.for|stacksave|stackrestore|va_\w+)(?![.\w])", r"llvm.\1.p0"),
    # LLVM 19 moved this hint to the front; mirenc leaves it out (`mirenc.llvm.ir.old_text`).
    (r"\binrange (?=i\d+ )", ""),
    # LLVM 20: a vector of equal elements.
    (r"<([\w]+ [^<>,]+)(?:, \1)+>", r"splat (\1)"),
    # LLVM 20: another name, the same barrier.
    (r"\bllvm\.nvvm\.bar\.sync\b", "llvm.nvvm.barrier.cta.sync.aligned.all"),
]
# What either of them prints and the other does not, while the graph does not depend on it.
NOISE = [
    # mirenc leaves metadata attachments and attribute groups out.
    (rf", !{WORD} !\d+", ""),
    (r" #\d+\b", ""),
    # LLVM 12: the pointee of this attribute.
    (r"\bsret\([^()]*\)", "sret"),
    # LLVM 21: another name, and another place among the attributes.
    (r"\b(?:nocapture|captures\(none\)) ", ""),
    # LLVM 13: atomics have an alignment.
    (r"^((?:%\S+ = )?(?:cmpxchg|atomicrmw) .*), align \d+$", r"\1"),
    # LLVM breaks long instructions into lines, mirenc joins them.
    (r"\s+", " "),
]


def rewritten(text: str, rules: Iterable[tuple[str, Rewrite]]) -> str:
    """Apply every rule until none changes the text any more."""
    previous = None
    while previous != text:
        previous = text
        for pattern, replacement in rules:
            text = re.sub(pattern, replacement, text)
    return text


def opaque(text: str) -> str:
    """Text of LLVM 10, without its strings, as LLVM 22 prints it."""
    text, mask = rewritten(typed_to_opaque(text), NOISE), ""
    if " = shufflevector " in text:
        # LLVM 12: the lanes that a mask leaves open are poison. A mask is always printed in full.
        text, comma, mask = text.rpartition(", <")
        mask = comma + mask.replace("undef", "poison")
    text = rewritten(text, REWRITES) + mask
    return text.strip()  # LLVM 10 ends an alias with a space


def without_noise(graph: Graph) -> Graph:
    """The native graph."""
    nodes = {
        number: replace(node, full_text=outside_strings(lambda text: rewritten(text, NOISE), node.full_text))
        for number, node in graph.nodes.items()
    }
    return Graph(nodes, graph.edges)


def modernised(graph: Graph, source: str) -> Graph:
    """ProGraML's graph as LLVM 22 would have made it."""
    functions = set(re.findall(rf"^(?:define|declare) [^@\n]*(@{NAME})\(", source, re.MULTILINE))
    definitions = {
        line[: line.index(" = ")]: outside_strings(opaque, line)
        for line in re.findall(rf"^@{NAME} = .*$", source, re.MULTILINE)
    }
    nodes: dict[int, Node] = {}
    merged: dict[int, int] = {}
    first: dict[str, int] = {}
    for number, old in graph.nodes.items():
        node = Node(
            old.kind,
            outside_strings(typed_to_opaque, old.text),
            outside_strings(opaque, old.full_text),
            opaque(old.function) if old.function.startswith("llvm.") else old.function,
        )
        if node.kind == CONSTANT:
            symbol = node.full_text.rpartition(" ")[2] if node.full_text.startswith("ptr") else ""
            if symbol in functions:
                continue  # what was a cast of a function is the function, which makes no node
            node = replace(node, full_text=definitions.get(symbol, node.full_text))
            # Constants that differed in their pointee only, as the nulls of two types, are one.
            same = first.setdefault(node.full_text, number)
            if same != number:
                merged[number] = same
                continue
        nodes[number] = node
    edges: list[Edge] = []
    for start, target, flow, position in graph.edges:
        start = merged.get(start, start)
        if start not in nodes:
            continue
        if flow == DATA and position == 2 and nodes[target].text == "shufflevector":
            continue  # LLVM 11: the mask is not an operand any more
        edges.append((start, target, flow, position))
    # A constant that was only a mask has no use left.
    used = {start for start, _, _, _ in edges}
    nodes = {n: node for n, node in nodes.items() if node.kind != CONSTANT or n in used}
    return Graph(nodes, edges)
