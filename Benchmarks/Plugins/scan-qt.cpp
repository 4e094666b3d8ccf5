// Scans a folder as QFactoryLoader does: reads each file's metadata and loads none. Prints how many have some.
#include <QDir>
#include <QPluginLoader>
#include <cstdio>

int main(int, char **arguments) {
  int count = 0;
  const QDir folder(QString::fromLocal8Bit(arguments[1]));
  for (const QString &name : folder.entryList(QDir::Files))
    count += !QPluginLoader(folder.absoluteFilePath(name)).metaData().value("IID").toString().isEmpty();
  std::printf("%d\n", count);
}
