package hedgerow.tests

import java.io.{File, FileOutputStream, IOException, OutputStream}
import java.net.URI
import java.util.UUID
import java.util.concurrent.atomic.AtomicInteger

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FSDataOutputStream, FileStatus, FileSystem, Options, Path, RawLocalFileSystem}
import org.apache.hadoop.fs.permission.FsPermission
import org.apache.hadoop.util.Progressable

/** What all stores of a process have done together, and when they are to fail. */
object Work {
  val steps = new AtomicInteger(0)
  @volatile var last = Int.MaxValue
  @volatile var deadly = false

  /** One step that changes something; after the last one nothing is changed any more. */
  def step(): Unit = if (steps.incrementAndGet() > last) {
    if (deadly) Runtime.getRuntime.halt(137)
    throw new IOException("the store is gone")
  }

  def start(allowed: Int): Unit = { steps.set(0); last = allowed; deadly = false }
}

/** A folder of this machine as an object store: a file is there when it is closed, and nothing has another name in one
  * step: a rename copies and deletes file by file.
  */
class ObjectStore extends RawLocalFileSystem {
  private var own: URI = _

  override def initialize(name: URI, configuration: Configuration): Unit = {
    own = URI.create(name.getScheme + "://" + Option(name.getAuthority).getOrElse(""))
    super.initialize(name, configuration)
    setConf(configuration)
  }

  override def getUri: URI = if (own == null) URI.create("file:///") else own // Hadoop asks while it is made
  override def getScheme: String = getUri.getScheme

  override def create(
      path: Path, permission: FsPermission, overwrite: Boolean, buffer: Int, replication: Short, block: Long,
      progress: Progressable
  ): FSDataOutputStream = open(path, overwrite)

  override def create(
      path: Path, overwrite: Boolean, buffer: Int, replication: Short, block: Long, progress: Progressable
  ): FSDataOutputStream = open(path, overwrite)

  override def createNonRecursive(
      path: Path, permission: FsPermission, flags: java.util.EnumSet[org.apache.hadoop.fs.CreateFlag], buffer: Int,
      replication: Short, block: Long, progress: Progressable
  ): FSDataOutputStream = open(path, true)

  private def open(path: Path, overwrite: Boolean): FSDataOutputStream = {
    val file = pathToFile(path)
    if (file.isDirectory || (file.exists && !overwrite)) throw new org.apache.hadoop.fs.FileAlreadyExistsException("there")
    Work.step()
    new FSDataOutputStream(new Upload(file), null)
  }

  override def getFileStatus(path: Path): FileStatus = {
    val file = pathToFile(path)
    if (!file.exists) throw new java.io.FileNotFoundException("not there")
    new FileStatus(file.length, file.isDirectory, 1, 1L << 25, file.lastModified, makeQualified(path))
  }

  override def listStatus(path: Path): Array[FileStatus] = {
    val status = getFileStatus(path)
    if (status.isFile) Array(status)
    else pathToFile(path).list.sorted.map(name => getFileStatus(new Path(path, name)))
  }

  override def mkdirs(path: Path, permission: FsPermission): Boolean = { Work.step(); super.mkdirs(path) }
  override def mkdirs(path: Path): Boolean = { Work.step(); super.mkdirs(path) }

  override def delete(path: Path, recursive: Boolean): Boolean = {
    val file = pathToFile(path)
    val there = file.exists
    each(file) { one => Work.step(); one.delete() }
    there
  }

  override def rename(from: Path, to: Path): Boolean = {
    val (source, wanted) = (pathToFile(from), pathToFile(to))
    val target = if (wanted.isDirectory) new File(wanted, source.getName) else wanted
    if (!source.exists || (target.exists && !target.isDirectory)) return false
    move(source, target)
    true
  }

  protected def move(source: File, target: File): Unit = {
    copy(source, target)
    each(source) { one => Work.step(); one.delete() }
  }

  private def copy(source: File, target: File): Unit =
    if (source.isDirectory) {
      target.mkdirs()
      source.listFiles.sortBy(_.getName).foreach(one => copy(one, new File(target, one.getName)))
    } else {
      Work.step()
      target.getParentFile.mkdirs()
      java.nio.file.Files.copy(source.toPath, target.toPath)
    }

  private def each(file: File)(change: File => Unit): Unit = {
    Option(file.listFiles).toSeq.flatten.sortBy(_.getName).foreach(each(_)(change))
    if (file.exists) change(file)
  }
}

/** A file on its way into the store. */
class Upload(target: File) extends OutputStream {
  private val waiting = File.createTempFile("upload-" + UUID.randomUUID, ".part")
  private val stream = new FileOutputStream(waiting)
  private var closed = false

  override def write(byte: Int): Unit = stream.write(byte)
  override def write(bytes: Array[Byte], start: Int, count: Int): Unit = stream.write(bytes, start, count)

  override def close(): Unit = if (!closed) {
    closed = true
    stream.close()
    try {
      Work.step()
      target.getParentFile.mkdirs()
      java.nio.file.Files.move(
        waiting.toPath, target.toPath, java.nio.file.StandardCopyOption.REPLACE_EXISTING
      )
    } finally waiting.delete()
  }
}

/** A folder of this machine as HDFS: a folder gets another name in one step, or not at all. */
class RenamingStore extends ObjectStore {
  override protected def move(source: File, target: File): Unit = {
    Work.step()
    java.nio.file.Files.move(source.toPath, target.toPath)
  }

  override def rename(from: Path, to: Path, options: Options.Rename*): Unit = {
    val (source, target) = (pathToFile(from), pathToFile(to))
    if (target.exists) throw new org.apache.hadoop.fs.FileAlreadyExistsException("there")
    if (!source.exists) throw new java.io.FileNotFoundException("not there")
    move(source, target)
  }
}
