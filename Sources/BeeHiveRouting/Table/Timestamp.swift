internal import LibC

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
