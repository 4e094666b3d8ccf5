internal import Registration

/// Attributes that say nothing of the entry that has them: another one was meant.
enum IdleAttributes {
  static func findings(in survey: Survey) -> [Finding] {
    survey.declared.flatMap { entry in
      let record = entry.record
      return record.attributes.idle(of: record.kind).map { field, owner in
        Finding(
          .idleAttribute, .warning, entry.place,
          "\(record.kind) \(record.name) has the attribute \(field), which says something of a \(owner) alone",
          remedy: "leave it out, or give it to the \(owner) that it is meant for")
      }
    }
  }
}
