internal import BeeHive
internal import CBeeHive

/// Calls a function of a C target or route.
///
/// The one place of this layer that reads structures of an image and calls its functions. The Hive keeps
/// the image mapped from the first call on; that the function has this type is the author's promise.
struct CCall: Sendable {
  private let entry: DeclaredEntry
  private let hive: WeakHive
  /// The action's name; nil for a route.
  private let action: String?

  init(entry: DeclaredEntry, hive: Hive, action: String?) {
    self.entry = entry
    self.hive = WeakHive(hive)
    self.action = action
  }

  /// Calls the function with the arguments of these names, and returns its answer.
  func perform(
    _ arguments: Arguments, _ names: [String], url: String?, isRemote: Bool
  ) throws(RoutingError) -> any Sendable {
    guard let address = hive.value?.structure(of: entry),
      let structure = unsafe UnsafeRawPointer(bitPattern: address.rawValue)
    else { throw departure }
    guard let function = unsafe function(at: structure) else {
      throw failure(
        action.map { "its table has no function \($0)" } ?? "its record leads to no function")
    }
    // Every text stays where it is until the function has returned.
    let texts = CTexts()
    let list = unsafe names.compactMap { name -> beehive_argument? in
      guard let value = unsafe texts.value(of: arguments, name) else { return nil }
      return unsafe beehive_argument(name: texts.copy(name), value: value)
    }
    let answer = CAnswer()
    let isDone = unsafe list.withUnsafeBufferPointer { list in
      var call = unsafe beehive_call(
        size: UInt32(MemoryLayout<beehive_call>.size), version: UInt32(BEEHIVE_CALL_VERSION),
        name: texts.copy(action ?? entry.name), url: url.map { unsafe texts.copy($0) },
        is_remote: isRemote ? 1 : 0, argument_count: UInt32(list.count),
        arguments: list.baseAddress)
      var reply = unsafe beehive_reply(
        size: UInt32(MemoryLayout<beehive_reply>.size), version: UInt32(BEEHIVE_REPLY_VERSION),
        set: { reply, value in
          guard let reply = unsafe reply, let value = unsafe value,
            let host = unsafe reply.pointee.host
          else { return }
          unsafe Unmanaged<CAnswer>.fromOpaque(host).takeUnretainedValue().set(value.pointee)
        }, host: unsafe Unmanaged.passUnretained(answer).toOpaque())
      return withExtendedLifetime(answer) { unsafe function(&call, &reply) }
    }
    withExtendedLifetime(texts) {}
    guard isDone else { throw failure((answer.value as? String) ?? "its function failed") }
    return answer.value
  }

  /// The function, if the structure is as long as its version is.
  private func function(at structure: UnsafeRawPointer) -> beehive_perform? {
    guard let action else {
      let table = unsafe structure.load(as: beehive_route_table.self)
      return unsafe table.size >= MemoryLayout<beehive_route_table>.size ? table.perform : nil
    }
    let table = unsafe structure.load(as: beehive_target_table.self)
    guard unsafe table.size >= MemoryLayout<beehive_target_table>.size,
      unsafe table.action_size >= MemoryLayout<beehive_action>.size,
      let actions = unsafe UnsafeRawPointer(table.actions)
    else { return nil }
    for index in unsafe 0..<table.action_count {
      let found = unsafe actions.load(
        fromByteOffset: index * table.action_size, as: beehive_action.self)
      if let name = unsafe found.name, unsafe String(cString: name) == action {
        return unsafe found.perform
      }
    }
    return nil
  }

  private var name: String { action.map { "\(entry.name).\($0)" } ?? entry.name }

  /// What it would have been a moment later: its library was closed after it was found.
  private var departure: RoutingError {
    RoutingError(
      action == nil ? .noRoute : .noTarget,
      "\(name) of \(entry.source) went with its library before it was called",
      sources: [entry.source])
  }

  private func failure(_ reason: String) -> RoutingError {
    RoutingError(
      .failed, "\(name) of \(entry.source) failed: \(reason)", sources: [entry.source])
  }
}

/// The texts of one call, as C reads them.
@safe private final class CTexts {
  // Sound: each buffer is allocated here, and freed when the call is over.
  private var buffers: [UnsafeMutablePointer<CChar>]

  init() { unsafe buffers = [] }

  deinit { for index in unsafe buffers.indices { unsafe buffers[index].deallocate() } }

  func copy(_ text: String) -> UnsafePointer<CChar> {
    let bytes = Array(text.utf8CString)
    let buffer = UnsafeMutablePointer<CChar>.allocate(capacity: bytes.count)
    unsafe buffer.initialize(from: bytes, count: bytes.count)
    unsafe buffers.append(buffer)
    return unsafe UnsafePointer(buffer)
  }

  /// The argument as C has it; nil where it is not given, or of a type that C has no value for.
  func value(of arguments: Arguments, _ name: String) -> beehive_value? {
    switch arguments[raw: name] {
    case let value as Bool: unsafe make(BEEHIVE_VALUE_BOOL, integer: value ? 1 : 0)
    case let value as Int: unsafe make(BEEHIVE_VALUE_INTEGER, integer: Int64(value))
    case let value as Double: unsafe make(BEEHIVE_VALUE_NUMBER, number: value)
    case let value as String: unsafe make(BEEHIVE_VALUE_TEXT, text: value)
    case let value as [String]: unsafe make(BEEHIVE_VALUE_TEXT, text: value.joined(separator: "/"))
    case let value as any URLConvertible:
      unsafe value.urlTexts.isEmpty ? nil : make(BEEHIVE_VALUE_TEXT, text: value.urlText)
    default: nil
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

/// What a C function has answered.
private final class CAnswer {
  var value: any Sendable = ()

  func set(_ new: beehive_value) {
    switch unsafe new.kind {
    case UInt32(BEEHIVE_VALUE_BOOL): value = unsafe new.integer != 0
    case UInt32(BEEHIVE_VALUE_INTEGER): value = unsafe Int(new.integer)
    case UInt32(BEEHIVE_VALUE_NUMBER): value = unsafe new.number
    case UInt32(BEEHIVE_VALUE_TEXT):
      value = unsafe new.text.map { unsafe String(cString: $0) } ?? ""
    default: value = ()
    }
  }
}
