/// The types of parameters and results that C has values of, as a declaration names them.
package enum CType: String, CaseIterable {
  case string = "String"
  case int = "Int"
  case double = "Double"
  case bool = "Bool"

  /// `String, Int, Double or Bool`
  static var list: String {
    let names = allCases.map(\.rawValue)
    return names.dropLast().joined(separator: ", ") + " or " + (names.last ?? "")
  }

  /// Whether a text of a declaration, without quotes, is a value of the type.
  func holds(_ text: String) -> Bool { BuiltInType(named: rawValue)?.holds(text) ?? true }
}
