import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Gives the entries of all jars in a folder fixed modes, whatever umask their files were written with. The offsets are those of the
 * central directory in PKWARE's APPNOTE.TXT.
 */
final class JarModes {

    private static final int FILE = 0100644;
    private static final int FOLDER = 0040755;

    public static void main(String[] arguments) throws IOException {
        try (DirectoryStream<Path> jars = Files.newDirectoryStream(Path.of(arguments[0]), "*.jar")) {
            for (Path jar : jars) {
                byte[] zip = Files.readAllBytes(jar);
                setModes(ByteBuffer.wrap(zip).order(ByteOrder.LITTLE_ENDIAN), jar);
                Files.write(jar, zip);
            }
        }
    }

    private static void setModes(ByteBuffer zip, Path jar) {
        int end = zip.limit() - 22; // these jars have no comment
        if (zip.getInt(end) != 0x06054b50) {
            throw new IllegalArgumentException("Not a jar without a comment: " + jar);
        }
        int entry = zip.getInt(end + 16);
        for (int i = unsigned(zip, end + 10); i > 0; i--) {
            int name = unsigned(zip, entry + 28);
            boolean isFolder = zip.get(entry + 46 + name - 1) == '/';
            zip.putShort(entry + 40, (short) (isFolder ? FOLDER : FILE));
            entry += 46 + name + unsigned(zip, entry + 30) + unsigned(zip, entry + 32);
        }
    }

    private static int unsigned(ByteBuffer zip, int at) {
        return Short.toUnsignedInt(zip.getShort(at));
    }
}
