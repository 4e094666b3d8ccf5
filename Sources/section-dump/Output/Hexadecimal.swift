extension String {
  /// The hexadecimal form of a number, as all formats print it.
  init(hexadecimal number: UInt64) {
    self = "0x" + String(number, radix: 16)
  }
}
