import BinaryImage
import ObjectFiles

/// A Mach-O object made by hand, of any class and byte order: two texts, and two pointers to them,
/// one relocated by section and one by symbol.
///
/// No compiler here writes the objects of machines whose bytes stand in the other order.
struct MachOObjectBuilder {
  var bits = 64
  var order = ImageIdentity.ByteOrder.little
  var machine: UInt64 = 0x0100_000c
  static let texts = ["ShopModule", "Cart.CartModule"]

  private func number(_ value: UInt64, _ size: Int) -> [UInt8] { value.bytes(size, order) }
  private func long(_ value: UInt64) -> [UInt8] { number(value, 4) }
  private func word(_ value: UInt64) -> [UInt8] { number(value, bits / 8) }
  private func name(_ text: String) -> [UInt8] {
    Array(text.utf8) + [UInt8](repeating: 0, count: 16 - text.utf8.count)
  }

  private var headerSize: Int { bits == 64 ? 32 : 28 }
  private var segmentSize: Int { bits == 64 ? 72 + 2 * 80 : 56 + 2 * 68 }
  /// Where the header of the section of pointers stands.
  var pointers: Int { headerSize + segmentSize - (bits == 64 ? 80 : 68) }
  /// Where its size stands, and where its relocations are told of.
  var size: Int { pointers + 32 + bits / 8 }
  var relocations: Int { pointers + 32 + 2 * bits / 8 + 8 }
  /// Where the contents start, and what follows them.
  var data: Int { headerSize + segmentSize + 24 }
  private var relocationTable: Int { data + 32 + 2 * bits / 8 }
  /// Where the one symbol stands.
  var symbol: Int { relocationTable + 16 }

  private func section(
    _ title: String, _ segment: String, at address: Int, _ size: Int, relocations: Int
  ) -> [UInt8] {
    let rest = long(0) + long(0) + (bits == 64 ? long(0) : [])
    return name(title) + name(segment) + word(UInt64(address)) + word(UInt64(size))
      + long(UInt64(data + address)) + long(3)
      + long(relocations > 0 ? UInt64(relocationTable) : 0) + long(UInt64(relocations)) + long(0)
      + rest
  }

  /// The second word: number, distance or not, size, symbol or section, type.
  private func target(_ number: UInt64, isSymbol: Bool) -> [UInt8] {
    let (length, external): (UInt64, UInt64) = (bits == 64 ? 3 : 2, isSymbol ? 1 : 0)
    return order == .little
      ? long(number | length << 25 | external << 27)
      : long(number << 8 | length << 5 | external << 4)
  }

  var bytes: [UInt8] {
    var texts: [UInt8] = Self.texts.flatMap { Array($0.utf8) + [0] }
    texts += [UInt8](repeating: 0, count: 32 - texts.count)
    let slots = 2 * bits / 8
    var file = long(bits == 64 ? 0xfeed_facf : 0xfeed_face) + long(machine) + long(0) + long(1)
    file += long(2) + long(UInt64(segmentSize + 24)) + long(0) + (bits == 64 ? long(0) : [])
    file += long(bits == 64 ? 0x19 : 0x1) + long(UInt64(segmentSize)) + name("")
    file += word(0) + word(UInt64(32 + slots)) + word(UInt64(data)) + word(UInt64(32 + slots))
    file += long(7) + long(7) + long(2) + long(0)
    file += section("__cstring", "__TEXT", at: 0, 32, relocations: 0)
    file += section("BeehiveMods", "__DATA", at: 32, slots, relocations: 2)
    let names = Array("\0_cart\0".utf8)
    file += long(0x2) + long(24) + long(UInt64(symbol)) + long(1)
    file += long(UInt64(symbol + 8 + bits / 8)) + long(UInt64(names.count))
    file += texts + word(0) + word(0)
    // Assemblers write them backwards.
    file += long(UInt64(bits / 8)) + target(0, isSymbol: true)
    file += long(0) + target(1, isSymbol: false)
    file += long(1) + [0xe, 1, 0, 0] + word(UInt64(Self.texts[0].utf8.count + 1))
    return file + names
  }
}
