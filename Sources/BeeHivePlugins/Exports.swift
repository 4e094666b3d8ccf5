// Plugins belong to a Hive, so importing this gives its types too; and what policies and reports are made of.
@_exported public import BeeHive
@_exported public import PluginFiles
