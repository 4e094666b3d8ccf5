/// One row of the table: a comparison, and its bound above the floor.
struct Figure {
  /// The measured quantity.
  enum Quantity {
    case time
    case instructions
  }

  /// The bound of the row. Absolute times are only reported, because machines differ.
  enum Bound {
    /// At most this many times the floor.
    case ratio(Double)
    /// At most this much above the floor: nanoseconds, or instructions.
    case above(Double)
    /// At most this many instructions, whatever the floor takes.
    case atMost(Double)
    /// At most this time in nanoseconds. Exceeding it is reported and fails nothing.
    case reported(Double?)
  }

  let title: String
  let comparison: String
  /// The comparison whose candidate is the floor; nil for the comparison's own floor.
  var floorOf: String?
  let quantity: Quantity
  let bound: Bound
}

extension Figure {
  /// The table, from the top.
  static let all: [Figure] = [
    // The floor reads notes by hand and believes them. The walk copies headers and notes, and libelf reads the copies:
    // a handle, a chunk and six headers of each image. README explains the benefit.
    Figure("walk with the note, an image of 200", "walk-notes-200", .time, .ratio(10)),
    Figure("walk with the note, an image of 200", "walk-notes-200", .instructions, .atMost(3000)),
    Figure("walk with the note, an image of 1,000", "walk-notes-1000", .time, .ratio(10)),
    Figure(
      "walk with the note, an image of 1,000", "walk-notes-1000", .instructions, .atMost(3000)),
    // The floor trusts the file and keeps three ranges. The walk opens the file as the tool does, with the guard before
    // libelf. It reads notes in a capsule, compares build-ids and headers, and each image becomes an object that stays.
    Figure("walk 200 images without it", "walk-files-200", .time, .reported(nil)),
    Figure("walk 200 images without it", "walk-files-200", .instructions, .ratio(3.6)),
    Figure("walk 1,000 images without it", "walk-files-1000", .time, .reported(nil)),
    Figure("walk 1,000 images without it", "walk-files-1000", .instructions, .ratio(3.8)),
    Figure("find sections in a file, beside libelf", "find-sections", .time, .reported(nil)),
    Figure(
      "find sections in a file, beside libelf", "find-sections", .instructions, .atMost(24_000)),
    // The goal is 3. A third of the time is the system's, like all of the floor's; the rest goes into objects that come
    // and go for each file. On one processor: two threads wait for each other's counts of references.
    Figure("catalogue of 1,000 plugins", "catalogue-1000", .time, .ratio(3)),
    Figure("probe: nothing changed", "nothing-changed", .time, .ratio(1.5)),
    Figure("probe: nothing changed", "nothing-changed", .instructions, .ratio(1.5)),
    Figure("resolve, class-bound", "resolve-class", .time, .above(3)),
    // Entering and leaving a read section, and one probe of the table: the instructions that fit into the 3 ns. Through
    // `Hive.process`, Swift adds two calls that count a reference to the Hive. The runtime counts nothing there, but
    // Swift calls it, so this way has a bound of its own.
    Figure("resolve, class-bound", "resolve-class", .instructions, .above(55)),
    Figure("resolve, through Hive.process", "resolve-process", .time, .reported(nil)),
    Figure("resolve, through Hive.process", "resolve-process", .instructions, .above(110)),
    Figure("resolve, opaque", "resolve-opaque", .time, .above(3)),
    Figure("resolve, opaque", "resolve-opaque", .instructions, .above(55)),
    Figure("resolve, borrowing", "resolve-borrowing", .time, .above(5)),
    Figure("resolve, borrowing", "resolve-borrowing", .instructions, .above(55)),
    Figure("resolve on two threads, against one", "resolve-two-threads", .time, .ratio(0.8)),
    // Values are made when an image is read, because hosts have tens of entries: 1,000 must register within 5 ms, and
    // take 1 to 2. Made at the first lookup, they took a tenth, but needed a second reader.
    Figure("read 10,000 entries in place", "read-10000", .time, .reported(nil)),
    // With every pointer and every byte of a name checked; a constructor that does nothing is 22 instructions.
    Figure("scan 10,000 entries in place", "scan-10000", .time, .reported(nil)),
    Figure("scan 10,000 entries in place", "scan-10000", .instructions, .ratio(245)),
    Figure("load and read 10,000 entries", "load-and-read-10000", .time, .reported(nil)),
    Figure("register 10,000 modules", "register-modules", .time, .ratio(12)),
    Figure("register 10,000 modules", "register-modules", .time, .reported(50_000_000)),
    Figure("register 10,000 modules", "register-modules", .instructions, .ratio(12.3)),
    Figure("register 10,000 services", "register-services", .time, .ratio(15)),
    Figure("register 10,000 services", "register-services", .time, .reported(50_000_000)),
    // Half is for reading, which checks an entry by every rule, and half for filing it by name.
    Figure("register 10,000 services", "register-services", .instructions, .ratio(15.3)),
    // The goal is 1. A typed record is 112 bytes with a pointer. So loading the library, which relocates ten thousand
    // of them, takes 0.7 of the floor before anything is registered.
    Figure("register 10,000 typed records", "register-records", .time, .ratio(23)),
    Figure("register 10,000 typed records", "register-records", .time, .reported(50_000_000)),
    Figure("register 10,000 typed records", "register-records", .instructions, .ratio(24.5)),
    // Reading and relocating libBeeHive.so before `main`. The child's instructions are not counted.
    Figure("start a C program linked to it", "start-program", .time, .above(400_000)),
    // The first walk, and the files of the system's libraries, which have no note of ours. It was 1 ms before libelf
    // read the notes, and may be 0.6 more.
    Figure("start one that lists its entries", "start-listing", .time, .above(1_600_000)),
    Figure(
      "first resolve after dlopen, 100,000 / 100", "arrival-beside-100000",
      over: "arrival-beside-100", .time, .ratio(1.5)),
    Figure(
      "first resolve after dlopen, 100,000 / 100", "arrival-beside-100000",
      over: "arrival-beside-100", .instructions, .ratio(1.1)),
    // The loader shows every image in each of its walks: some 260 instructions for one that is known.
    Figure(
      "first resolve after dlopen, 1,000 libraries / 100", "arrival-among-1000",
      over: "arrival-among-100", .instructions, .ratio(2.4)),
    // Rows of one operation each: 12 times as long for ten times as many is 1.2.
    Figure(
      "register a name, 10,000 / 1,000", "register-names-10000", over: "register-names-1000", .time,
      .ratio(1.5)),
    Figure(
      "register a name, 10,000 / 1,000", "register-names-10000", over: "register-names-1000",
      .instructions, .ratio(1.2)),
    Figure("register a name among 10,000", "register-names-10000", .time, .reported(nil)),
    Figure(
      "find a name among 10,000 / 10", "find-name-10000", over: "find-name-10", .time, .ratio(3)),
    Figure(
      "find a name among 10,000 / 10", "find-name-10000", over: "find-name-10", .instructions,
      .ratio(1.1)),
    Figure("find a name, make what it means", "find-name-10000", .time, .ratio(10)),
    Figure("find a name, make what it means", "find-name-10000", .instructions, .ratio(8)),
    Figure("ask for what nothing provides", "find-nothing", .time, .ratio(10)),
    Figure("ask for what nothing provides", "find-nothing", .instructions, .ratio(6.5)),
    Figure("match a URL, 100 routes, beside a plain trie", "match-100", .time, .ratio(5)),
    Figure("match a URL, 100 routes, beside a plain trie", "match-100", .instructions, .ratio(3)),
    // The branches are the same. The memory of a hundred thousand nodes is outside the caches.
    Figure(
      "match a URL, 100,000 routes / 100", "match-100000", over: "match-100", .time, .ratio(4)),
    Figure(
      "match a URL, 100,000 routes / 100", "match-100000", over: "match-100", .instructions,
      .ratio(1.2)),
    Figure(
      "register a route, 10,000 / 1,000", "register-routes-10000", over: "register-routes-1000",
      .instructions, .ratio(1.2)),
    Figure(
      "load a rule, 100,000 / 10,000", "load-rules-100000", over: "load-rules-10000",
      .instructions, .ratio(1.2)),
    Figure("load a rule among 10,000", "load-rules-10000", .time, .reported(nil)),
    Figure(
      "pass 10,000 rules for others / 10", "pass-rules-10000", over: "pass-rules-10", .time,
      .ratio(3)),
    Figure(
      "pass 10,000 rules for others / 10", "pass-rules-10000", over: "pass-rules-10",
      .instructions, .ratio(1.1)),
    // One look at the first segment of the URL, and of what its route reads.
    Figure(
      "pass 10 rules for others / no table", "pass-rules-10", over: "pass-rules-0",
      .instructions, .ratio(1.3)),
  ]

  private init(
    _ title: String, _ comparison: String, over floorOf: String? = nil, _ quantity: Quantity,
    _ bound: Bound
  ) {
    self.init(
      title: title, comparison: comparison, floorOf: floorOf, quantity: quantity, bound: bound)
  }
}
