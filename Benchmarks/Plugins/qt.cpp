// A plugin of Qt: moc writes what the loader reads of the file.
#include <QObject>
#include <QtPlugin>

class Plugin : public QObject {
  Q_OBJECT
  Q_PLUGIN_METADATA(IID "org.beehive.Plugin/@@@@")
};
#include "qt.moc"
