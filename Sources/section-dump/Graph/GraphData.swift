internal import BinaryImage

/// A picture as data, with places where a plan has them.
struct GraphData {
  let picture: Picture
  var plan: PicturePlan?

  /// One JSON document.
  func writeDocument(to sink: ByteSink) {
    var json = JSONWriter(sink)
    write(to: &json)
    json.lineBreak()
  }

  func write(to json: inout JSONWriter) {
    json.object { json in
      json.number(key: "schema", 1)
      json.string(key: "summary", picture.summary)
      if let plan { Self.write(plan.size, to: &json) }
      json.list("files", picture.files.indices) { json, index in
        json.string(key: "name", picture.files[index].name)
        json.string(key: "machine", picture.files[index].machine)
        if let plan {
          json.number(key: "title", plan.titles[index])
          Self.write(plan.files[index], to: &json)
        }
      }
      json.list("nodes", picture.nodes.indices) { json, index in
        write(picture.nodes[index], to: &json)
        if let plan { Self.write(plan.nodes[index], to: &json) }
      }
      json.list("edges", picture.edges.indices) { json, index in
        write(picture.edges[index], to: &json)
        if let plan { json.array(key: "bends", plan.bends[index].flatMap { [$0.x, $0.y] }) }
      }
      json.list("findings", picture.findings.indices) { json, index in
        write(picture.findings[index], to: &json)
      }
      json.array(key: "problems", picture.problems) { $0.write(to: &$1) }
    }
  }

  private func write(_ node: Picture.Node, to json: inout JSONWriter) {
    json.string(key: "kind", node.kind.rawValue)
    json.string(key: "name", node.name)
    json.string(key: "caption", node.caption)
    json.string(key: "attributes", node.attributes)
    json.string(key: "place", node.place)
    json.number(key: "file", node.file)
    json.boolean(key: "isInCycle", node.isInCycle)
    json.array(key: "findings", node.findings)
  }

  private func write(_ edge: Picture.Edge, to json: inout JSONWriter) {
    json.string(key: "kind", edge.kind.rawValue)
    json.number(key: "from", edge.from)
    json.number(key: "to", edge.to)
    json.boolean(key: "isInCycle", edge.isInCycle)
  }

  private func write(_ found: Picture.Found, to json: inout JSONWriter) {
    let finding = found.finding
    json.string(key: "code", finding.code)
    json.string(key: "level", finding.level.rawValue)
    json.string(key: "place", found.place)
    json.string(key: "message", finding.message.escaped)
    json.string(key: "remedy", finding.remedy.escaped)
    json.array(key: "nodes", found.nodes)
  }

  private static func write(_ box: PicturePlan.Box, to json: inout JSONWriter) {
    json.number(key: "x", box.origin.x)
    json.number(key: "y", box.origin.y)
    write(box.size, to: &json)
  }

  private static func write(_ size: Size, to json: inout JSONWriter) {
    json.number(key: "width", size.width)
    json.number(key: "height", size.height)
  }
}

extension JSONWriter {
  /// An array of objects, each on a line, for these positions.
  fileprivate mutating func list(
    _ name: StaticString, _ positions: Range<Int>, _ body: (inout JSONWriter, Int) -> Void
  ) {
    array(key: name) { json in
      for position in positions {
        json.lineBreak()
        json.object { json in body(&json, position) }
      }
    }
  }
}
