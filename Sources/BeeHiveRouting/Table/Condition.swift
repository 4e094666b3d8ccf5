internal import LibC
internal import Registration

extension DecisionTable {
  /// Something that has to hold.
  package indirect enum Condition: Hashable, Sendable {
    /// Whether a parameter is given at all.
    case given(String, Bool)
    /// Whether a parameter is one of these values, or none of them.
    case isOne(String, of: [DecisionValue], isNot: Bool)
    /// How a parameter that is a number compares with one.
    case compares(String, Comparison, Double)
    /// Whether a parameter is a version of this range: `>=2.1 <3`.
    case version(String, in: String)
    /// Whether the value of a parameter is among this part of all values, in percent: always the same part.
    case percent(Double, by: String)
    /// Whether it is not before the first and before the second of these times: `2026-12-24T18:00:00Z`.
    case time(from: String?, until: String?)
    /// What a guard that the host has defined says.
    case hostGuard(String, Bool)
    /// Whether one of these holds.
    case any([Condition])
    /// Whether all of these hold.
    case all([Condition])
  }

  /// A comparison, of numbers or of versions.
  package enum Comparison: String, Hashable, Sendable, CaseIterable {
    /// Greater.
    case above
    /// Greater or equal.
    case atLeast
    /// Less.
    case below
    /// Less or equal.
    case atMost

    func holds<Value: Comparable>(_ value: Value, _ bound: Value) -> Bool {
      switch self {
      case .above: value > bound
      case .atLeast: value >= bound
      case .below: value < bound
      case .atMost: value <= bound
      }
    }
  }
}

extension DecisionTable.Condition {
  /// What the condition of a rule asks a call; notes what is wrong with it at its place. Without a host it
  /// never holds where it needs one.
  ///
  /// A key that is given several times meets a test if one of its values does, so that giving it twice does
  /// not evade a rule.
  func compiled(
    of rule: String, for host: DecisionTable.Host?, at place: SchemaPlace
  ) -> CallRule.Condition {
    if key?.isEmpty == true { place.note("a parameter has a name") }
    switch self {
    case .given(let key, let expected):
      return { _, parameters in (parameters.values[key] != nil) == expected }
    case .isOne(let key, let values, let isNot):
      if values.isEmpty { place.note("a list of no values says nothing") }
      return { _, parameters in
        let texts = parameters.texts(key)
        // All that is given may be one of the values, an array, or none at all.
        if values.contains(where: { $0.isWritten(texts) }) { return !isNot }
        return texts.isEmpty
          ? isNot : texts.contains { text in values.contains { $0.isWritten([text]) } != isNot }
      }
    case .compares(let key, let comparison, let bound):
      return { _, parameters in
        parameters.texts(key).contains { text in
          Double(urlText: text).map { comparison.holds($0, bound) } == true
        }
      }
    case .version(let key, let text):
      guard let range = VersionRange(text) else {
        place.note("\(text) is no range of versions, as >=2.1 <3 is")
        return Self.never
      }
      return { _, parameters in
        parameters.texts(key).contains { Version($0).map(range.contains) == true }
      }
    case .percent(let percent, let key):
      if !(0...100).contains(percent) {
        place.note("\(percent.urlText) is no share; write a number from 0 to 100")
      }
      return { _, parameters in
        let texts = parameters.texts(key)
        return !texts.isEmpty && stableShare(of: rule, texts) < percent
      }
    case .time(let from, let until):
      let times = [from, until].map { text -> Double? in
        guard let text else { return nil }
        if let time = Timestamp(text) { return time.seconds }
        place.note("\(text) is no time, as 2026-12-24T18:00:00Z and 2026-12-24T18:00:00+01:00 are")
        return nil
      }
      if from == nil, until == nil { place.note("a window of time has from, until or both") }
      if let first = times[0], let second = times[1], first >= second {
        place.note("the window of time ends before it begins")
      }
      guard let now = host?.now else { return Self.never }
      return { _, _ in
        let time = now()
        return times[0].map { time >= $0 } ?? true && times[1].map { time < $0 } ?? true
      }
    case .hostGuard(let name, let expected):
      guard let guards = host?.guards else { return Self.never }
      guard let hostGuard = guards[name] else {
        let question = near(name, in: guards.keys)
        place.note("the guard \(name) is named, which the host has not defined\(question)")
        return Self.never
      }
      return { call, _ in hostGuard(call) == expected }
    case .any(let conditions):
      if conditions.isEmpty { place.note("it has no conditions, so it would never hold") }
      let compiled = place["any"].compile(conditions, of: rule, for: host)
      return { call, parameters in compiled.contains { $0(call, parameters) } }
    case .all(let conditions):
      let compiled = place["all"].compile(conditions, of: rule, for: host)
      return { call, parameters in compiled.allSatisfy { $0(call, parameters) } }
    }
  }

  private static let never: CallRule.Condition = { _, _ in false }

  /// The name of the parameter that is asked for; nil where none is.
  private var key: String? {
    switch self {
    case .given(let key, _), .isOne(let key, _, _), .compares(let key, _, _), .version(let key, _),
      .percent(_, let key):
      key
    case .time, .hostGuard, .any, .all: nil
    }
  }
}

extension SchemaPlace {
  /// What the conditions of an array ask.
  func compile(
    _ conditions: [DecisionTable.Condition], of rule: String, for host: DecisionTable.Host?
  ) -> [CallRule.Condition] {
    conditions.enumerated().map { $1.compiled(of: rule, for: host, at: self[$0]) }
  }
}

extension DecisionValue {
  /// Returns whether texts are a way to write the value: a number and a truth value count by their value,
  /// since a receiver reads `07` and `+7` as 7.
  fileprivate func isWritten(_ texts: [String]) -> Bool {
    if case .array(let values) = self {
      return values.count == texts.count && zip(values, texts).allSatisfy { $0.isWritten([$1]) }
    }
    guard texts.count == 1 else { return self.texts == texts }
    return switch self {
    case .integer(let value): Int(urlText: texts[0]).map { $0 == value } ?? isNumber(texts[0])
    case .number: isNumber(texts[0])
    case .bool(let value): Bool(urlText: texts[0]) == value
    default: self.texts == texts
    }
  }

  private func isNumber(_ text: String) -> Bool {
    guard let double else { return false }
    return Double(urlText: text) == double
  }
}

extension DecisionTable.Condition: CustomStringConvertible {
  /// `parameter from is mail`, `20 percent by user`, …: as `explain` names it.
  package var description: String {
    switch self {
    case .given(let key, let isGiven): "parameter \(key) is \(isGiven ? "" : "not ")given"
    case .isOne(let key, let values, let isNot):
      "parameter \(key) is \(isNot ? "not " : "")"
        + values.map { $0.texts.joined(separator: " ") }.joined(separator: " or ")
    case .compares(let key, let comparison, let bound):
      "parameter \(key) is \(comparison.words) \(Self.text(bound))"
    case .version(let key, let range): "parameter \(key) is a version of \(range)"
    case .percent(let percent, let key): "\(Self.text(percent)) percent by \(key)"
    case .time(let from, let until):
      "time" + (from.map { " from \($0)" } ?? "") + (until.map { " until \($0)" } ?? "")
    case .hostGuard(let name, let expected): "guard \(name) says \(expected)"
    case .any(let conditions): Self.list(conditions, " or ")
    case .all(let conditions): Self.list(conditions, " and ")
    }
  }

  private static func text(_ number: Double) -> String {
    DecisionValue.number(number).texts.joined()
  }

  private static func list(_ conditions: [Self], _ separator: String) -> String {
    "(" + conditions.map(\.description).joined(separator: separator) + ")"
  }
}

extension DecisionTable.Comparison {
  fileprivate var words: String {
    switch self {
    case .above: "above"
    case .atLeast: "at least"
    case .below: "below"
    case .atMost: "at most"
    }
  }
}

/// Returns where among all values one is, in percent: the same in each process and on each machine.
///
/// From 0 to below 100, in steps of a hundredth. Each rule orders the values in a way of its own.
///
/// FNV-1a with 64 bits of the rule's name and the texts, a zero byte before each text; then the last step of
/// SplitMix64, so that values that differ little are far apart; then the remainder of 10,000.
func stableShare(of rule: String, _ texts: [String]) -> Double {
  let bytes = Array(rule.utf8) + texts.flatMap { [0] + Array($0.utf8) }
  var hash: UInt64 = bytes.reduce(0xcbf2_9ce4_8422_2325) {
    ($0 ^ UInt64($1)) &* 0x100_0000_01b3
  }
  hash = (hash ^ hash >> 30) &* 0xbf58_476d_1ce4_e5b9
  hash = (hash ^ hash >> 27) &* 0x94d0_49bb_1331_11eb
  hash ^= hash >> 31
  return Double(hash % 10_000) / 100
}

/// A moment as RFC 3339 writes it: `2026-12-24T18:00:00Z`, `2026-12-24T18:00:00+01:00`.
struct Timestamp {
  /// Seconds since 1970, by Greenwich.
  let seconds: Double

  /// Nil where the text is none; fractions of a second do not count.
  init?(_ text: String) {
    var rest = text.utf8[...]
    func number(_ digits: Int, _ range: ClosedRange<Int>) -> Int? {
      let taken = rest.prefix(digits)
      guard taken.count == digits, taken.allSatisfy(\.isDigit) else { return nil }
      rest = rest.dropFirst(digits)
      let value = taken.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
      return range.contains(value) ? value : nil
    }
    func take(_ bytes: String) -> UInt8? {
      guard let first = rest.first, bytes.utf8.contains(first) else { return nil }
      rest = rest.dropFirst()
      return first
    }
    guard let year = number(4, 1...9999), take("-") != nil, let month = number(2, 1...12),
      take("-") != nil, let day = number(2, 1...31), let midnight = Self.midnight(year, month, day),
      take("Tt ") != nil, let hour = number(2, 0...23), take(":") != nil,
      let minute = number(2, 0...59), take(":") != nil, let second = number(2, 0...60)
    else { return nil }
    if take(".") != nil {
      guard number(1, 0...9) != nil else { return nil }
      while number(1, 0...9) != nil {}
    }
    var offset = 0
    guard let zone = take("Zz+-") else { return nil }
    if zone == UInt8(ascii: "+") || zone == UInt8(ascii: "-") {
      guard let hours = number(2, 0...23), take(":") != nil, let minutes = number(2, 0...59) else {
        return nil
      }
      offset = (hours * 60 + minutes) * (zone == UInt8(ascii: "-") ? -60 : 60)
    }
    guard rest.isEmpty else { return nil }
    seconds = Double(midnight + hour * 3600 + minute * 60 + second - offset)
  }

  /// When a day begins, in seconds since 1970; nil where the month has no such day.
  private static func midnight(_ year: Int, _ month: Int, _ day: Int) -> Int? {
    var date = unsafe tm()
    unsafe date.tm_year = Int32(year - 1900)
    unsafe date.tm_mon = Int32(month - 1)
    unsafe date.tm_mday = Int32(day)
    let seconds = unsafe timegm(&date)
    // A day that the month does not have has become one of the next.
    return unsafe date.tm_mday == day ? seconds : nil
  }
}
