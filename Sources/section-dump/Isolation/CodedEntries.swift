internal import BinaryImage
internal import Registration

// What a `FieldCoder` writes and reads of entries and of what is wrong with them.

extension Record: Blank {
  static var blank: Self {
    Record(
      kind: .module, name: "", implementation: nil, encoding: .pointer, resolution: .none,
      origin: Origin(image: "", section: "", index: 0, address: .blank))
  }

  mutating func code(with coder: inout FieldCoder) throws(FieldCoder.Broken) {
    try coder.code(
      &self, \.kind, \.name, \.implementation, \.attributes, \.encoding, \.resolution,
      \.textAddress, \.accessor, \.context, \.origin)
  }
}

extension RecordKind: Coded {}
extension Record.Encoding: Coded {}

extension Attributes: Coded {
  mutating func code(with coder: inout FieldCoder) throws(FieldCoder.Broken) {
    try coder.code(
      &self, \.priority, \.level, \.requires, \.after, \.scope, \.name, \.abi, \.others)
  }
}

extension Attributes.Attribute: Blank {
  static var blank: Self { Self(key: "", value: "") }

  mutating func code(with coder: inout FieldCoder) throws(FieldCoder.Broken) {
    try coder.code(&self, \.key, \.value)
  }
}

extension Origin: Coded {
  mutating func code(with coder: inout FieldCoder) throws(FieldCoder.Broken) {
    try coder.code(&self, \.image, \.section, \.index, \.address, \.offset)
  }
}

extension VirtualAddress: Blank {
  static var blank: Self { Self(rawValue: 0) }
}

extension FileOffset: Blank {
  static var blank: Self { Self(rawValue: 0) }
}

extension PointerValue: Blank {
  static var blank: Self { Self(rawValue: 0, target: .null, resolution: .none) }

  mutating func code(with coder: inout FieldCoder) throws(FieldCoder.Broken) {
    try coder.code(&self, \.rawValue, \.target, \.resolution, \.symbol)
  }
}

extension PointerValue.Resolution: Coded {}

extension PointerValue.Target: Coded {
  mutating func code(with coder: inout FieldCoder) throws(FieldCoder.Broken) {
    var (kind, index, number, text) = (0, 0, UInt64(0), "")
    switch self {
    case .null: break
    case .address(let address): (kind, number) = (1, address.rawValue)
    case .section(let section, let offset): (kind, index, number) = (2, section, offset)
    case .imported(let symbol): (kind, text) = (3, symbol)
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
    case 3: self = .imported(symbol: text)
    case 4: self = .foreign(RuntimeAddress(rawValue: UInt(truncatingIfNeeded: number)))
    case 5: self = .unresolvable(text)
    default: throw FieldCoder.Broken()
    }
  }
}

extension Place: Coded {
  mutating func code(with coder: inout FieldCoder) throws(FieldCoder.Broken) {
    try coder.code(&self, \.path, \.pathBytes, \.container, \.section, \.index)
  }
}

extension Finding: Blank {
  static var blank: Self {
    Self(code: "", level: .error, place: Place(path: ""), message: "", remedy: "")
  }

  mutating func code(with coder: inout FieldCoder) throws(FieldCoder.Broken) {
    try coder.code(&self, \.code, \.level, \.place, \.message, \.remedy, \.problem)
  }
}

extension Finding.Level: Coded {}

extension ImageError: Blank {
  static var blank: Self { Self(.malformed, image: "", message: "") }

  mutating func code(with coder: inout FieldCoder) throws(FieldCoder.Broken) {
    try coder.code(&self, \.code, \.image, \.section, \.index, \.offset, \.message)
  }
}

extension ImageError.Code: Coded {}

extension ImageIdentity: Coded {
  static var blank: Self {
    Self(path: "", format: .elf, bits: 64, byteOrder: .little, machine: "", kind: .shared)
  }

  mutating func code(with coder: inout FieldCoder) throws(FieldCoder.Broken) {
    try coder.code(&self, \.format, \.bits, \.byteOrder, \.machine, \.kind, \.id)
  }
}

extension ImageIdentity.Format: Coded {}
extension ImageIdentity.ByteOrder: Coded {}
extension ImageIdentity.Kind: Coded {}

extension FilePart: Blank {
  static var blank: Self { Self(path: [], offset: 0, size: 0) }

  mutating func code(with coder: inout FieldCoder) throws(FieldCoder.Broken) {
    try coder.code(&self, \.path, \.offset, \.size)
  }
}

extension SurveyedImage: Blank {
  static var blank: Self { Self(place: Place(path: ""), identity: .blank) }

  mutating func code(with coder: inout FieldCoder) throws(FieldCoder.Broken) {
    try coder.code(
      &self, \.place, \.identity, \.part, \.isRead, \.records, \.types, \.protocols)
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
