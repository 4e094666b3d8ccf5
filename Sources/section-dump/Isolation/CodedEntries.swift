internal import BinaryImage
internal import Registration

/// What a `FieldCoder` writes and reads of entries and of what is wrong with them.
protocol Coded {
  mutating func code(with coder: inout FieldCoder) throws(FieldCoder.Broken)
  /// What is filled with what is read.
  static var blank: Self { get }
}

extension FieldCoder {
  mutating func code<Value: Coded>(_ value: inout Value) throws(Broken) {
    try value.code(with: &self)
  }

  mutating func code<Value: Coded>(_ value: inout Value?) throws(Broken) {
    try code(&value, .blank) { coder, value throws(Broken) in try value.code(with: &coder) }
  }

  mutating func code<Value: Coded>(_ list: inout [Value]) throws(Broken) {
    try code(&list, .blank) { coder, value throws(Broken) in try value.code(with: &coder) }
  }
}

extension Record: Coded {
  static var blank: Self {
    Record(
      kind: .module, name: "", implementation: nil, encoding: .pointer, resolution: .none,
      origin: Origin(image: "", section: "", index: 0, address: VirtualAddress(rawValue: 0)))
  }

  mutating func code(with coder: inout FieldCoder) throws(FieldCoder.Broken) {
    var number = Int(kind.rawValue)
    try coder.code(&number)
    kind = RecordKind(rawValue: UInt16(truncatingIfNeeded: number))
    try coder.code(&name)
    try coder.code(&implementation)
    try coder.code(&attributes)
    try coder.code(&encoding)
    try coder.code(&resolution)
    try coder.code(&textAddress)
    try coder.code(&accessor)
    try coder.code(&context)
    try coder.code(&origin)
  }
}

extension Attributes: Coded {
  static var blank: Self { Self() }

  mutating func code(with coder: inout FieldCoder) throws(FieldCoder.Broken) {
    try coder.code(&priority)
    try coder.code(&level)
    try coder.code(&requires)
    try coder.code(&after)
    try coder.code(&scope)
    try coder.code(&name)
    try coder.code(&abi)
    try coder.code(&others)
  }
}

extension Attributes.Attribute: Coded {
  static var blank: Self { Self(key: "", value: "") }

  mutating func code(with coder: inout FieldCoder) throws(FieldCoder.Broken) {
    try coder.code(&key)
    try coder.code(&value)
  }
}

extension Origin: Coded {
  static var blank: Self { Record.blank.origin }

  mutating func code(with coder: inout FieldCoder) throws(FieldCoder.Broken) {
    try coder.code(&image)
    try coder.code(&section)
    try coder.code(&index)
    try coder.code(&address)
    try coder.code(&offset)
  }
}

extension VirtualAddress: Coded {
  static var blank: Self { Self(rawValue: 0) }

  mutating func code(with coder: inout FieldCoder) throws(FieldCoder.Broken) {
    try coder.code(&rawValue)
  }
}

extension FileOffset: Coded {
  static var blank: Self { Self(rawValue: 0) }

  mutating func code(with coder: inout FieldCoder) throws(FieldCoder.Broken) {
    try coder.code(&rawValue)
  }
}

extension PointerValue: Coded {
  static var blank: Self { Self(rawValue: 0, target: .null, resolution: .none) }

  mutating func code(with coder: inout FieldCoder) throws(FieldCoder.Broken) {
    try coder.code(&rawValue)
    try coder.code(&target)
    try coder.code(&resolution)
    try coder.code(&symbol)
  }
}

extension PointerValue.Target: Coded {
  static var blank: Self { .null }

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
  static var blank: Self { Self(path: "") }

  mutating func code(with coder: inout FieldCoder) throws(FieldCoder.Broken) {
    try coder.code(&path)
    var bytes = pathBytes ?? []
    try coder.code(&bytes)
    pathBytes = bytes.isEmpty ? nil : bytes
    try coder.code(&container)
    try coder.code(&section)
    try coder.code(&index)
  }
}

extension Finding: Coded {
  static var blank: Self { Self(code: "", level: .error, place: .blank, message: "", remedy: "") }

  mutating func code(with coder: inout FieldCoder) throws(FieldCoder.Broken) {
    try coder.code(&code)
    try coder.code(&level)
    try coder.code(&place)
    try coder.code(&message)
    try coder.code(&remedy)
  }
}

extension Problem: Coded {
  static var blank: Self { Self(ImageError(.malformed, image: "", message: "")) }

  mutating func code(with coder: inout FieldCoder) throws(FieldCoder.Broken) {
    try coder.code(&code)
    try coder.code(&section)
    try coder.code(&index)
    try coder.code(&offset, 0) { coder, offset throws(FieldCoder.Broken) in
      try coder.code(&offset)
    }
    try coder.code(&message)
  }
}

extension Survey.Platform: Coded {
  static var blank: Self {
    Self(
      of: ImageIdentity(
        path: "", format: .elf, bits: 64, byteOrder: .little, machine: "", kind: .shared))
  }

  mutating func code(with coder: inout FieldCoder) throws(FieldCoder.Broken) {
    try coder.code(&format)
    try coder.code(&machine)
    try coder.code(&bits)
    try coder.code(&byteOrder)
  }
}

extension Survey.Declared: Coded {
  static var blank: Self {
    Self(record: .blank, place: .blank, platform: .blank, file: .shared)
  }

  mutating func code(with coder: inout FieldCoder) throws(FieldCoder.Broken) {
    try coder.code(&record)
    try coder.code(&place)
    try coder.code(&platform)
    try coder.code(&file)
  }
}
