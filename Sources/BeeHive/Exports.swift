// An entry's attributes, origin and addresses are part of what the Hive answers with, so whoever
// imports BeeHive has their types too.
@_exported public import BinaryImage
@_exported public import Registration
