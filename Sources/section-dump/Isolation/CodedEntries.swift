internal import BinaryImage
internal import Registration

// How a child tells of entries: values of other modules, which only this tool sends.

extension Record: Fielded {
  static var blank: Self {
    Record(kind: .module, name: "", implementation: nil, encoding: .pointer, origin: .blank)
  }

  static var fields: Fields<Self> {
    Fields(
      \.kind, \.name, \.implementation, \.attributes, \.encoding, \.resolution, \.textAddress,
      \.accessor, \.context, \.origin)
  }
}

extension RecordKind: Codable {}
extension Record.Encoding: Codable {}

extension Attributes: Fielded {
  static var blank: Self { Self() }

  static var fields: Fields<Self> {
    Fields(\.priority, \.level, \.requires, \.after, \.scope, \.name, \.abi, \.others)
  }
}

extension Attributes.Attribute: Fielded {
  static var blank: Self { Self(key: "", value: "") }

  static var fields: Fields<Self> { Fields(\.key, \.value) }
}

extension Origin: Fielded {
  static var blank: Self {
    Origin(image: "", section: "", index: 0, address: VirtualAddress(rawValue: 0))
  }

  static var fields: Fields<Self> { Fields(\.image, \.section, \.index, \.address, \.offset) }
}

extension VirtualAddress: Codable {}
extension FileOffset: Codable {}

extension PointerValue: Fielded {
  static var blank: Self { Self(rawValue: 0, target: .null, resolution: .none) }

  static var fields: Fields<Self> { Fields(\.rawValue, \.target, \.resolution, \.symbol) }
}

extension PointerValue.Resolution: Codable {}

extension PointerValue.Target: Codable {
  /// The same, for the compiler to write.
  private enum Same: Codable {
    case null
    case address(UInt64)
    case section(index: Int, offset: UInt64)
    case imported(symbol: String, addend: Int64)
    case foreign(UInt)
    case unresolvable(String)
  }

  func encode(to encoder: any Encoder) throws {
    let same: Same =
      switch self {
      case .null: .null
      case .address(let address): .address(address.rawValue)
      case .section(let index, let offset): .section(index: index, offset: offset)
      case .imported(let symbol, let addend): .imported(symbol: symbol, addend: addend)
      case .foreign(let address): .foreign(address.rawValue)
      case .unresolvable(let reason): .unresolvable(reason)
      }
    try same.encode(to: encoder)
  }

  init(from decoder: any Decoder) throws {
    self =
      switch try Same(from: decoder) {
      case .null: .null
      case .address(let address): .address(VirtualAddress(rawValue: address))
      case .section(let index, let offset): .section(index: index, offset: offset)
      case .imported(let symbol, let addend): .imported(symbol: symbol, addend: addend)
      case .foreign(let address): .foreign(RuntimeAddress(rawValue: address))
      case .unresolvable(let reason): .unresolvable(reason)
      }
  }
}

extension ImageError: Fielded {
  static var blank: Self { Self(.malformed, image: "", message: "") }

  static var fields: Fields<Self> {
    Fields(\.code, \.image, \.section, \.index, \.offset, \.message)
  }
}

extension ImageError.Code: Codable {}

extension ImageIdentity: Fielded {
  static var blank: Self {
    Self(path: "", format: .elf, bits: 64, byteOrder: .little, machine: "", kind: .shared)
  }

  static var fields: Fields<Self> { Fields(\.format, \.bits, \.byteOrder, \.machine, \.kind, \.id) }
}

extension ImageIdentity.Format: Codable {}
extension ImageIdentity.ByteOrder: Codable {}
extension ImageIdentity.Kind: Codable {}

extension FilePart: Fielded {
  static var blank: Self { Self(path: [], offset: 0, size: 0) }

  static var fields: Fields<Self> { Fields(\.path, \.offset, \.size) }
}

extension SimilarNames: Codable {
  func encode(to encoder: any Encoder) throws {
    try Dictionary(names.map { ($0.text, $0.distance) }) { $1 }.encode(to: encoder)
  }

  init(from decoder: any Decoder) throws {
    self.init()
    names = try [String: Int](from: decoder).map { ($0.value, $0.key) }
  }
}
