// An entry's attributes, origin and addresses are part of what the Hive answers with, so clients
// that import BeeHive have their types too.
@_exported public import BinaryImage
@_exported public import Registration
