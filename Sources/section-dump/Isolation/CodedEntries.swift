internal import BinaryImage
internal import Registration

// What a `FieldCoder` writes and reads of entries and of what is wrong with them.

extension Record: Blank, Fielded {
  static var blank: Self {
    Record(
      kind: .module, name: "", implementation: nil, encoding: .pointer, resolution: .none,
      origin: Origin(image: "", section: "", index: 0, address: .blank))
  }

  static var fields: Fields<Self> {
    Fields(
      \.kind, \.name, \.implementation, \.attributes, \.encoding, \.resolution, \.textAddress,
      \.accessor, \.context, \.origin)
  }
}

extension RecordKind: Coded {}
extension Record.Encoding: Coded {}

extension Attributes: Fielded {
  static var fields: Fields<Self> {
    Fields(\.priority, \.level, \.requires, \.after, \.scope, \.name, \.abi, \.others)
  }
}

extension Attributes.Attribute: Blank, Fielded {
  static var blank: Self { Self(key: "", value: "") }

  static var fields: Fields<Self> { Fields(\.key, \.value) }
}

extension Origin: Fielded {
  static var fields: Fields<Self> { Fields(\.image, \.section, \.index, \.address, \.offset) }
}

extension VirtualAddress: Blank {
  static var blank: Self { Self(rawValue: 0) }
}

extension FileOffset: Blank {
  static var blank: Self { Self(rawValue: 0) }
}

extension PointerValue: Blank, Fielded {
  static var blank: Self { Self(rawValue: 0, target: .null, resolution: .none) }

  static var fields: Fields<Self> { Fields(\.rawValue, \.target, \.resolution, \.symbol) }
}

extension PointerValue.Resolution: Coded {}

extension PointerValue.Target: Coded {
  mutating func code(with coder: inout FieldCoder) throws(FieldCoder.Broken) {
    var (kind, index, number, text) = (0, 0, UInt64(0), "")
    switch self {
    case .null: break
    case .address(let address): (kind, number) = (1, address.rawValue)
    case .section(let section, let offset): (kind, index, number) = (2, section, offset)
    case .imported(let symbol, let addend):
      (kind, number, text) = (3, UInt64(bitPattern: addend), symbol)
    case .foreign(let address): (kind, number) = (4, UInt64(address.rawValue))
    case .unresolvable(let reason): (kind, text) = (5, reason)
    }
    try coder.code(&kind)
    try coder.code(&index)
    try coder.code(&number)
    try coder.code(&text)
    switch kind {
    case 0: self = .null
    case 1: self = .address(VirtualAddress(rawValue: number))
    case 2: self = .section(index: index, offset: number)
    case 3: self = .imported(symbol: text, addend: Int64(bitPattern: number))
    case 4: self = .foreign(RuntimeAddress(rawValue: UInt(truncatingIfNeeded: number)))
    case 5: self = .unresolvable(text)
    default: throw FieldCoder.Broken()
    }
  }
}

extension Place: Fielded {
  static var fields: Fields<Self> { Fields(\.path, \.pathBytes, \.container, \.section, \.index) }
}

extension Finding: Blank, Fielded {
  static var blank: Self {
    Self(code: "", level: .error, place: Place(path: ""), message: "", remedy: "")
  }

  static var fields: Fields<Self> {
    Fields(\.code, \.level, \.place, \.message, \.remedy, \.problem)
  }
}

extension Finding.Level: Coded {}

extension ImageError: Blank, Fielded {
  static var blank: Self { Self(.malformed, image: "", message: "") }

  static var fields: Fields<Self> {
    Fields(\.code, \.image, \.section, \.index, \.offset, \.message)
  }
}

extension ImageError.Code: Coded {}

extension ImageIdentity: Fielded {
  static var blank: Self {
    Self(path: "", format: .elf, bits: 64, byteOrder: .little, machine: "", kind: .shared)
  }

  static var fields: Fields<Self> { Fields(\.format, \.bits, \.byteOrder, \.machine, \.kind, \.id) }
}

extension ImageIdentity.Format: Coded {}
extension ImageIdentity.ByteOrder: Coded {}
extension ImageIdentity.Kind: Coded {}

extension FilePart: Blank, Fielded {
  static var blank: Self { Self(path: [], offset: 0, size: 0) }

  static var fields: Fields<Self> { Fields(\.path, \.offset, \.size) }
}

extension SurveyedImage: Blank, Fielded {
  static var blank: Self { Self(place: Place(path: ""), identity: .blank) }

  static var fields: Fields<Self> {
    Fields(\.place, \.identity, \.part, \.isRead, \.records, \.types, \.protocols)
  }
}

extension SimilarNames: Coded {
  mutating func code(with coder: inout FieldCoder) throws(FieldCoder.Broken) {
    var (distances, texts) = (names.map(\.distance), names.map(\.text))
    try coder.code(&distances)
    try coder.code(&texts)
    names = zip(distances, texts).map { ($0, $1) }
  }
}
