/// What the supplements of the machines call their relocation types: `R_X86_64_TPOFF64`, not 18.
struct ELFRelocationNames {
  /// The names by number; none where the machine is unknown.
  private var names: [UInt32: String] = [:]

  /// Looks up a machine; most files need no names.
  init(of machine: ELFMachine) {
    let list = Self.lists.split { $0 == ":" }.first { $0.hasPrefix("\(machine.prefix) ") }
    var number: UInt32 = 0
    for word in list?.split(whereSeparator: \.isWhitespace).dropFirst() ?? [] {
      if word.first == "=", let next = UInt32(word.dropFirst()) {
        number = next
      } else {
        for name in Self.expanded(word) {
          names[number] = "R_\(machine.prefix)_\(name)"
          number += 1
        }
      }
    }
  }

  /// `R_X86_64_TPOFF64`; of a relocation of MIPS64 all types that it has.
  func name(of type: UInt32, _ machine: ELFMachine) -> String {
    guard machine.info == .threeTypes else { return name(of: type) }
    let more = [type >> 8 & 0xff, type >> 16 & 0xff].filter { $0 != 0 }
    return ([type & 0xff] + more).map(name).joined(separator: "/")
  }

  private func name(of type: UInt32) -> String { names[type] ?? "relocation type \(type)" }

  /// The names that a word expands to: of `REL16{,_LO}_DS`, `REL16_DS` and `REL16_LO_DS`.
  private static func expanded(_ word: Substring) -> [String] {
    guard let open = word.firstIndex(of: "{"), let close = word.firstIndex(of: "}") else {
      return [String(word)]
    }
    let ends = expanded(word[close...].dropFirst())
    let middles = word[open..<close].dropFirst().split(omittingEmptySubsequences: false) {
      $0 == ","
    }
    return middles.flatMap { middle in ends.map { word[..<open] + middle + $0 } }
  }

  /// By the prefix after each colon, in the order of the numbers; `=` says the number of the next name,
  /// and braces hold what several names differ in. Those that linked files have, and those of words of data; what
  /// patches instructions is told by its number.
  private static let lists = """
    :68K NONE 32 16 8 PC{32,16,8} =19 COPY GLOB_DAT JMP_SLOT RELATIVE =40 TLS_{DTPMOD32,DTPREL32,TPREL32}
    :386 NONE 32 PC32 GOT32 PLT32 COPY GLOB_DAT JMP_SLOT RELATIVE GOTOFF GOTPC 32PLT =14
    TLS_{TPOFF,IE,GOTIE,LE,GD,LDM} 16 PC16 8 PC8 =35 TLS_{DTPMOD32,DTPOFF32,TPOFF32} SIZE32 =41
    TLS_DESC IRELATIVE
    :SPARC NONE 8 16 32 DISP{8,16,32} =19 COPY GLOB_DAT JMP_SLOT RELATIVE UA32 =32 64 =46 DISP64 =54
    UA64 UA16 =74 TLS_{DTPMOD32,DTPMOD64,DTPOFF32,DTPOFF64,TPOFF32,TPOFF64} =248 JMP_IREL IRELATIVE
    :MIPS NONE 16 32 REL32 =12 GPREL32 =18 64 =38 TLS_{DTPMOD32,DTPREL32,DTPMOD64,DTPREL64} =47
    TLS_TPREL{32,64} =51 GLOB_DAT =126 COPY JUMP_SLOT
    :PARISC NONE DIR32 =9 PCREL32 =64 FPTR64 PLABEL32 =72 PCREL64 =80 DIR64 =128 COPY IPLT EPLT =153
    TPREL32 =216 TPREL64 =242 TLS_{DTPMOD32,DTPMOD64} TLS_DTPOFF{32,64}
    :ALPHA NONE REFLONG REFQUAD GPREL32 =9 SREL{16,32,64} =24 COPY GLOB_DAT JMP_SLOT RELATIVE =31
    DTPMOD64 =33 DTPREL64 =38 TPREL64
    :PPC NONE ADDR32 =19 COPY GLOB_DAT JMP_SLOT RELATIVE =24 UADDR32 =26 REL32 =68 DTPMOD32 =73 TPREL32
    =78 DTPREL32 =248 IRELATIVE
    :PPC64 =38 ADDR64 =43 UADDR64 REL64 =51 TOC =68 DTPMOD64 =73 TPREL64 =78 DTPREL64 =247 JMP_IREL
    IRELATIVE
    :AARCH64 NONE =257 ABS{64,32,16} PREL{64,32,16} =1024 COPY GLOB_DAT JUMP_SLOT RELATIVE
    TLS_{DTPMOD,DTPREL,TPREL} TLSDESC IRELATIVE
    :AARCH64_P32 =1 ABS32 =180 COPY GLOB_DAT JUMP_SLOT RELATIVE TLS_{DTPMOD,DTPREL,TPREL} TLSDESC
    IRELATIVE
    :ARM NONE =2 ABS32 REL32 =13 TLS_DESC =17 TLS_{DTPMOD32,DTPOFF32,TPOFF32} COPY GLOB_DAT JUMP_SLOT
    RELATIVE =38 TARGET1 =41 TARGET2 PREL31 =160 IRELATIVE
    :SH NONE DIR32 REL32 =149 TLS_{DTPMOD32,DTPOFF32,TPOFF32} =162 COPY GLOB_DAT JMP_SLOT RELATIVE
    :390 NONE 8 12 16 32 PC32 =9 COPY GLOB_DAT JMP_SLOT RELATIVE =22 64 PC64 =54
    TLS_{DTPMOD,DTPOFF,TPOFF} =61 IRELATIVE
    :X86_64 NONE 64 PC32 GOT32 PLT32 COPY GLOB_DAT JUMP_SLOT RELATIVE GOTPCREL 32 32S 16 PC16 8 PC8
    DTPMOD64 DTPOFF64 TPOFF64 =24 PC64 GOTOFF64 =32 SIZE{32,64} =36 TLSDESC IRELATIVE RELATIVE64
    :RISCV NONE 32 64 RELATIVE COPY JUMP_SLOT TLS_DTPMOD{32,64} TLS_DTPREL{32,64} TLS_TPREL{32,64}
    =33 ADD{8,16,32,64} SUB{8,16,32,64} =52 SUB6 SET{6,8,16,32} 32_PCREL IRELATIVE
    :LARCH NONE 32 64 RELATIVE COPY JUMP_SLOT TLS_DTPMOD{32,64} TLS_DTPREL{32,64} TLS_TPREL{32,64}
    IRELATIVE =47 ADD{8,16,24,32,64} SUB{8,16,24,32,64}
    """
}
