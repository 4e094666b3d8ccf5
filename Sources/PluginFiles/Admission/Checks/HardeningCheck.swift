internal import BinaryImage

/// Whether code stays code: nothing runs on the stack, and nothing writes into functions.
enum HardeningCheck {
  static func refusals(
    of library: Library, as title: String, _ policy: PluginPolicy
  ) -> [PluginRefusal] {
    var refusals: [PluginRefusal] = []
    let loading = library.loading
    if !policy.admitsExecutableStacks, loading.runsStack ?? true {
      let found = loading.runsStack == nil ? "it does not say (no PT_GNU_STACK)" : "it asks for one"
      refusals.append(
        PluginRefusal(
          .executableStack,
          "\(title.capitalizedFirst) makes the stack of the whole host executable: \(found).",
          expected: "a stack that is not executable", found: found,
          remedy: "Link it with -Wl,-z,noexecstack; an assembler source needs .note.GNU-stack."))
    }
    if !policy.admitsTextRelocations, loading.relocatesCode {
      refusals.append(
        PluginRefusal(
          .textRelocations,
          "\(title.capitalizedFirst) has the loader write into its code (DT_TEXTREL), which is writable "
            + "meanwhile.",
          expected: "no DT_TEXTREL", found: "DT_TEXTREL", remedy: "Compile all of it with -fPIC."))
    }
    return refusals
  }
}
