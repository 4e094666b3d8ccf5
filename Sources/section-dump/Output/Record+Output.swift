internal import BinaryImage
internal import Registration

extension Record {
  /// The kind and the name: `module shop`.
  var title: String { "\(kind) \(name)" }

  /// The symbol or address of the accessor; nil if there is none.
  var accessorName: String? {
    guard let accessor, accessor.target != .null else { return nil }
    if case .imported(let symbol, let addend) = accessor.target {
      return PointerValue.name(ofImport: symbol, addend: addend)
    }
    if let symbol = accessor.symbol { return symbol }
    return switch accessor.target {
    case .address(let address): address.rawValue.hexadecimal
    case .section(_, let offset): offset.hexadecimal
    case .foreign(let address): UInt64(address.rawValue).hexadecimal
    case .null, .imported, .unresolvable: nil
    }
  }

  /// `BeehiveMods[0] 0x30a0 → 0x560`
  var place: String {
    let slot = "\(origin.section)[\(origin.index)] \(origin.address.rawValue.hexadecimal)"
    guard let textAddress else { return slot }
    return "\(slot) → \(textAddress.rawValue.hexadecimal)"
  }
}

extension Attributes {
  /// `priority=10 requires="log >=1.2"`; nil if there are none.
  var words: String? {
    let words = texts.map { text in
      guard text.contains(" "), let sign = text.firstIndex(of: "=") else { return text }
      return "\(text[...sign])\"\(text[sign...].dropFirst())\""
    }
    return words.isEmpty ? nil : words.joined(separator: " ")
  }

  /// Writes an object without `priority`. Keys that may repeat have arrays, and so have keys that do.
  func write(to json: inout FieldWriter) {
    json.object { json in
      let single = [("level", level), ("scope", scope), ("name", name), ("abi", abi)]
      for case (let key, let value?) in single {
        json.key(text: key)
        json.string(value)
      }
      for (key, values) in [("requires", requires), ("after", after)] where !values.isEmpty {
        json.key(text: key)
        json.array(values)
      }
      for same in others.groups(by: \.key) {
        json.key(text: same[0].key)
        // A target has an `action` for each action, and an entry a `needs` for each need.
        if same.count == 1, !["action", "needs"].contains(same[0].key) {
          json.string(same[0].value)
        } else {
          json.array(same.map(\.value))
        }
      }
    }
  }
}
