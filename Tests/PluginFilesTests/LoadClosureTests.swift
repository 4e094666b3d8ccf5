import BinaryImage
import Foundation
import TestSupport
import Testing

@testable import PluginFiles

@Suite("The files that loading a plugin maps")
struct LoadClosureTests {
  /// Returns the report on the plugins of a folder.
  private func report(_ folder: AdmissionFolder) throws -> AdmissionReport {
    let host = try AdmissionHost(executable: folder.folder.place("host").path)
    var admission = Admission(to: host, under: PluginPolicy(), keptFiles: 3)
    let candidates = PluginCatalogue(.directory(folder.plugins)).candidates
    for candidate in candidates { admission.add(candidate) }
    return admission.report()
  }

  @Test("are open, the plugin first, then what it needs, with what the host has")
  func order() throws {
    let folder = try AdmissionFolder()
    let options = ["-Wl,--no-as-needed", "-Wl,-rpath,$ORIGIN"]
    let deep = try folder.library("plugins/libdeep.so", "int deep;", ["-Wl,-soname,libdeep.so.1"])
    try makeLink(at: "\(folder.plugins)/libdeep.so.1", to: "libdeep.so")
    let near = try folder.library(
      "plugins/libnear.so", "int near;", ["-Wl,-soname,libnear.so"] + options + [deep])
    let last = try folder.library("plugins/liblast.so", "int last;", ["-Wl,-soname,liblast.so"])
    let path = try folder.plugin("x", nil, options[0], options[1], near, last)
    let plugin = try #require(try report(folder).plugins.first { $0.path == path })
    let members = try #require(plugin.closure).opened().members
    let own = members.filter { !$0.isMapped }
    #expect(own.map(\.path) == [path, near, last, "\(folder.plugins)/libdeep.so.1"])
    #expect(own.map(\.requester) == [nil, 0, 0, 1])
    #expect(own.last?.names.map(\.text) == ["libdeep.so.1", "\(folder.plugins)/libdeep.so.1"])
    #expect(own.last?.names.map(\.isNeeded) == [true, false])
    #expect(members.contains { $0.isMapped && $0.path.lastPart.hasPrefix("libc.so") })
    // The name is gone, but the open file is still the one that was judged.
    try FileManager.default.removeItem(atPath: near)
    for member in members {
      var status = stat()
      try #require(unsafe fstat(member.descriptor, &status) == 0)
      #expect(FileStamp(status).isSameFile(as: member.stamp))
    }
  }

  @Test(
    "are refused with their number and bytes if they are too many or too large, and read no further"
  )
  func limits() throws {
    let folder = try AdmissionFolder()
    let options = ["-Wl,--no-as-needed", "-Wl,-rpath,$ORIGIN"]
    let deep = try folder.library("plugins/libdeep.so", "int deep;", ["-Wl,-soname,libdeep.so"])
    let near = try folder.library(
      "plugins/libnear.so", "int near;", ["-Wl,-soname,libnear.so"] + options + [deep])
    let path = try folder.plugin("x", nil, options[0], options[1], near)
    let sizes = try [path, near, deep].map { try Data(contentsOf: URL(fileURLWithPath: $0)).count }
    let all = UInt64(sizes.reduce(0, +))
    for (files, bytes, found) in [
      (3, all, nil), (2, all, (3, all)), (3, all - 1, (3, all)),
      (1, all, (2, all - UInt64(sizes[2]))), (3, UInt64(sizes[0] - 1), (1, UInt64(sizes[0]))),
    ] as [(Int, UInt64, (files: Int, bytes: UInt64)?)] {
      let refusals = try refusals(of: path, in: folder, most: (files, bytes))
      #expect(refusals.map(\.code) == (found == nil ? [] : ["too-large"]))
      #expect(refusals.first?.found == found.map { "\($0.files) files with \($0.bytes) bytes" })
    }
  }

  @Test("are as large as the memory that they want, where their files are smaller")
  func zeroFilled() throws {
    let folder = try AdmissionFolder()
    let path = try folder.plugin("x", Compiler.module("x") + "\nchar room[1 << 22];")
    let refusals = try refusals(of: path, in: folder, most: (1, 1 << 22))
    #expect(refusals.map(\.code) == ["too-large"])
  }

  /// Returns the refusals of a plugin by a host that allows so many files and bytes.
  private func refusals(
    of path: String, in folder: AdmissionFolder, most: (files: Int, bytes: UInt64)
  ) throws -> [PluginRefusal] {
    var host = try AdmissionHost(executable: folder.folder.place("host").path)
    host.libraries.most = most
    var admission = Admission(to: host, under: PluginPolicy())
    for candidate in PluginCatalogue(.file(path)).candidates { admission.add(candidate) }
    return try #require(admission.report().plugins.first).refusals
  }

  @Test("are closed with their closure, and only plugins that load have one")
  func closed() throws {
    let folder = try AdmissionFolder()
    // No other test has a file of this name.
    try folder.plugin("closing")
    try AdmissionFolder.mode(0o666, folder.plugin("y"))
    var plugins = try report(folder).plugins
    #expect(plugins.map { $0.closure != nil } == [true, false])
    let descriptor = try #require(plugins.first?.closure?.members.first?.descriptor)
    #expect(fcntl(descriptor, F_GETFD) & FD_CLOEXEC != 0)
    let link = { linkTarget(of: "/proc/self/fd/\(descriptor)") ?? "" }
    #expect(link().hasSuffix("/libclosing.so"))
    plugins = try folder.report().plugins
    #expect(!link().hasSuffix("/libclosing.so"))
    #expect(plugins.first?.closure?.members.first?.descriptor == -1)
  }
}
