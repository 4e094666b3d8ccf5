internal import LibC
internal import Registration

extension SchemaPlace {
  /// Reads `{"context": …, …}`, `{"parameter": …, …}`, `{"guard": …, "is": true}`, `{"percent": …, "by": …}`,
  /// `{"time": …}`, `{"any": […]}` or `{"not": …}`; nil for anything else.
  func condition(for host: DecisionTable.Host?) -> CallRule.Requirement? {
    switch only(["context", "parameter", "guard", "percent", "time", "any", "all", "not"]) {
    case "context", "parameter": return test()
    case "guard": return isObject(of: ["guard", "is"]) ? hostGuard(of: host) : nil
    case "percent": return isObject(of: ["percent", "by", "salt"]) ? share() : nil
    case "time": return isObject(of: ["time"]) ? self["time"].window(for: host) : nil
    case "not":
      guard isObject(of: ["not"]), let (text, holds) = self["not"].condition(for: host) else {
        return nil
      }
      return ("not (\(text))", { !holds($0, $1) })
    case let key?: return isObject(of: [key]) ? self[key].several(key, for: host) : nil
    case nil: return nil
    }
  }

  /// Reads the subject of a condition: a value of the host's context, or, if the rule says so, a parameter that the
  /// caller chooses.
  func subject() -> (
    name: String, value: @Sendable (Call, Arguments) -> Arguments.Argument?
  )? {
    guard let kind = only(["context", "parameter"]), let name = self[kind].text() else {
      return nil
    }
    if name.isEmpty { note("a \(kind) has a name") }
    let isContext = kind == "context"
    return (
      "\(kind) \(name)", { call, given in (isContext ? call.context ?? [:] : given).values[name] }
    )
  }

  /// Reads a test of a value.
  ///
  /// If a key is given several times, one of its values has to meet the test, so that giving it twice does
  /// not evade a rule.
  private func test() -> CallRule.Requirement? {
    let keys = Self.tests.map(\.key)
    guard isObject(of: ["context", "parameter"] + keys), let (name, value) = subject(),
      let key = only(keys), let read = Self.tests.first(where: { $0.key == key })?.value,
      let (text, holds) = read(self[key])
    else { return nil }
    return ("\(name) is \(text)", { holds(value($0, $1)) })
  }

  /// The text of a test, for people, and whether it holds for an argument.
  private typealias Test = (text: String, holds: @Sendable (Arguments.Argument?) -> Bool)

  private static let tests: KeyValuePairs<String, @Sendable (SchemaPlace) -> Test?> = [
    "is": { $0.value().map { isOne(of: [$0]) } },
    "isNot": { $0.value().map { isOne(of: [$0], isNot: true) } },
    "in": { isOne(of: $0.choices()) },
    "notIn": { isOne(of: $0.choices(), isNot: true) },
    "given": {
      $0.bool().map { expected in
        // Null counts as not given.
        (
          expected ? "given" : "not given",
          { ($0.map { $0.texts?.isEmpty != true } == true) == expected }
        )
      }
    },
    "version": { $0.version() },
    "startsWith": { $0.part("starts with") { $0.starts(with: $1) } },
    "endsWith": { $0.part("ends with") { $0.reversed().starts(with: $1.reversed()) } },
    "contains": { $0.part("contains") { $0.contains(part: $1) } },
    "cidr": { $0.network() },
    "above": { $0.comparison("above", by: { $0 > $1 }) },
    "atLeast": { $0.comparison("at least", by: { $0 >= $1 }) },
    "below": { $0.comparison("below", by: { $0 < $1 }) },
    "atMost": { $0.comparison("at most", by: { $0 <= $1 }) },
  ]

  /// Reads the values of a list.
  private func choices() -> [DecisionValue] {
    if isEmptyArray { note("a list of no values says nothing") }
    return array().compactMap { $0.value() }
  }

  private func version() -> Test? {
    guard let text = text() else { return nil }
    let bounds = text.split(separator: " ").map { bound in
      let sign = bound.prefix { "<>=".contains($0) }
      // Without a version after it, a `v` stays.
      let version = bound.dropFirst(sign.count)
      return sign + (version.count == 1 ? version : version.plainVersion)
    }
    guard let range = VersionRange(bounds.joined(separator: " ")) else {
      note("\(text.excerpt) is no range of versions, as >=2.1 <3 is")
      return nil
    }
    return (
      "a version of \(text)", { $0.holds { Version($0.plainVersion).map(range.contains) == true } }
    )
  }

  private func comparison(
    _ words: String, by holds: @escaping @Sendable (DecimalNumber, DecimalNumber) -> Bool
  ) -> Test? {
    guard number() != nil, let value = value(), let bound = value.decimal else { return nil }
    return (
      "\(words) \(value.texts[0])",
      { $0.holds { DecimalNumber($0).map { holds($0, bound) } == true } }
    )
  }

  private func part(
    _ words: String, by holds: @escaping @Sendable ([UInt8], [UInt8]) -> Bool
  ) -> Test? {
    guard let part = text() else { return nil }
    if part.isEmpty { note("there is no text that it leaves out") }
    let bytes = part.composed
    return ("a text that \(words) \(part)", { $0.holds { holds($0.composed, bytes) } })
  }

  private func network() -> Test? {
    guard let text = text() else { return nil }
    let (front, length) = text[...].split(at: "/")
    let base = addressBytes(of: front) ?? []
    // The length of an IPv4 network inside of IPv6 also counts the 96 bits before it.
    let before = base.count == 4 && front.utf8.contains(UInt8(ascii: ":")) ? 96 : 0
    let bits = (Int(length ?? "\(before + 8 * base.count)") ?? -1) - before
    guard !base.isEmpty, (0...8 * base.count).contains(bits),
      length?.utf8.allSatisfy(\.isDigit) != false
    else {
      note("\(text.excerpt) is no network, as 10.0.0.0/8 and 2001:db8::/32 are")
      return nil
    }
    @Sendable func prefix(_ bytes: [UInt8]) -> [UInt8] {
      bytes.enumerated().map {
        $1 & UInt8(truncatingIfNeeded: 0xff00 >> min(8, max(0, bits - 8 * $0)))
      }
    }
    let network = prefix(base)
    return (
      "an address of \(text)",
      { given in
        given.holds { address in
          addressBytes(of: address[...]).map { $0.count == base.count && prefix($0) == network }
            == true
        }
      }
    )
  }

  /// Returns a test whether an argument is one of these values, or none of them.
  private static func isOne(of values: [DecisionValue], isNot: Bool = false) -> Test {
    let words = values.map { $0.texts.joined(separator: " ") }.joined(separator: " or ").shortened
    let choices = Choices(values)
    return (
      (isNot ? "not " : "") + words,
      { given in
        // A value of the host that no URL can hold is none of them.
        guard let texts = given.map(\.texts) ?? [] else { return isNot }
        // All texts together may be one of the values: an array, or null if there are none.
        if choices.hold(texts) { return !isNot }
        return texts.isEmpty ? isNot : given.holds { choices.hold([$0]) != isNot }
      }
    )
  }

  /// Reads a window of time: not before the first and before the second of two times, as `2026-12-24T18:00:00Z`.
  private func window(for host: DecisionTable.Host?) -> CallRule.Requirement? {
    guard isObject(of: ["from", "until"]) else { return nil }
    var words = "time"
    let times = ["from", "until"].map { key -> Double? in
      guard let place = given(key), let text = place.text() else { return nil }
      words += " \(key) \(text)"
      return place.moment(at: text[...], for: host)
    }
    if words == "time" { note("a window of time has from, until or both") }
    let (first, end) = (times[0] ?? -.infinity, times[1] ?? .infinity)
    if first >= end { note("the window of time ends before or when it begins") }
    let now = host?.now
    return (words, { _, _ in now.map { first <= $0() && $0() < end } ?? false })
  }

  /// Returns the seconds since 1970 at a time, by Greenwich or by the clocks of a zone. Only the host knows zones.
  /// Nil if the time cannot be read, or the zone is unknown.
  private func moment(at text: Substring, for host: DecisionTable.Host?) -> Double? {
    let (clock, zone) = text.split(at: "[")
    guard let time = secondsSince1970(at: clock + (zone == nil ? "" : "Z")),
      zone == nil || zone?.last == "]"
    else {
      note(
        "\(String(text).excerpt) is no time, as 2026-12-24T18:00:00Z, 2026-12-24T18:00:00+01:00 and "
          + "2026-12-24T18:00:00[Europe/Berlin] are")
      return nil
    }
    guard let name = zone.map({ String($0.dropLast()) }) else { return time }
    guard let host else { return nil }
    func offset(at moment: Double) -> Double? { host.zones(name, moment).map { Double($0) } }
    guard let before = offset(at: time - 86_400), let after = offset(at: time + 86_400) else {
      note("the zone \(name.excerpt) is named, which the host does not know")
      return nil
    }
    // A time that the clocks show twice is the earlier moment, a time that they skip is as much later.
    let early = time - max(before, after)
    return offset(at: early) == time - early ? early : time - min(before, after)
  }

  /// Reads a guard and the answer that it has to give.
  private func hostGuard(of host: DecisionTable.Host?) -> CallRule.Requirement? {
    guard let name = self["guard"].text() else { return nil }
    let expected = given("is").map { $0.bool() ?? true } ?? true
    let holds = host?.guards[name]?.value
    if let host, holds == nil {
      note(
        "the guard \(name.excerpt) is named, which the host has not defined\(near(name, in: host.guards.keys))"
      )
    }
    return ("guard \(name) says \(expected)", { call, _ in holds?(call) == expected })
  }

  /// Reads an array of conditions: one of them has to hold, or all of them.
  private func several(_ key: String, for host: DecisionTable.Host?) -> CallRule.Requirement? {
    if key == "any", isEmptyArray { note("it has no conditions, so it would never hold") }
    let conditions = array().compactMap { $0.condition(for: host) }
    func text(_ separator: String) -> String {
      "(\(conditions.map(\.text).joined(separator: separator)))".shortened
    }
    return key == "any"
      ? (text(" or "), { call, given in conditions.contains { $0.holds(call, given) } })
      : (text(" and "), { call, given in conditions.allSatisfy { $0.holds(call, given) } })
  }
}

extension StringProtocol {
  /// A version without the `v` that some write before it.
  fileprivate var plainVersion: SubSequence { dropFirst(first == "v" || first == "V" ? 1 : 0) }
}

extension Arguments.Argument? {
  /// Returns whether a test holds for one of the texts.
  fileprivate func holds(_ test: (String) -> Bool) -> Bool {
    self?.texts?.contains(where: test) == true
  }
}

extension [UInt8] {
  /// Returns whether a part is somewhere in these bytes, in linear time (Knuth, Morris and Pratt).
  fileprivate func contains(part: [UInt8]) -> Bool {
    // For each beginning of the part, the longest shorter text that it begins and ends with.
    var borders = [0]
    func length(_ before: Int, with byte: UInt8) -> Int {
      var length = before
      while length > 0, part[length] != byte { length = borders[length - 1] }
      return part[length] == byte ? length + 1 : 0
    }
    for (index, byte) in part.enumerated().dropFirst() {
      borders.append(length(borders[index - 1], with: byte))
    }
    var found = 0
    for byte in self {
      found = length(found, with: byte)
      if found == part.count { return true }
    }
    return false
  }
}

/// Returns the bytes of an IP address, four or sixteen; nil if the text is not one. An IPv4 address inside of IPv6,
/// such as `::ffff:10.0.0.1`, has four.
private func addressBytes(of text: Substring) -> [UInt8]? {
  var bytes = [UInt8](repeating: 0, count: 16)
  guard !text.utf8.contains(0) else { return nil }
  if unsafe inet_pton(AF_INET, String(text), &bytes) == 1 { return Array(bytes.prefix(4)) }
  guard unsafe inet_pton(AF_INET6, String(text), &bytes) == 1 else { return nil }
  let mapped = Array(repeating: 0, count: 10) + [0xff, 0xff] as [UInt8]
  return bytes.starts(with: mapped) ? Array(bytes.suffix(4)) : bytes
}

/// Values that a parameter may have. A text is looked up in sets, however many values there are.
///
/// A number, a truth value and a UUID count by their value, because a receiver reads `07` and `+7` as 7.
private struct Choices: Sendable {
  private var texts: Set<String> = []
  private var numbers: Set<DecimalNumber> = []
  private var truths: Set<Bool> = []
  private var arrays: [[Choices]] = []

  init(_ values: [DecisionValue]) {
    for value in values {
      switch value {
      case .text(let text): texts.insert(UUIDValue(urlText: text)?.urlText ?? text)
      case .bool(let truth): truths.insert(truth)
      case .array(let values): arrays.append(values.map { Choices([$0]) })
      // Null has no text.
      case .null: arrays.append([])
      default: if let number = value.decimal { numbers.insert(number) }
      }
    }
  }

  /// Returns whether texts are a way to write one of the values.
  func hold(_ given: [String]) -> Bool {
    given.count == 1 && hold(given[0])
      || arrays.contains { $0.count == given.count && zip($0, given).allSatisfy { $0.hold([$1]) } }
  }

  private func hold(_ text: String) -> Bool {
    texts.contains(text) || UUIDValue(urlText: text).map { texts.contains($0.urlText) } == true
      || DecimalNumber(text).map(numbers.contains) == true
      || Bool(urlText: text).map(truths.contains) == true
  }
}

/// Returns the seconds since 1970, by Greenwich, of a moment as RFC 3339 writes it: `2026-12-24T18:00:00Z`,
/// `2026-12-24T18:00:00+01:00`.
///
/// Returns nil if the text is not one. Fractions of a second do not count.
func secondsSince1970(at text: some StringProtocol) -> Double? {
  let moment = text.utf8.prefix(19)
  var zone = text.utf8.dropFirst(19)
  if zone.first == UInt8(ascii: ".") {
    let behind = zone.dropFirst().drop(while: \.isDigit)
    guard behind.count < zone.count - 1 else { return nil }
    zone = behind
  }
  let written = Array(moment) + Array(zone)
  let shape = String(decoding: written.map { $0.isDigit ? UInt8(ascii: "0") : $0 }, as: UTF8.self)
  let forms = ["Z", "+00:00", "-00:00"].flatMap { zone in
    ["T", " "].map { "0000-00-00\($0)00:00:00\(zone)" }
  }
  let numbers = written.split { !$0.isDigit }.compactMap {
    Int(String(decoding: $0, as: UTF8.self))
  }
  let ranges = [1...9999, 1...12, 1...31, 0...23, 0...59, 0...60, 0...23, 0...59]
  guard forms.contains(shape.uppercased()),
    zip(ranges, numbers).allSatisfy({ $0.contains($1) })
  else { return nil }
  let offset = numbers.count == 8 ? (numbers[6] * 60 + numbers[7]) * 60 : 0
  var date = unsafe tm()
  unsafe date.tm_year = Int32(numbers[0] - 1900)
  unsafe date.tm_mon = Int32(numbers[1] - 1)
  unsafe date.tm_mday = Int32(numbers[2])
  let midnight = unsafe timegm(&date)
  // A day that the month does not have has become a day of the next month.
  guard unsafe date.tm_mday == numbers[2] else { return nil }
  let seconds = (numbers[3] * 60 + numbers[4]) * 60 + numbers[5]
  return Double(midnight + seconds + (zone.first == UInt8(ascii: "-") ? offset : -offset))
}
