/// What the C library's `crti.o` and `crtn.o` make of `_init` and `_fini`: a call of `__gmon_start__` where that is
/// defined, as for profiling, and else nothing.
extension ELFFile {
  /// More bytes than either function has.
  private static let most: UInt64 = 48

  /// Whether a function is no more than that; nil where that is not known of the machine.
  func isOfCompiler(at start: UInt64) throws(ImageError) -> Bool? {
    guard header.order == .little, header.bits == 64 else { return nil }
    switch machine.prefix {
    case "X86_64": return try isOfCompilerX86(code(at: start), at: start)
    case "AARCH64": return try isOfCompilerARM(code(at: start), at: start)
    default: return nil
    }
  }

  private func code(at start: UInt64) throws(ImageError) -> [UInt8] {
    guard let extent = try segments().extent(from: VirtualAddress(rawValue: start)) else {
      return []
    }
    return try file.read(at: extent.offset, count: Int(min(extent.size, Self.most)))
  }

  /// Whether the word at an address is that of `__gmon_start__`, which no library defines.
  private func isProfiler(at place: UInt64) throws(ImageError) -> Bool {
    let word = Section(
      index: 0, name: "", address: VirtualAddress(rawValue: place), offset: nil,
      size: UInt64(header.wordSize))
    switch try pointer(at: 0, ofArray: word).target {
    case .imported("__gmon_start__", 0), .null: return true
    default: return false
    }
  }

  private func isOfCompilerX86(_ code: [UInt8], at start: UInt64) throws(ImageError) -> Bool {
    var (rest, place) = (code[...], start)
    func skip(_ bytes: [UInt8]) -> Bool {
      guard rest.starts(with: bytes) else { return false }
      rest = rest.dropFirst(bytes.count)
      place &+= UInt64(bytes.count)
      return true
    }
    // musl: push %rax; pop %rax; ret.
    if skip([0x50, 0x58, 0xc3]) { return true }
    // endbr64, where the processor checks calls; sub $8, %rsp.
    _ = skip([0xf3, 0x0f, 0x1e, 0xfa])
    guard skip([0x48, 0x83, 0xec, 0x08]) else { return false }
    // mov distance(%rip), %rax, or mov $0, %rax of a static program; test %rax, %rax; je; call *%rax.
    var slot: UInt64?
    if skip([0x48, 0x8b, 0x05]) {
      let distance = rest.span.integer(at: 0, as: UInt32.self, order: .little)
        .map { Int64(Int32(bitPattern: $0)) }
      slot = place &+ 4 &+ UInt64(bitPattern: distance ?? 0)
      guard skip(Array(rest.prefix(4)) + [0x48, 0x85, 0xc0, 0x74, 0x02, 0xff, 0xd0]) else {
        return false
      }
    } else {
      _ = skip([0x48, 0xc7, 0xc0, 0, 0, 0, 0, 0x48, 0x85, 0xc0, 0x74, 0x02, 0xff, 0xd0])
    }
    // add $8, %rsp; ret.
    guard skip([0x48, 0x83, 0xc4, 0x08, 0xc3]) else { return false }
    return try slot.map { place throws(ImageError) in try isProfiler(at: place) } ?? true
  }

  private func isOfCompilerARM(_ code: [UInt8], at start: UInt64) throws(ImageError) -> Bool {
    /// What signs addresses, says where calls may lead, or does nothing, left out: paciasp, autiasp, bti c, nop,
    /// mov x29, sp.
    func words(_ code: [UInt8], at start: UInt64) -> [(word: UInt32, place: UInt64)] {
      let harmless: Set<UInt32> = [
        0xd503_233f, 0xd503_23bf, 0xd503_245f, 0xd503_201f, 0x9100_03fd,
      ]
      return stride(from: 0, to: code.count, by: 4).compactMap { place in
        let word: UInt32? = code.span.integer(at: place, order: .little)
        return word.flatMap { harmless.contains($0) ? nil : ($0, start &+ UInt64(place)) }
      }
    }
    /// A number with a sign, of the lowest bits, shifted.
    func distance(_ word: UInt32, bits: UInt32, shift: UInt64) -> UInt64 {
      UInt64(bitPattern: Int64(Int32(bitPattern: word << (32 - bits)) >> Int32(32 - bits))) << shift
    }
    // stp x29, x30, [sp, #-16]!; in _init bl call_weak_fn; ldp x29, x30, [sp], #16; ret.
    var found = words(code, at: start)
    guard found.first?.word == 0xa9bf_7bfd else { return false }
    found.removeFirst()
    let call = found.first.flatMap { $0.word >> 26 == 0x25 ? $0 : nil }
    if call != nil { found.removeFirst() }
    guard found.prefix(2).map(\.word) == [0xa8c1_7bfd, 0xd65f_03c0] else { return false }
    guard let call else { return true }
    // adrp x0; ldr x0, [x0, …]; cbz x0 behind the next; b __gmon_start__; ret.
    let target = call.place &+ distance(call.word, bits: 26, shift: 2)
    let weak = words(try self.code(at: target), at: target)
    guard weak.count > 4, weak[0].word & 0x9f00_001f == 0x9000_0000,
      weak[1].word & 0xffc0_03ff == 0xf940_0000, weak[2].word == 0xb400_0040,
      weak[3].word >> 26 == 0x05, weak[4].word == 0xd65f_03c0
    else { return false }
    let pages = weak[0].word >> 29 & 3 | (weak[0].word >> 5 & 0x7ffff) << 2
    let page = (weak[0].place & ~0xfff) &+ distance(pages, bits: 21, shift: 12)
    return try isProfiler(at: page &+ UInt64(weak[1].word >> 10 & 0xfff) * 8)
  }
}
