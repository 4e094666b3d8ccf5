import Foundation
import PluginFiles
import TestSupport
import Testing

/// The search paths of one plugin. It is linked once, and changed for each path.
@Suite("Search paths that others could fill")
struct SearchPathTests {
  private let folder: AdmissionFolder
  private let plugin: Data
  private let host: AdmissionHost
  private var path: String { "\(folder.plugins)/libx.so" }

  private static let room = String(repeating: "/room", count: 60)

  init() throws {
    folder = try AdmissionFolder()
    let path = try folder.plugin("x", nil, "-Wl,-rpath,\(Self.room)")
    plugin = try Data(contentsOf: URL(fileURLWithPath: path))
    host = try AdmissionHost(executable: folder.folder.place("host").path)
    // Below, `@` is the folder. `sticky` is like /tmp, `open` has no sticky bit.
    for name in [
      "safe/in", "sticky/own", "open/own", "group", "closed/open", "some/glibc-hwcaps/x86-64-v2",
      "all/glibc-hwcaps/x86-64-v2", "loops/xeon_phi/atomics",
      "open/\u{301}lib",
    ] {
      try folder.folder.makeFolder(name)
    }
    for (name, mode) in [
      ("sticky", 0o1777), ("open", 0o777), ("group", 0o775), ("closed", 0o755),
      ("closed/open", 0o777), ("some/glibc-hwcaps/x86-64-v2", 0o777),
      ("loops/xeon_phi/atomics", 0o777),
    ] { try AdmissionFolder.mode(mode, expanded("@/\(name)")) }
    // A link to a name that is not UTF-8, as the file system has it.
    let latin: [CChar] = [0x63, 0x61, 0x66, CChar(bitPattern: 0xe9), 0]
    try #require(unsafe symlink(latin, expanded("@/safe/latin")) == 0)
    // Folders that lead to themselves are checked once, and so are the folders below them.
    for name in ["tls", "haswell", "x86_64"] {
      try makeLink(at: expanded("@/loops/\(name)"), to: ".")
    }
    try folder.folder.write("text", as: "safe/file")
    for (name, target) in [
      ("to-sticky", "../sticky"), ("twice", "to-sticky"), ("into", "@/sticky/not-there"),
      ("to-own", "@/sticky/own"), ("through", "../sticky/back/in"), ("nowhere", "not-there"),
      ("loop", "loop"), ("to-group", "../group/"), ("../sticky/back", "../safe"),
    ] {
      try makeLink(at: expanded("@/safe/\(name)"), to: expanded(target))
    }
  }

  private func expanded(_ text: String) -> String { text.replacing("@", with: folder.folder.path) }

  /// Returns the refusals of the plugin with a search path.
  private func refusals(_ searchPath: String) throws -> [PluginRefusal] {
    let bytes = Data(expanded(searchPath).utf8)
    try #require(bytes.count <= Self.room.utf8.count)
    let place = try #require(plugin.range(of: Data(Self.room.utf8)))
    var changed = plugin
    changed.replaceSubrange(place, with: bytes + Data(count: place.count - bytes.count))
    try changed.save(as: URL(fileURLWithPath: path))
    let report = AdmissionFolder.report(of: PluginCatalogue(.file(path)), to: host, PluginPolicy())
    return try #require(report.plugins.first).refusals
  }

  @Test("are refused, however the path is written")
  func refused() throws {
    let paths = [
      "@/sticky", "@/sticky/", "@/sticky//", "@/sticky/.", "@/sticky/./", "@//sticky", "@/./sticky",
      "/..@/sticky", "@/safe/../sticky", "@/sticky/own/..", "@/sticky/not-there",
      "@/sticky/not-there/lib", "@/sticky/not-there/../../safe", "$ORIGIN/../sticky",
      "${ORIGIN}/../sticky/", "$ORIGIN/../plugins/../sticky", "@/sticky/$LIB",
      "@/sticky/${PLATFORM}", "@/safe/to-sticky", "@/safe/to-sticky/.", "@/safe/twice",
      "@/safe/into", "@/safe/to-sticky/not-there", "@/open", "@/open/", "@/open/own",
      "@/open/not-there", "@/closed/open", "@/closed/open/lib", "@/some", "@/group",
      "@/safe/to-group",
      "@/safe/latin", "@/safe/latin/lib",
      "/usr/lib:@/sticky/", "/tmp", "/tmp/", "/tmp/.", "//tmp", "/tmp/not-there-yet/lib",
      ".", "lib", "./lib", "../sticky", "$LIB", "${LIB}/x", "$PLATFORM/x", "$ORIGINAL",
      "tmp/$ORIGIN", "/usr/lib:", "@/loops",
      // Swift reads an accent and the character before it as one character.
      "@/open/\u{301}lib", "@/safe:\u{301}lib", "@/open/\u{301}not-there/..",
    ]
    for text in paths {
      let refusals = try refusals(text)
      #expect(refusals.map(\.code) == ["unsafe-search-path"], "\(text): \(refusals)")
    }
  }

  @Test("are not those that only root and the host's user could fill")
  func admitted() throws {
    let paths = [
      "@/safe", "@/safe/", "@/safe/in/..", "@/safe/not-there", "@/safe/not-there/lib",
      "@/sticky/own", "@/sticky/own/not-there", "@/safe/to-own", "@/safe/through",
      "@/safe/nowhere", "@/safe/loop", "@/safe/file", "@/safe/file/lib", "@/closed/open/../in",
      // The loader ignores a path that is empty as a whole.
      "", "@/all", "$ORIGIN", "${ORIGIN}", "$ORIGIN/", "$ORIGIN/../safe", "$ORIGIN/lib",
      "/usr/$LIB",
      "/usr/lib/${PLATFORM}", "/usr/lib", "/", "/not-there",
    ]
    for text in paths { #expect(try refusals(text) == [], "\(text)") }
  }

  @Test("are those with a name in a sticky folder that another user owns")
  func foreignNames() throws {
    guard geteuid() == 0 else { try Test.cancel("only root gives files away") }
    try folder.folder.makeFolder("sticky/theirs")
    for name in ["theirs", "back"] {
      try #require(unsafe lchown(expanded("@/sticky/\(name)"), 4321, 4321) == 0)
    }
    for text in ["@/sticky/theirs", "@/sticky/theirs/../own", "@/sticky/back", "@/safe/through"] {
      let refusal = try #require(try refusals(text).first, "\(text)")
      #expect(refusal.message.contains("belongs to user 4321"), "\(refusal)")
    }
  }
}
