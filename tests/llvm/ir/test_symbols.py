"""Symbols in statements: a table of demangled names, and what is shown for mangled and numbered ones."""

import pytest

from mirenc.llvm import parse_ir, statements_of
from mirenc.llvm.ir.symbols import display_symbols, strip_parameters, unescaped


@pytest.mark.parametrize(
    ("demangled", "shown"),
    [
        ("f()", "f"),
        ("f(int, char const*)", "f"),
        ("f(int (*)(double), void (S::*)(int))", "f"),
        ("void f<int>(int)", "f<int>"),
        ("unsigned long long f<3ul>(long)", "f<3ul>"),
        ("std::enable_if<true, int>::type f<int>(int)", "f<int>"),
        ("decltype(auto) f<int>(int)", "f<int>"),
        ("int const& std::max<int>(int const&, int const&)", "std::max<int>"),
        ("void f<void (S::*)(int)>(void (S::*)(int))", "f<void (S::*)(int)>"),
        ("A<(E)1>::f()", "A<(E)1>::f"),
        (
            "std::vector<int, std::allocator<int> >::push_back(int const&)",
            "std::vector<int, std::allocator<int>>::push_back",
        ),
        ("a::b<a::b<a::b<int> > >::c()", "a::b<a::b<a::b<int>>>::c"),
        ("S::S(int)", "S::S"),
        ("S::~S()", "S::~S"),
        ("S::f() const", "S::f"),
        ("S::f() &&", "S::f"),
        ("S::f() volatile const &", "S::f"),
        ("f(int) [clone .cold]", "f"),
        ("f(int) [clone .constprop.0] [clone .isra.1]", "f"),
        ("auto f<int>(int) requires true", "f<int>"),
        # Operators: their signs are no brackets, their spaces part no words.
        ("S::operator()(int) const", "S::operator()"),
        ("S::operator[](int)", "S::operator[]"),
        ("S::operator->() const", "S::operator->"),
        ("S::operator,(int)", "S::operator,"),
        ("operator<=>(S, S)", "operator<=>"),
        ("std::operator==(S, S)", "std::operator=="),
        ("bool operator< <int>(S<int> const&, S<int> const&)", "operator< <int>"),
        ("std::ostream<char, T<char> >& std::operator<< <T<char> >(char const*)", "std::operator<< <T<char>>"),
        ("S::operator bool() const", "S::operator bool"),
        (
            "S::operator std::vector<int, std::allocator<int> >() const",
            "S::operator std::vector<int, std::allocator<int>>",
        ),
        ("operator new(unsigned long)", "operator new"),
        ("operator delete[](void*)", "operator delete[]"),
        ('operator"" _km(long double)', 'operator"" _km'),
        ("my_operator(int)", "my_operator"),
        ("S::operatorx(int)", "S::operatorx"),
        ("std::function<void (int)>::operator()(int) const", "std::function<void (int)>::operator()"),
        # Scopes with parameters of their own.
        ("(anonymous namespace)::f(int)", "{anonymous}::f"),
        ("main::{lambda(int)#1}::operator()(int) const", "main::{lambda(int)#1}::operator()"),
        ("f(int)::{lambda(int)#1}::operator()(int) const", "f(int)::{lambda(int)#1}::operator()"),
        ("void f<int>(int)::{lambda(int)#1}::operator()(int) const", "f<int>(int)::{lambda(int)#1}::operator()"),
        ("f(int)::S::g()", "f(int)::S::g"),
        ("f(int)::x", "f(int)::x"),
        ("S::f() const::x", "S::f() const::x"),
        # Where libstdc++ writes [clone .cold], libc++abi and LLVM write (.cold).
        ("f(int) (.cold)", "f"),
        ("S::f() const (.part.0)", "S::f"),
        # No parameter list: variables and special names stay whole.
        ("S::x", "S::x"),
        ("S<int>::x", "S<int>::x"),
        ("(anonymous namespace)::x", "{anonymous}::x"),
        ("vtable for S", "vtable for S"),
        (
            "typeinfo name for std::vector<int, std::allocator<int> >",
            "typeinfo name for std::vector<int, std::allocator<int>>",
        ),
        ("guard variable for f(int)::x", "guard variable for f(int)::x"),
        ("typeinfo for int (char)", "typeinfo for int (char)"),
        ("core::fmt::write", "core::fmt::write"),
        ("main", "main"),
    ],
)
def test_strip_parameters(demangled: str, shown: str) -> None:
    assert strip_parameters(demangled) == shown


def test_display_symbols_asks_for_each_mangled_name_once() -> None:
    batches: list[list[str]] = []

    def demangle(names: list[str]) -> list[str]:
        batches.append(names)
        return [{"_Z1fi": "f(int)", "_ZN1SC2Ev": "S::S()"}.get(name, name) for name in names]

    text = "".join(f"call void @{name}()\n" for name in ("_Z1fi", "_ZN1SC2Ev", "_Z1fi", "_Zbad", "plain"))
    assert display_symbols(text, demangle) == {"@_Z1fi": "@f", "@_ZN1SC2Ev": "@S::S"}
    assert batches == [["_Z1fi", "_ZN1SC2Ev", "_Zbad"]]


def test_the_hash_of_a_rust_name_is_left_out() -> None:
    name = "_ZN4core3fmt5write17h0123456789abcdefE"
    shown = display_symbols(f"call void @{name}()", lambda names: ["core::fmt::write::h0123456789abcdef"])
    assert shown == {f"@{name}": "@core::fmt::write"}


@pytest.mark.parametrize(
    ("symbol", "shown"),
    [
        ("@.str.1", "@.str"),
        ("@.str.17.2", "@.str"),
        ("@str.3", "@str"),
        ("@switch.table.4", "@switch.table"),
        ("@.str", None),
        ("@.str.x", None),
        ("@.str.1.name", None),
        ("@my.str.1", None),
        ("@x.1", None),
    ],
)
def test_numbers_of_private_constants(symbol: str, shown: str | None) -> None:
    symbols = display_symbols(f"load ptr, ptr {symbol}, align 8", None)
    assert symbols == ({symbol: shown} if shown else {})


def test_names_stay_where_nothing_demangles() -> None:
    assert display_symbols("call void @_Z1fi(i32 1)", None) == {}
    assert display_symbols("call void @f()", lambda names: pytest.fail("nothing to demangle")) == {}


def test_the_whole_way_through_llvm() -> None:
    module = parse_ir("""
@_ZTV1S = external constant [3 x ptr]
declare void @_ZN1SC2Ev(ptr)
declare void @_ZNSt6vectorIiSaIiEE9push_backERKi(ptr, ptr)
define void @_Z4makev(ptr %p) {
  store ptr @_ZTV1S, ptr %p
  call void @_ZN1SC2Ev(ptr %p)
  call void @_ZNSt6vectorIiSaIiEE9push_backERKi(ptr %p, ptr %p)
  ret void
}""")
    statements = statements_of(module)
    assert [statements[number] for number in range(4)] == [
        "@vtable for S = external constant [3 x ptr]",
        "store ptr @vtable for S, ptr %",
        "call void @S::S(ptr %)",
        "call void @std::vector<int, std::allocator<int>>::push_back(ptr %, ptr %)",
    ]
    assert module.functions[-1].display_name == "make"


LOCAL_ARRAYS = """
@scan.tile = internal unnamed_addr addrspace(3) global [64 x float] undef, align 4
@_ZZ4scanvE5other = internal addrspace(3) global [4 x i32] undef, align 4
@helper.tile = internal unnamed_addr global [64 x float] undef, align 16
@helper.count = internal global i32 0, align 4
@table.tile = internal global [64 x float] undef
@outside = external addrspace(3) global [0 x float]
@constant.tile = internal addrspace(3) constant [2 x i32] [i32 1, i32 2]
define float @scan(i64 %i) {
  %p = getelementptr [64 x float], ptr addrspace(3) @scan.tile, i64 0, i64 %i
  %v = load float, ptr addrspace(3) %p
  ret float %v
}
define ptr @helper(ptr addrspace(3) %s) {
  store ptr @helper.tile, ptr @helper.count
  ret ptr @table.tile
}
"""


def test_arrays_in_local_memory_have_local_names() -> None:
    shown = display_symbols(LOCAL_ARRAYS, None)
    # Neither a static variable, nor what belongs to no function, nor an array of the caller's, nor constants.
    assert shown == dict.fromkeys(("@scan.tile", "@_ZZ4scanvE5other", "@helper.tile"), "%")


def test_renaming_an_array_in_local_memory_changes_no_statement() -> None:
    module = parse_ir(LOCAL_ARRAYS)
    texts = statements_of(module).texts
    assert "% = addrspace(3) global [64 x float] undef" in texts
    assert "% = getelementptr [64 x float], ptr addrspace(3) %, i64 0, i64 %" in texts
    assert "store ptr %, ptr @helper.count" in texts
    renamed = parse_ir(LOCAL_ARRAYS.replace("@scan.tile", "@scan.buffer").replace("@helper.tile", "@helper.b.c"))
    assert statements_of(renamed).texts == texts
    # Level none is the paper's: it keeps names.
    assert "@scan.tile" in " ".join(statements_of(module, "none").texts)


@pytest.mark.parametrize(
    ("written", "meant"),
    [("plain", "plain"), (r"a\C3\A9", "aé"), (r"back\\slash", "back\\slash"), (r"\\41", "\\41"), (r"\22", '"')],
)
def test_escapes_of_a_name(written: str, meant: str) -> None:
    assert unescaped(written) == meant
