internal import BeeHive
internal import BeeHiveRouting

// The attributes of spans and metrics, by OpenTelemetry's rules for names. Callers from outside choose no value, so
// each attribute has few values.

extension ModuleStep {
  /// Returns the attributes of a step that has ended.
  func attributes(_ failure: ModuleFailure?) -> [String: String] {
    var attributes = ["beehive.module.name": module, "beehive.module.step": event]
    attributes["error.type"] = failure?.type
    return attributes
  }
}

extension Router {
  /// Returns the attributes of a call that has ended.
  func attributes(of call: Call, _ error: (any Error)?) -> [String: String] {
    var attributes = ["beehive.call.origin": call.origin.rawValue]
    attributes["beehive.call.name"] = name(of: call, error)
    attributes["error.type"] = error?.type
    return attributes
  }

  /// Returns the pattern of the route, or the name of the action; nil if nothing has the name that a caller chose.
  func name(of call: Call, _ error: (any Error)? = nil) -> String? {
    switch call.destination {
    case .url(let url): (route(for: call) ?? route(for: url))?.pattern.text
    case .action where call.origin == .remote && error is RoutingError: nil
    case .action(let target, let action): "\(target).\(action)"
    }
  }
}

extension Error {
  /// The value of `error.type`: a code of the Hive, else the name of the type.
  fileprivate var type: String {
    switch self {
    case let failure as ModuleFailure: failure.error?.type ?? "_OTHER"
    case let error as RoutingError: error.code.rawValue
    case let error as ServiceError: error.code.rawValue
    case let problem as Problem: problem.code.rawValue
    default: String(reflecting: Swift.type(of: self))
    }
  }
}
