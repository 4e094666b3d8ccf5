public import BeeHive
public import Configuration

extension BeeHive.Configuration {
  /// Makes a reader of swift-configuration a source of settings. Modules find its providers' values in
  /// `context.configuration`, also after the providers have reloaded.
  ///
  /// - Parameters:
  ///   - reader: The reader, called each time a setting is read. It does not report a value's form, so each form is
  ///     tried. Its access reporters see every try.
  ///   - name: The source's name in errors.
  public func add(_ reader: ConfigReader, named name: String = "swift-configuration") {
    add(source: name) { setting in
      let key = ConfigKey(setting)
      if let text = reader.string(forKey: key) { return .string(text) }
      if let number = reader.int(forKey: key) { return .int(number) }
      if let number = reader.double(forKey: key) { return .double(number) }
      if let flag = reader.bool(forKey: key) { return .bool(flag) }
      if let texts = reader.stringArray(forKey: key) { return .array(texts.map { .string($0) }) }
      if let numbers = reader.intArray(forKey: key) { return .array(numbers.map { .int($0) }) }
      if let numbers = reader.doubleArray(forKey: key) {
        return .array(numbers.map { .double($0) })
      }
      if let flags = reader.boolArray(forKey: key) { return .array(flags.map { .bool($0) }) }
      return nil
    }
  }
}
