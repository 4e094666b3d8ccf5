/// A part of a file that runs, or comes along with it, before anybody calls a function of it.
package struct StartupStep: Hashable, Sendable {
  /// The kinds of steps, in the order of the loader.
  package enum Kind: String, CaseIterable, Sendable {
    /// A library that is opened with the file, and whose own steps come first: `DT_NEEDED`, `LC_LOAD_DYLIB`.
    case needed
    /// A library that the loader informs of its work: `DT_AUDIT`, `DT_DEPAUDIT`.
    case audit
    /// A library that answers instead of the file: `DT_FILTER`, `DT_AUXILIARY`.
    case filter
    /// Memory that every thread gets: `PT_TLS`. In Mach-O, the functions that fill it.
    case threadLocal = "tls"
    /// A function that chooses an address while the file is relocated, or at the first call if binding is lazy.
    case resolver = "ifunc"
    /// A function that chooses an address for images that bind to its symbol.
    case exportedResolver = "ifunc-symbol"
    /// `DT_PREINIT_ARRAY`, of executables.
    case preinit = "preinit-array"
    /// A class or category of Objective-C with a `+load`.
    case loadMethod = "objc-load"
    /// `DT_INIT`, `LC_ROUTINES`.
    case initialiser = "init"
    /// `DT_INIT_ARRAY`, `__mod_init_func`, `__init_offsets`.
    case initArray = "init-array"
    /// `DT_FINI_ARRAY`, `__mod_term_func`, when the file is closed; the last one first.
    case finiArray = "fini-array"
    /// `DT_FINI`.
    case finaliser = "fini"
  }

  /// The kind of the step.
  package var kind: Kind
  /// Its place in an array.
  package var index: Int?
  /// The function; nil if there is none, or if the note says why it is not known.
  package var address: UInt64?
  /// The function's symbol, or the library; nil if the file has no symbol for it.
  package var name: String?
  /// More about it.
  package var note: String?
  /// Whether it starts the section `.init` or `.fini`, which the compiler's own files fill.
  package var isOfCompiler = false
  /// Whether it is a number that the loader calls all the same: null, or a word that no relocation makes an address.
  package var isNumber = false

  package init(
    kind: Kind, index: Int? = nil, address: UInt64? = nil, name: String? = nil,
    note: String? = nil, isOfCompiler: Bool = false
  ) {
    (self.kind, self.index, self.address) = (kind, index, address)
    (self.name, self.note, self.isOfCompiler) = (name, note, isOfCompiler)
  }

  /// Describes a step of an array of pointers.
  package init(kind: Kind, index: Int, _ pointer: PointerValue) {
    self.init(kind: kind, index: index, name: pointer.symbol)
    switch pointer.target {
    case .address(let target): address = target.rawValue
    case .null: (note, isNumber) = ("it is null", true)
    case .imported(let symbol, let addend):
      name = PointerValue.name(ofImport: symbol, addend: addend)
      note = "another image defines it"
    case .unresolvable(let reason): (note, isNumber) = (reason, pointer.resolution == .number)
    case .section, .foreign: note = "it leads to no address of a linked file"
    }
  }
}

extension StartupStep {
  /// More bytes than any array of functions has.
  package static let mostBytes: UInt64 = 1 << 20
}

extension [StartupStep] {
  /// Leaves out names beyond the size of the file: many may share their bytes.
  package mutating func limitNames(to size: UInt64) {
    var room = size + 1 << 16
    for index in indices {
      let size = UInt64(self[index].name?.utf8.count ?? 0)
      if size <= room { room -= size } else { self[index].name = nil }
    }
  }
}

extension FileImage {
  /// Refuses files that no loader opens.
  package func checkStarts() throws(ImageError) {
    try file.check(
      identity.kind != .object, .noEntries,
      "It is not linked: what it is linked into decides what runs, and when.")
    try file.check(
      !isCore && !hasOnlyDebugInformation, .noEntries,
      "No loader opens it: it is a \(identity.kind.rawValue) file.")
  }
}
