"""Compares every slot of pointer sections of ELF files with LIEF, and of a sample with pyelftools.

    elf.py SECTION-DUMP FILE...
"""

import sys

import lief
from elftools.elf.elffile import ELFFile
from elftools.elf.relocation import RelocationSection, RelrRelocationSection

from agreement import Agreement, slots

SECTIONS = [".init_array", ".fini_array", ".data.rel.ro", ".got", "BeehiveMods", "BeehiveServices"]

# What a relocation writes, by the end of its name: an address of the image, or a symbol's.
RELATIVE = ("_RELATIVE", "_RELATIVE64", "MIPS_REL32", "RISCV_RELATIVE", "MIPS_REL32_64")
SYMBOLIC = ("X86_64_R64", "X86_64_64", "AARCH64_ABS64", "_GLOB_DAT", "_JUMP_SLOT", "I386_R32",
            "I386_32", "ARM_ABS32", "R_390_64", "PPC64_ADDR64", "PPC_ADDR32", "RISCV_64",
            "RISCV_32")


def expected(slot, kind, addend, symbol):
    """What section-dump must say of a slot, given what a relocation writes there."""
    if kind.endswith(RELATIVE):
        return {"target": addend}
    if not kind.endswith(SYMBOLIC):
        return {"resolution": "none", "target": None}
    name, value, is_defined, is_chosen = symbol
    if is_chosen:
        return {"target": None, "symbol": name}
    if is_defined:
        return {"target": value + addend, "symbol": name}
    return {"resolution": "symbol", "target": None, "symbol": name}


def by_lief(path):
    """Address: (kind, addend, symbol) of each relocation that the loader applies."""
    lief.logging.disable()
    binary = lief.ELF.parse(path)
    # LIEF takes the three types of a MIPS64 relocation for one.
    if binary is None or (str(binary.header.machine_type).endswith("MIPS") and "64" in str(
            binary.header.identity_class)):
        return None
    found = {}
    for relocation in binary.dynamic_relocations:
        kind = str(relocation.type).split(".")[-1]
        symbol = relocation.symbol if relocation.has_symbol else None
        described = symbol and (
            str(symbol.name), symbol.value, symbol.shndx not in (0, 0xfff1, 0xfff2),
            "IFUNC" in str(symbol.type))
        packed = relocation.encoding == lief.ELF.Relocation.ENCODING.RELR
        found[relocation.address] = (
            "_RELATIVE" if packed else kind, None if packed else relocation.addend, described)
    for relocation in binary.pltgot_relocations:
        found[relocation.address] = None
    return found


def by_pyelftools(path):
    """The same, for x86_64, but for what Android packs."""
    with open(path, "rb") as stream:
        file = ELFFile(stream)
        if file["e_machine"] != "EM_X86_64" or file.elfclass != 64:
            return None
        symbols = file.get_section_by_name(".dynsym")
        found = {}
        for section in file.iter_sections():
            if isinstance(section, RelrRelocationSection):
                for relocation in section.iter_relocations():
                    found[relocation["r_offset"]] = ("_RELATIVE", None, None)
            elif isinstance(section, RelocationSection) and section["sh_flags"] & 2:
                for relocation in section.iter_relocations():
                    kind = {8: "_RELATIVE", 1: "X86_64_64", 6: "_GLOB_DAT"}.get(
                        relocation["r_info_type"], "other")
                    symbol = symbols and symbols.get_symbol(relocation["r_info_sym"])
                    described = symbol and (
                        symbol.name, symbol["st_value"],
                        symbol["st_shndx"] not in ("SHN_UNDEF", "SHN_ABS", "SHN_COMMON"),
                        symbol["st_info"]["type"] in ("STT_GNU_IFUNC", "STT_LOOS"))
                    if section.name == ".rela.plt":
                        found[relocation["r_offset"]] = None
                    else:
                        found[relocation["r_offset"]] = (
                            kind, relocation["r_addend"], described)
        return found


def check(oracle, read, tool, paths):
    agreement = Agreement()
    known = {}
    for section in SECTIONS:
        for file, found in slots(tool, section, paths):
            path = file["path"]
            if not found or file["type"] not in ("shared", "executable"):
                continue
            if path not in known:
                known[path] = read(path)
            relocations = known[path]
            if relocations is None:
                continue
            for slot in found:
                relocation = relocations.get(slot.address, ())
                if relocation is None:
                    continue  # of the procedure linkage table, which the loader may bind later
                if not relocation:
                    kind, wanted = "none", {"symbol": None}
                    if slot.resolution != "absolute":
                        wanted.update(resolution="none", target=None)
                else:
                    kind, addend, symbol = relocation
                    # Where the addend stands in place, the oracle leaves it to the reader.
                    addend = slot.raw if addend is None or slot.resolution == "rel" else addend
                    if kind.endswith(SYMBOLIC) and symbol is None:
                        continue
                    wanted = expected(slot, kind, addend, symbol)
                agreement.compare(path, slot, kind, wanted)
    return agreement.report(oracle)


def main(tool, *paths):
    sample = [path for index, path in enumerate(paths) if index % 10 == 0]
    agree = check("LIEF", by_lief, tool, paths)
    return check("pyelftools", by_pyelftools, tool, sample) and agree


if __name__ == "__main__":
    sys.exit(0 if main(*sys.argv[1:]) else 1)
