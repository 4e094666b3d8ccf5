"""Compares every slot of pointer sections of ELF files with another reader; a line a file.

    elf.py LIEF|pyelftools|readelf SECTION-DUMP FILE...
"""

import re
import subprocess
import sys

from agreement import Agreement, Unreadable, slots

SECTIONS = [".init_array", ".fini_array", ".data.rel.ro", ".got", "BeehiveMods", "BeehiveServices"]

# What a relocation writes, by the end of its name: an address of the image, or a symbol's.
RELATIVE = ("_RELATIVE", "_RELATIVE64", "MIPS_REL32", "RISCV_RELATIVE", "MIPS_REL32_64")
# The same where they name no symbol.
EITHER = ("MIPS_REL32", "PARISC_DIR32", "PARISC_PLABEL32", "PARISC_IPLT")
SYMBOLIC = ("X86_64_R64", "X86_64_64", "X86_32", "386_32", "AARCH64_ABS64", "_GLOB_DAT",
            "_JUMP_SLOT", "ARM_ABS32", "390_64", "PPC64_ADDR64", "PPC_ADDR32", "RISCV_64",
            "RISCV_32")


def expected(slot, kind, addend, symbol):
    """What section-dump must say of a slot, given what a relocation writes there."""
    if kind.endswith(EITHER):
        kind = "_RELATIVE" if symbol is None else "_GLOB_DAT"
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
    import lief
    lief.logging.disable()
    binary = lief.ELF.parse(path)
    if binary is None:
        raise Unreadable("LIEF does not take it for an ELF file")
    if str(binary.header.machine_type).endswith("MIPS") and "64" in str(
            binary.header.identity_class):
        raise Unreadable("it takes the three types of a MIPS64 relocation for one")
    found = {}
    for relocation in binary.dynamic_relocations:
        kind = str(relocation.type).split(".")[-1]
        symbol = relocation.symbol if relocation.has_symbol else None
        # The first of all symbols is none.
        if symbol is not None and not symbol.name and not symbol.value:
            symbol = None
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
    """The same."""
    from elftools.elf.descriptions import describe_reloc_type
    from elftools.elf.elffile import ELFFile
    from elftools.elf.relocation import RelocationSection, RelrRelocationSection
    with open(path, "rb") as stream:
        file = ELFFile(stream)
        if file.num_sections() == 0:
            raise Unreadable("it has no section headers")
        symbols = file.get_section_by_name(".dynsym")
        found = {}
        for section in file.iter_sections():
            if section["sh_type"] in ("SHT_ANDROID_REL", "SHT_ANDROID_RELA", 0x60000001, 0x60000002):
                raise Unreadable("its relocations are packed as Android does it")
            if isinstance(section, RelrRelocationSection):
                for relocation in section.iter_relocations():
                    found[relocation["r_offset"]] = ("_RELATIVE", None, None)
            elif isinstance(section, RelocationSection) and section["sh_flags"] & 2:
                for relocation in section.iter_relocations():
                    kind = describe_reloc_type(relocation["r_info_type"], file)
                    if kind.startswith(("<unknown>", "unrecognized")):
                        raise Unreadable("it knows no relocations of the machine")
                    number = relocation["r_info_sym"]
                    symbol = symbols.get_symbol(number) if symbols and number else None
                    described = symbol and (
                        symbol.name, symbol["st_value"],
                        symbol["st_shndx"] not in ("SHN_UNDEF", "SHN_ABS", "SHN_COMMON"),
                        symbol["st_info"]["type"] in ("STT_GNU_IFUNC", "STT_LOOS"))
                    if section.name in (".rela.plt", ".rel.plt"):
                        found[relocation["r_offset"]] = None
                    else:
                        addend = relocation["r_addend"] if relocation.is_RELA() else None
                        found[relocation["r_offset"]] = (kind, addend, described)
        return found


def lines_of_readelf(option, path):
    """What it prints, without what it says of several types of one relocation."""
    run = subprocess.run(["readelf", "-W", option, path], capture_output=True, check=True)
    return run.stdout.decode(errors="replace").split("\n")


def by_readelf(path):
    """The same, with the words of the global offset table that MIPS relocates without entries."""
    symbols, found, part = {}, {}, None
    for line in lines_of_readelf("--dyn-syms", path):
        words = line.split()
        if re.match(r"\s*\d+: [0-9a-f]+ ", line):
            name = words[7].split("@")[0] if len(words) > 7 and words[3] != "SECTION" else None
            symbols[int(words[0][:-1])] = (
                name, int(words[1], 16), words[6] not in ("UND", "ABS", "COM"), words[3] == "IFUNC")
    for line in lines_of_readelf("-r", path):
        words = line.split()
        if re.match(r"[0-9a-f]{8,} +[0-9a-f]{8,} R_", line) and words[2] != "R_MIPS_NONE":
            symbol = int(words[1], 16) >> (8 if len(words[1]) == 8 else 32)
            addend = re.search(r"(-?) ?\b([0-9a-f]+)$", line) if part == "rela" else None
            found[int(words[0], 16)] = (
                words[2], addend and int(addend[1] + addend[2], 16), symbols[symbol] if symbol else None)
        elif line.startswith("Relocation section"):
            part = "rela" if "'.rela" in line else "rel"
    for line in lines_of_readelf("-A", path):
        words = line.split()
        if line.endswith("entries:"):
            part = words[0]
        elif re.match(r" +[0-9a-f]+ +-?[0-9]+\(gp\) ", line) and part == "Local":
            found[int(words[0], 16)] = ("_RELATIVE", None, None)
        elif re.match(r" +[0-9a-f]+ +-?[0-9]+\(gp\) ", line) and part == "Global":
            found[int(words[0], 16)] = (
                "_GLOB_DAT", 0, (words[6], int(words[3], 16), words[5] != "UND", False))
    return found


def compare(agreement, path, found, relocations):
    """Each slot of one section with the relocation that is there."""
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


def main(oracle, tool, *paths):
    read = {"LIEF": by_lief, "pyelftools": by_pyelftools, "readelf": by_readelf}[oracle]
    agreements, relocations = {}, {}
    for path in paths:
        agreements[path] = Agreement()
        try:
            relocations[path] = read(path)
        except Exception as error:  # whatever a reader makes of a file that it cannot read
            agreements[path].unreadable = str(error) or repr(error)
    for section in SECTIONS + ([".data"] if oracle == "readelf" else []):
        for file, found in slots(tool, section, list(relocations)):
            path = file["path"]
            # The loader relocates this one without entries, which only readelf lists.
            if section == ".got" and oracle != "readelf" and file["machine"].startswith("mips"):
                continue
            if file["type"] in ("shared", "executable"):
                compare(agreements[path], path, found, relocations[path])
    for path, agreement in agreements.items():
        agreement.report(path)


if __name__ == "__main__":
    main(*sys.argv[1:])
