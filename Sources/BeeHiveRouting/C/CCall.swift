internal import CBeeHive
internal import CForeignCalls

/// Calls a function of a C target or route.
///
/// Only this type of the layer reads structures of an image and calls its functions. An image that
/// has registered stays mapped. The author promises that the function has this type.
struct CCall: Sendable {
  let entry: RegisteredEntry
  weak let hive: Hive?
  /// The action's name; nil for a route.
  let action: String?
  /// The name of the type that the function declares; empty for none.
  let result: String

  /// Returns the function after checking it; nil if its record has been removed.
  func function() throws(RoutingError) -> beehive_perform? {
    guard let address = hive?.structure(of: entry) else { return nil }
    switch code(at: address) {
    case .success(let code): return unsafe unsafeBitCast(code, to: beehive_perform.self)
    case .failure(let problem): throw failure(problem.message)
    }
  }

  /// Calls the function with the arguments of these names, and returns its answer.
  func perform(
    _ arguments: Arguments, _ names: [String], url: String?
  ) throws(RoutingError) -> any Sendable {
    guard let function = unsafe try function() else {
      // The error of a lookup a moment later: the entry was removed after it was found.
      throw RoutingError(
        action == nil ? .noRoute : .noTarget,
        "\(name) of \(entry.source) was removed before it was called", sources: [entry.source])
    }
    // C gets an array as one text too. A slash in a segment of `*` would look like one between segments.
    let isPrefix = entry.attributes.extent == .prefix
    var rests: Set<String> = []
    for case .rest(let rest, let isPath) in entry.pattern?.variants(isPrefix: isPrefix).first ?? []
    {
      rests.insert(rest)
      let segments = arguments.texts(rest)
      try RoutingError.check(
        !segments.joined(separator: "/").climbs
          && (isPath || segments.allSatisfy { !$0.utf8.contains(UInt8(ascii: "/")) }),
        .wrongParameter,
        "\(name) of \(entry.source) takes the rest of the path as one text, and a segment of it has a slash or leads up",
        key: rest)
    }
    // Every text keeps its address until the function has returned.
    let texts = CTexts()
    let list = unsafe names.compactMap { name -> beehive_argument? in
      guard let value = unsafe texts.value(of: arguments, name, isRest: rests.contains(name)) else {
        return nil
      }
      return unsafe beehive_argument(name: texts.copy(name), value: value)
    }
    let values = unsafe names.flatMap { unsafe texts.values(of: arguments, $0) }
    var answer: any Sendable = ()
    let isDone = unsafe (list + values).withUnsafeBufferPointer { all in
      unsafe withUnsafeMutablePointer(to: &answer) { answer in
        var call = unsafe beehive_call(
          size: UInt32(MemoryLayout<beehive_call>.size), version: UInt32(BEEHIVE_CALL_VERSION),
          name: texts.copy(action ?? entry.name), url: url.map { unsafe texts.copy($0) },
          is_remote: Call.current?.origin == .remote ? 1 : 0, argument_count: UInt32(list.count),
          arguments: all.baseAddress, values: all.baseAddress.map { unsafe $0 + list.count },
          value_count: UInt32(values.count))
        var reply = unsafe beehive_reply(
          size: UInt32(MemoryLayout<beehive_reply>.size), version: UInt32(BEEHIVE_REPLY_VERSION),
          set: { reply, value in
            guard let reply = unsafe reply, let value = unsafe value,
              let answer = unsafe reply.pointee.host
            else { return }
            unsafe answer.assumingMemoryBound(to: (any Sendable).self).pointee =
              value.pointee.swiftValue
          }, host: answer)
        return unsafe beehive_call_perform(function, &call, &reply)
      }
    }
    withExtendedLifetime(texts) {}
    if let unread = answer as? RoutingError { throw failure(unread.message) }
    guard isDone else { throw failure((answer as? String) ?? "its function failed") }
    // Without a declared type, the function may return any value.
    try RoutingError.check(
      CType(rawValue: result).map { $0.swiftType == type(of: answer) } ?? true, .wrongResult,
      "\(name) of \(entry.source) declares \(result), and its function returned "
        + (answer is Void ? "nothing" : "a value of type \(type(of: answer))"),
      sources: [entry.source])
    return answer
  }

  /// Returns the address of the function. Only images declare targets and routes of C.
  private func code(at address: RuntimeAddress) -> Result<UInt, Problem> {
    guard let action else {
      return ForeignMemory.image.structure(.route, as: beehive_route_table.self, at: address)
        .map { unsafe unsafeBitCast($0.perform, to: UInt.self) }
    }
    let missing = Problem(.badContext, "its table has no function \(action)")
    return unsafe ForeignMemory.image.structure(
      .targetTable, as: beehive_target_table.self, at: address
    ).flatMap { table in
      guard let actions = unsafe UnsafeRawPointer(table.actions) else { return .failure(missing) }
      for index in unsafe 0..<table.action_count {
        let found = unsafe actions.loadUnaligned(
          fromByteOffset: index * table.action_size, as: beehive_action.self)
        let name = unsafe RuntimeAddress(rawValue: UInt(bitPattern: found.name))
        guard ForeignMemory.image.text(at: name) == action else { continue }
        let function = unsafe unsafeBitCast(found.perform, to: UInt.self)
        return ForeignMemory.image.holdsCode(UInt64(function))
          ? .success(function) : .failure(Problem(.noCode("its function", at: UInt64(function))))
      }
      return .failure(missing)
    }
  }

  private var name: String { action.map { "\(entry.name).\($0)" } ?? entry.name }

  private func failure(_ reason: String) -> RoutingError {
    RoutingError(.failed, "\(name) of \(entry.source) failed: \(reason)", sources: [entry.source])
  }
}

extension CTexts {
  /// Returns the argument for C; nil if C has no value for it. Several texts give `NONE`, the rest of a path one text.
  fileprivate func value(
    of arguments: Arguments, _ name: String, isRest: Bool = false
  ) -> beehive_value? {
    switch arguments[raw: name] {
    case let value as Bool: unsafe make(BEEHIVE_VALUE_BOOL, integer: value ? 1 : 0)
    case let value as Int: unsafe make(BEEHIVE_VALUE_INTEGER, integer: Int64(value))
    case let value as Double: unsafe make(BEEHIVE_VALUE_NUMBER, number: value)
    case let value as Float: unsafe make(BEEHIVE_VALUE_NUMBER, number: Double(value))
    case let value as String: unsafe make(BEEHIVE_VALUE_TEXT, text: value)
    case let value as [String] where !isRest && value.count > 1: unsafe make(BEEHIVE_VALUE_NONE)
    case let value as [String]: unsafe make(BEEHIVE_VALUE_TEXT, text: value.joined(separator: "/"))
    case let value as any BinaryInteger where Int64(exactly: value) != nil:
      unsafe make(BEEHIVE_VALUE_INTEGER, integer: Int64(value))
    case let value as any URLConvertible:
      unsafe value.urlTexts.isEmpty ? nil : make(BEEHIVE_VALUE_TEXT, text: value.urlText)
    default: nil
    }
  }

  /// Returns the values of the argument for C: for an array, one value for each element.
  fileprivate func values(of arguments: Arguments, _ name: String) -> [beehive_argument] {
    let value = arguments[raw: name]
    let elements = value as? [String] ?? (value as? any URLConvertible)?.urlTexts ?? []
    guard elements.count != 1 else {
      return unsafe self.value(of: arguments, name).map {
        unsafe [beehive_argument(name: copy(name), value: $0)]
      } ?? []
    }
    return unsafe elements.map {
      unsafe beehive_argument(name: copy(name), value: make(BEEHIVE_VALUE_TEXT, text: $0))
    }
  }

  private func make<Kind: BinaryInteger>(
    _ kind: Kind, integer: Int64 = 0, number: Double = 0, text: String? = nil
  ) -> beehive_value {
    unsafe beehive_value(
      kind: UInt32(kind), text_size: UInt32(text?.utf8.count ?? 0), integer: integer,
      number: number, text: text.map { unsafe copy($0) })
  }
}

extension beehive_value {
  /// The value that a C function answers; an error if its text is not UTF-8. Such a text is not repaired.
  fileprivate var swiftValue: any Sendable {
    switch unsafe kind {
    case UInt32(BEEHIVE_VALUE_BOOL): unsafe integer != 0
    case UInt32(BEEHIVE_VALUE_INTEGER): unsafe Int(integer)
    case UInt32(BEEHIVE_VALUE_NUMBER): unsafe number
    case UInt32(BEEHIVE_VALUE_TEXT):
      unsafe text.map { text -> any Sendable in
        unsafe String(validatingCString: text)
          ?? RoutingError(.failed, "the text of its reply is not UTF-8")
      } ?? ""
    default: ()
    }
  }
}
