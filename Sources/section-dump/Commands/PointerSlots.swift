internal import BinaryImage

/// One word of a section that is read as an array of pointers.
struct PointerSlot {
  /// Counted over all sections of this name.
  var index: Int
  /// Where it stands in the section.
  var position: UInt64
  var address: UInt64
  var offset: UInt64?
  var raw: UInt64
  var resolution: PointerValue.Resolution
  /// Where it leads in this image; in objects relative to the section that `symbol` names.
  var target: UInt64?
  var symbol: String?
  /// The text that stands there.
  var string: String?
  /// Why there is no text, where the slot is no null pointer.
  var failure: ImageError?

  func write(to json: inout JSONWriter) {
    json.object { json in
      json.key("index")
      json.number(index)
      json.key("address")
      json.hexadecimal(address)
      json.key("offset")
      json.hexadecimal(offset)
      json.key("raw")
      json.hexadecimal(raw)
      json.key("resolution")
      json.string(resolution.rawValue)
      json.key("target")
      json.hexadecimal(target)
      json.key("symbol")
      json.string(symbol)
      json.key("string")
      json.string(string)
    }
  }

  /// The columns of CSV.
  static let columns = [
    "section", "index", "address", "offset", "raw", "resolution", "target", "symbol", "string",
  ]

  func fields(section: String) -> [String] {
    [
      section, String(index), String(hexadecimal: address),
      offset.map { String(hexadecimal: $0) } ?? "", String(hexadecimal: raw), resolution.rawValue,
      target.map { String(hexadecimal: $0) } ?? "", symbol ?? "", string ?? "",
    ]
  }

  /// Where the slot leads, for a person.
  var destination: String {
    switch (target, symbol) {
    case (let target?, let symbol?): "\(symbol) \(String(hexadecimal: target))"
    case (let target?, nil): String(hexadecimal: target)
    case (nil, let symbol?): symbol
    case (nil, nil): "–"
    }
  }
}

/// Reads sections of one name slot by slot, and no more of them than `--max-bytes` allows.
struct PointerSlots {
  static let textLimit = 1 << 16

  /// The name, exactly; on Mach-O also `SEGMENT,section`.
  let sectionName: String
  let maxBytes: Int

  /// The sections, each with the index of its first slot; larger ones are problems.
  func sections(
    of image: any FileImage, problems: inout [Problem]
  ) throws(ImageError) -> [(section: Section, firstIndex: Int)] {
    var found: [(section: Section, firstIndex: Int)] = []
    var (index, room) = (0, UInt64(maxBytes))
    for section in try image.sections(named: sectionName) {
      guard section.size <= room else {
        problems.append(
          Problem(
            ImageError(
              .tooLarge, image: image.identity.path, section: section.name, offset: section.offset,
              message: "It is not shown, since it makes more than \(maxBytes) bytes of this file; "
                + "--max-bytes allows more.")))
        continue
      }
      room -= section.size
      found.append((section, index))
      index += Int(section.size) / image.pointerSize
    }
    return found
  }

  /// Resolves each whole slot in turn; what no pointer explains is told by `failure`.
  func forEach(
    in section: Section, firstIndex: Int, of image: any FileImage,
    _ body: (PointerSlot) -> Void
  ) {
    let size = UInt64(image.pointerSize)
    var names: [Int: String]?
    var room = maxBytes
    var position: UInt64 = 0
    var index = firstIndex
    while position + size <= section.size {
      var slot = PointerSlot(
        index: index, position: position, address: section.address.rawValue &+ position,
        offset: section.offset.map { $0.rawValue &+ position }, raw: 0, resolution: .none)
      do throws(ImageError) {
        let pointer = try image.pointer(at: position, in: section)
        slot.fill(from: pointer)
        if case .section(let index, _) = pointer.target, slot.symbol == nil {
          if names == nil { names = try Self.sectionNames(of: image) }
          slot.symbol = names?[index]
        }
        try slot.readText(of: pointer, in: image, room: &room)
      } catch {
        slot.failure = error
      }
      body(slot)
      index += 1
      position += size
    }
  }

  private static func sectionNames(of image: any FileImage) throws(ImageError) -> [Int: String] {
    var names: [Int: String] = [:]
    for section in try image.allSections() { names[section.index] = section.name }
    return names
  }
}

extension PointerSlot {
  fileprivate mutating func fill(from pointer: PointerValue) {
    raw = pointer.rawValue
    resolution = pointer.resolution
    symbol = pointer.symbol
    switch pointer.target {
    case .address(let address): target = address.rawValue
    case .section(_, let offset): target = offset
    case .imported(let name): symbol = name
    case .foreign(let address): target = UInt64(address.rawValue)
    case .null, .unresolvable: break
    }
  }

  fileprivate mutating func readText(
    of pointer: PointerValue, in image: any FileImage, room: inout Int
  ) throws(ImageError) {
    switch pointer.target {
    case .null: break
    case .address, .section:
      guard room > 0 else {
        throw ImageError(
          .tooLarge, image: image.identity.path,
          message: "The texts make more than --max-bytes allows; this one is not shown.")
      }
      let text = try image.withText(at: pointer.target, limit: PointerSlots.textLimit) { bytes in
        String(repairing: bytes)
      }
      room -= text.utf8.count + 1
      string = text
    case .imported(let symbol):
      throw ImageError(
        .unresolved, image: image.identity.path,
        message: "It leads to \(symbol) of another image.")
    case .foreign:
      throw ImageError(
        .outOfImage, image: image.identity.path, message: "It leads out of the image.")
    case .unresolvable(let why):
      throw ImageError(.unresolved, image: image.identity.path, message: why)
    }
  }
}

extension ImageError.Code {
  /// What the pointer leads to is not known before the image is loaded.
  static let unresolved = Self(rawValue: "unresolved-pointer")
}

extension String {
  /// Text with the replacement character where bytes are no UTF-8.
  init(repairing bytes: Span<UInt8>) {
    if let valid = try? UTF8Span(validating: bytes) {
      self.init(copying: valid)
    } else {
      self.init(decoding: bytes.indices.map { bytes[$0] }, as: UTF8.self)
    }
  }
}
