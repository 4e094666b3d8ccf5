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
      json.key("schema")
      json.number(1)
      json.key("summary")
      json.string(picture.summary)
      if let plan { Self.write(plan.size, to: &json) }
      json.list("files", picture.files.indices) { json, index in
        json.key("name")
        json.string(picture.files[index].name)
        json.key("machine")
        json.string(picture.files[index].machine)
        if let plan {
          json.key("title")
          json.number(plan.titles[index])
          Self.write(plan.files[index], to: &json)
        }
      }
      json.list("nodes", picture.nodes.indices) { json, index in
        write(picture.nodes[index], to: &json)
        if let plan { Self.write(plan.nodes[index], to: &json) }
      }
      json.list("edges", picture.edges.indices) { json, index in
        write(picture.edges[index], to: &json)
        if let plan { Self.write(plan.bends[index], to: &json) }
      }
      json.list("findings", picture.findings.indices) { json, index in
        write(picture.findings[index], to: &json)
      }
      json.key("problems")
      json.array { json in
        for problem in picture.problems { problem.write(to: &json) }
      }
    }
  }

  private func write(_ node: Picture.Node, to json: inout JSONWriter) {
    for (key, text) in [
      ("kind", node.kind.rawValue), ("name", node.name), ("caption", node.caption),
      ("attributes", node.attributes), ("place", node.place),
    ] {
      json.key(key)
      json.string(text)
    }
    json.key("file")
    json.number(node.file)
    json.key("isInCycle")
    json.boolean(node.isInCycle)
    json.key("findings")
    json.array { json in
      for finding in node.findings { json.number(finding) }
    }
  }

  private func write(_ edge: Picture.Edge, to json: inout JSONWriter) {
    json.key("kind")
    json.string(edge.kind.rawValue)
    json.key("from")
    json.number(edge.from)
    json.key("to")
    json.number(edge.to)
    json.key("isInCycle")
    json.boolean(edge.isInCycle)
  }

  private func write(_ finding: Picture.Found, to json: inout JSONWriter) {
    for (key, text) in [
      ("code", finding.code), ("level", finding.level.rawValue), ("place", finding.place),
      ("message", finding.message), ("remedy", finding.remedy),
    ] {
      json.key(key)
      json.string(text)
    }
    json.key("nodes")
    json.array { json in
      for node in finding.nodes { json.number(node) }
    }
  }

  private static func write(_ bends: [PicturePlan.Point], to json: inout JSONWriter) {
    json.key("bends")
    json.array { json in
      for point in bends {
        json.number(point.x)
        json.number(point.y)
      }
    }
  }

  private static func write(_ box: PicturePlan.Box, to json: inout JSONWriter) {
    json.key("x")
    json.number(box.origin.x)
    json.key("y")
    json.number(box.origin.y)
    write(box.size, to: &json)
  }

  private static func write(_ size: PicturePlan.Size, to json: inout JSONWriter) {
    json.key("width")
    json.number(size.width)
    json.key("height")
    json.number(size.height)
  }
}

extension JSONWriter {
  /// An array of objects, each on a line, for these positions.
  fileprivate mutating func list(
    _ name: String, _ positions: Range<Int>, _ body: (inout JSONWriter, Int) -> Void
  ) {
    key(name)
    array { json in
      for position in positions {
        json.lineBreak()
        json.object { json in body(&json, position) }
      }
    }
  }
}
