// A Hive is what routes and targets belong to, so importing this gives its types too. It gives them to every
// file of this module as well, with those of the layers below that `BeeHive` exports.
@_exported public import BeeHive
internal import BinaryImage
internal import Registration
