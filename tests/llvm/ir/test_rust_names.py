"""Rust's symbol names: what rustc writes and what `llvm-cxxfilt` and binutils' ``c++filt`` make of it."""

import pytest

from mirenc.llvm import parse_ir, regions_of
from mirenc.llvm.ir.rust_names import rust_name

# rustc 1.95, -C symbol-mangling-version=legacy; the last two with the suffixes LLVM gives clones.
LEGACY = {
    "_ZN4core9panicking5panic17h0123456789abcdefE": "core::panicking::panic",
    "_ZN36_$LT$$RF$str$u20$as$u20$rust..Tr$GT$1m17h6b817d452b07a3f1E": "<&str as rust::Tr>::m",
    "_ZN4core3ptr46drop_in_place$LT$alloc..vec..Vec$LT$u8$GT$$GT$17h3a11c9d2c96dca2eE": (
        "core::ptr::drop_in_place<alloc::vec::Vec<u8>>"
    ),
    "_ZN4rust3arr28_$u7b$$u7b$closure$u7d$$u7d$17h1472b1a039eed968E": "rust::arr::{{closure}}",
    "_ZN4core3ptr9const_ptr33_$LT$impl$u20$$BP$const$u20$T$GT$13is_aligned_to17h10e680a46d386060E": (
        "core::ptr::const_ptr::<impl *const T>::is_aligned_to"
    ),
    "_ZN66_$LT$$LP$i32$C$$u5b$u8$u3b$$u20$4$u5d$$RP$$u20$as$u20$rust..Tr$GT$1m17h09528f73ab5a4ed9E": (
        "<(i32,[u8; 4]) as rust::Tr>::m"
    ),
    "_ZN4rust2go17h0061b17437eb8f84E.llvm.123": "rust::go",
    "__ZN4rust2go17h0061b17437eb8f84E": "rust::go",
}
V0 = {
    "_RNvCshKuLGoDTFBq_4rust2go": "rust::go",
    "_RNvCshKuLGoDTFBq_4rust2go.llvm.123": "rust::go",
    "_RNvNtCshKuLGoDTFBq_4rust5inner3sum": "rust::inner::sum",
    "_RINvCshKuLGoDTFBq_4rust3arrKj3_EB2_": "rust::arr::<3>",
    "_RNCNvCshKuLGoDTFBq_4rust2gos_0B3_": "rust::go::{closure#1}",
    "_RINvNtCshKuLGoDTFBq_4rust5inner5applyNCNvB4_2go0EB4_": "rust::inner::apply::<rust::go::{closure#0}>",
    "_RINvNtCsgEmfK2I1SDS_4core3ptr13drop_in_placeINtNtCslNYArtu3iFV_5alloc3vec3VechEECshKuLGoDTFBq_4rust": (
        "core::ptr::drop_in_place::<alloc::vec::Vec<u8>>"
    ),
    "_RNvMs4_NtNtCsgEmfK2I1SDS_4core5slice4iterINtB5_4IterhE3newCshKuLGoDTFBq_4rust": (
        "<core::slice::iter::Iter<u8>>::new"
    ),
    "_RNvNvMs6_NtCsgEmfK2I1SDS_4core3numm13unchecked_add18precondition_checkCshKuLGoDTFBq_4rust": (
        "<u32>::unchecked_add::precondition_check"
    ),
    # From RFC 2603 and its reference reader's tests, by hand.
    "_RINvC1a1fFG_RL0_hEuE": "a::f::<fn(&u8)>",
    "_RINvC1a1fDNtC1a1TEL_E": "a::f::<dyn a::T>",
    "_RINvC1a1fDINtC1a1ThEp4ItembEL_E": "a::f::<dyn a::T<u8, Item = bool>>",
    "_RINvC1a1fFUKCPaOhEjE": 'a::f::<unsafe extern "C" fn(*const i8, *mut u8) -> usize>',
    "_RINvC1a1fTlEKb1_Kc41_Kin1f_QeE": "a::f::<(i32,), true, 'A', -31, &mut str>",
    "_RNvC1au8gdel_5qa": "a::gödel",
}


@pytest.mark.parametrize(("symbol", "name"), [*LEGACY.items(), *V0.items()])
def test_rust_symbols_are_demangled(symbol: str, name: str) -> None:
    assert rust_name(symbol) == name


@pytest.mark.parametrize(
    "symbol",
    [
        "main",
        "",
        "_ZN3foo3barEv",  # C++
        "_ZN3foo3bar17h0123456789abcdeE",  # a hash of 15 digits
        "_ZN99foo17h0123456789abcdefE",
        "_R",
        "_RN",
        "_RNvC1a",
        "_RNvC1a99b",
        "_RNvC1a1bz!",
        "_RB_",  # a reference to itself
        "_RNvB_1a",
        "_RINvC1a1fKf0_E",  # no constant is a float
        "_RMC1a" + "A" * 5000,
        "_RINvC1a1fTTTTTTTTTTlEB8_B8_EB7_B7_EB6_B6_EB5_B5_E",
    ],
)
def test_other_symbols_are_no_rust_names(symbol: str) -> None:
    assert rust_name(symbol) is None


def test_names_that_grow_without_end_are_given_up() -> None:
    # Each tuple holds the one before it twice: 2^30 times in the end.
    text, place = "INvC1a1f", 0
    text += "TlE"
    place = 8
    for _ in range(30):
        reference = f"B{place_number(place)}"
        place = len(text)
        text += f"T{reference}{reference}E"
    assert rust_name("_R" + text + "E") is None


def place_number(value: int) -> str:
    """A number as back references have it."""
    digits = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
    if value == 0:
        return "_"
    value, text = value - 1, ""
    while value or not text:
        value, digit = divmod(value, 62)
        text = digits[digit] + text
    return text + "_"


def test_functions_of_a_module_are_called_so() -> None:
    names = list(LEGACY)[:2] + list(V0)[:1]
    module = parse_ir("\n".join(f'define void @"{name}"() {{\n  ret void\n}}' for name in names))
    regions = regions_of(module, "function").regions
    assert [region.name for region in regions] == ["core::panicking::panic", "<&str as rust::Tr>::m", "rust::go"]
    assert [region.symbol for region in regions] == names
    assert regions_of(module, "function", function="^rust::go$").regions == [regions[2]]


def test_quoted_names_are_shown_as_meant() -> None:
    module = parse_ir('define void @"caf\\C3\\A9 \\22x\\22"() {\n  ret void\n}')
    assert regions_of(module, "function").regions[0].name == 'café "x"'
