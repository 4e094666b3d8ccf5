internal import BinaryImage
package import Registration

/// What a stored manifest has in the wrong form.
package struct StoredFailure: Error {
  /// `"bits" is no number`.
  var message: String
}

extension PluginManifest {
  /// The manifest as a catalogue stores it.
  package var stored: JSONValue {
    .object([
      .init("file", .string(path.fileName)),
      .init("device", .string(stamp.device.hexadecimal)),
      .init("inode", .string(stamp.inode.hexadecimal)),
      .init("size", .integer(Int64(clamping: stamp.size))),
      .init("modified", .integer(stamp.modified)), .init("changed", .integer(stamp.changed)),
      .init("header", .string(header.hexadecimal)),
      .init("bits", .integer(Int64(identity.bits))),
      .init("endian", .string(identity.byteOrder.rawValue)),
      .init("machine", .string(identity.machine)), .init("id", .string(identity.id.hexadecimal)),
      .init("soname", linkage.name.map(JSONValue.string) ?? .null),
      .init("needed", .array(linkage.needed.map(JSONValue.string))),
      .init("noteVersion", linkage.noteVersion.map { .integer(Int64($0)) } ?? .null),
      .init("runtime", .boolean(linkage.carriesRuntime)),
      .init("swift", .boolean(linkage.hasSwiftSections)),
      .init("records", .array(records.map(\.stored))),
      .init("rejections", .array(rejections.map(\.stored))),
    ])
  }

  /// Makes a manifest of what a catalogue stores of the file at a path.
  ///
  /// Its entries are held to the rules that those of a file are held to.
  package init(stored value: JSONValue, at path: String) throws(StoredFailure) {
    guard let stamp = value.storedStamp else { throw StoredFailure(message: "it has no stamp") }
    let bits = try value.number("bits")
    guard bits == 32 || bits == 64 else { throw StoredFailure(message: "\"bits\" is \(bits)") }
    let identity = ImageIdentity(
      path: path, format: .elf, bits: bits, byteOrder: try value.choice("endian"),
      machine: try value.text("machine"), kind: .shared, id: try value.bytes("id"))
    let linkage = ELFLinkage(
      name: try value.optional("soname") { $0.string }, needed: try value.texts("needed"),
      noteVersion: try value.optional("noteVersion") { $0.integer.flatMap(Int.init(exactly:)) },
      carriesRuntime: try value.truth("runtime"), hasSwiftSections: try value.truth("swift"))
    self.init(
      stamp: stamp, header: try value.bytes("header"), identity: identity, linkage: linkage,
      records: try value.list("records") { value throws(StoredFailure) in
        try Record(stored: value, of: path)
      },
      rejections: try value.list("rejections") { value throws(StoredFailure) in
        try Rejection(stored: value, of: path)
      })
  }
}

extension Record {
  fileprivate var stored: JSONValue {
    .object(
      [
        .init("kind", .string(kind.description)), .init("name", .string(name)),
        .init("implementation", implementation.map(JSONValue.string) ?? .null),
        .init("attributes", .array(attributes.texts.map(JSONValue.string))),
        .init("encoding", .string(encoding.rawValue)),
        .init("resolution", .string(resolution.rawValue)),
      ] + origin.stored)
  }

  fileprivate init(stored value: JSONValue, of path: String) throws(StoredFailure) {
    let (kind, name) = (try RecordKind(stored: value), try value.text("name"))
    let texts = try value.texts("attributes")
    let attributes: Attributes
    do throws(Refusal) {
      attributes = try Attributes(texts: texts, of: kind, named: name)
    } catch {
      throw StoredFailure(message: "\(kind) \(name): \(error.message)")
    }
    self.init(
      kind: kind, name: name, implementation: try value.optional("implementation") { $0.string },
      attributes: attributes, encoding: try value.choice("encoding"),
      origin: try Origin(stored: value, of: path))
    resolution = try value.choice("resolution")
  }
}

extension Rejection {
  fileprivate var stored: JSONValue {
    .object(
      [
        .init("kind", .string(kind.description)), .init("reason", .string(reason.rawValue)),
        .init("name", name.map(JSONValue.string) ?? .null), .init("message", .string(message)),
      ] + origin.stored)
  }

  fileprivate init(stored value: JSONValue, of path: String) throws(StoredFailure) {
    self.init(
      reason: try value.choice("reason"), kind: try RecordKind(stored: value),
      name: try value.optional("name") { $0.string }, message: try value.text("message"),
      origin: try Origin(stored: value, of: path))
  }
}

extension RecordKind {
  /// The kind by its word, or by its number in hexadecimal.
  fileprivate init(stored value: JSONValue) throws(StoredFailure) {
    let text = try value.text("kind")
    let known = (0...4).map(RecordKind.init(rawValue:)).first { $0.description == text }
    guard
      let kind = known ?? value.hexadecimal("kind").flatMap(UInt16.init(exactly:)).map(Self.init)
    else { throw StoredFailure(message: "there is no kind \(text)") }
    self = kind
  }
}

extension Origin {
  fileprivate var stored: [JSONValue.Member] {
    [
      .init("section", .string(section)), .init("index", .integer(Int64(index))),
      .init("address", .string(address.rawValue.hexadecimal)),
      .init("offset", offset.map { .string($0.rawValue.hexadecimal) } ?? .null),
    ]
  }

  fileprivate init(stored value: JSONValue, of path: String) throws(StoredFailure) {
    guard let address = value.hexadecimal("address") else {
      throw StoredFailure(message: "an entry has no address")
    }
    self.init(
      image: path, section: try value.text("section"), index: try value.number("index"),
      address: VirtualAddress(rawValue: address),
      offset: value.hexadecimal("offset").map(FileOffset.init))
  }
}

extension JSONValue {
  /// What tells the file from others; nil where that is missing or has another form.
  var storedStamp: FileStamp? {
    guard let device = hexadecimal("device"), let inode = hexadecimal("inode"),
      let size = self["size"]?.integer.flatMap(UInt64.init(exactly:)),
      let modified = self["modified"]?.integer, let changed = self["changed"]?.integer
    else { return nil }
    return FileStamp(
      device: device, inode: inode, size: size, modified: modified, changed: changed)
  }

  /// `0x10` as a number.
  fileprivate func hexadecimal(_ key: String) -> UInt64? {
    guard let text = self[key]?.string, text.hasPrefix("0x") else { return nil }
    return UInt64(text.dropFirst(2), radix: 16)
  }

  /// What `read` makes of the value of a key.
  private func value<Value>(
    _ key: String, _ read: (JSONValue) -> Value?
  ) throws(StoredFailure) -> Value {
    guard let value = self[key].flatMap(read) else {
      throw StoredFailure(message: "\"\(key)\" is missing, or has another form")
    }
    return value
  }

  /// The same; nil where it is null.
  fileprivate func optional<Value>(
    _ key: String, _ read: (JSONValue) -> Value?
  ) throws(StoredFailure) -> Value? {
    self[key] == .null ? nil : try value(key, read)
  }

  fileprivate func text(_ key: String) throws(StoredFailure) -> String {
    try value(key) { $0.string }
  }

  fileprivate func number(_ key: String) throws(StoredFailure) -> Int {
    try value(key) { $0.integer.flatMap(Int.init(exactly:)) }
  }

  fileprivate func truth(_ key: String) throws(StoredFailure) -> Bool {
    try value(key) { $0.boolean }
  }

  fileprivate func list<Element>(
    _ key: String, _ read: (JSONValue) throws(StoredFailure) -> Element
  ) throws(StoredFailure) -> [Element] {
    try value(key, \.array).map(read)
  }

  fileprivate func texts(_ key: String) throws(StoredFailure) -> [String] {
    try value(key) { list in
      let texts = (list.array ?? [.null]).map(\.string)
      return texts.contains(nil) ? nil : texts.compactMap { $0 }
    }
  }

  fileprivate func bytes(_ key: String) throws(StoredFailure) -> [UInt8] {
    try value(key) { $0.string.flatMap { [UInt8](hexadecimal: $0) } }
  }

  fileprivate func choice<Choice: RawRepresentable<String>>(
    _ key: String
  ) throws(StoredFailure) -> Choice {
    try value(key) { $0.string.flatMap(Choice.init(rawValue:)) }
  }
}
