extension RecordView {
  /// Checks that a record that is made in C leads to its structure.
  func checkContext(isNull: Bool) throws(Refusal) {
    guard isC, isNull else { return }
    throw Refusal(
      .badContext,
      "is made in C, and its context is a null pointer; declare it with BeeHive.h, or let the context "
        + "lead to the structure of its abi")
  }
}
