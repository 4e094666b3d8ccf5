internal import LibC
@_spi(_Unicode) internal import Swift

extension SchemaPlace {
  /// Reads whether a value belongs to a share of all values, in percent. It is always the same share.
  func share() -> CallRule.Requirement? {
    guard let percent = self["percent"].number(), let (name, salt, texts) = sharer() else {
      return nil
    }
    let written = DecisionValue.number(of: percent).texts[0]
    if !(0...100).contains(percent) {
      note("\(written) is no share; write a number from 0 to 100")
    }
    return (
      "\(written) percent by \(name)",
      { call, given in
        let texts = texts(call, given)
        return !texts.isEmpty && stableShare(of: salt, texts) < percent
      }
    )
  }

  /// Reads the value that decides about a share, and the salt of the shares: `{"by": …, "salt": …}`.
  func sharer() -> (name: String, salt: String, texts: @Sendable (Call, Arguments) -> [String])? {
    guard self["by"].isObject(of: ["context", "parameter"]),
      let (name, value) = self["by"].subject()
    else { return nil }
    let salt = given("salt").flatMap { $0.text() } ?? ruleName
    return (name, salt, { value($0, $1)?.texts ?? [] })
  }
}

/// Returns the position of a value among all values, in percent: the same in each process and on each machine.
///
/// From 0 to below 100, in steps of a hundredth: the hash's remainder of 10,000. Each salt orders the values in its
/// own way; a rule without a salt uses its name.
func stableShare(of salt: String, _ texts: [String]) -> Double {
  Double(stirred(folded(salt, texts)) % 10_000) / 100
}

/// Returns the index of the weight that takes a value: the same in each process and on each machine.
///
/// Each weight takes an exponentially distributed time, divided by the weight, and the shortest takes the value. So
/// a weight that grows takes values from the others, and moves none between them. Time n is made from the hash of the
/// texts and of the text n. The share divides the sum of the first two times: of two weights the first takes the
/// values that `percent` does.
func stableChoice(among weights: [Int], of salt: String, _ texts: [String]) -> Int? {
  // The value is hashed once, however many weights there are.
  let value = folded(salt, texts)
  func time(_ index: Int) -> Double {
    let hash = stirred("\(index)".utf8.reduce(fold(value, 0), fold))
    return -log((Double(hash >> 11) + 0.5) * 0x1p-53)
  }
  var times = weights.indices.map(time)
  if times.count > 1 {
    // Half a step further, so that the share is at no edge.
    let (share, sum) = ((stableShare(of: salt, texts) + 0.005) / 100, times[0] + times[1])
    (times[0], times[1]) = (share * sum, (1 - share) * sum)
  }
  return weights.indices.min {
    times[$0] / Double(weights[$0]) < times[$1] / Double(weights[$1])
  }
}

/// Returns the 64-bit FNV-1a hash of the salt and the texts, each in Unicode's NFC and in UTF-8, with a zero byte
/// before each text.
private func folded(_ salt: String, _ texts: [String]) -> UInt64 {
  texts.reduce(salt.composed.reduce(0xcbf2_9ce4_8422_2325, fold)) {
    $1.composed.reduce(fold($0, 0), fold)
  }
}

private func fold(_ hash: UInt64, _ byte: UInt8) -> UInt64 {
  (hash ^ UInt64(byte)) &* 0x100_0000_01b3
}

/// The last step of SplitMix64. It moves similar values far apart.
private func stirred(_ hash: UInt64) -> UInt64 {
  var hash = (hash ^ hash >> 30) &* 0xbf58_476d_1ce4_e5b9
  hash = (hash ^ hash >> 27) &* 0x94d0_49bb_1331_11eb
  return hash ^ hash >> 31
}

extension String {
  /// The UTF-8 bytes of its NFC form, which all equal texts share. The standard library compares texts by this form,
  /// but has no public call for it.
  var composed: [UInt8] { _nfc.flatMap { Array(String($0).utf8) } }

  /// The text as Unicode's NFC.
  var composedText: String {
    utf8.allSatisfy { $0 < 0x80 } ? self : String(decoding: composed, as: UTF8.self)
  }
}
