import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;

/** Reads lines of base64 fields, since the JDK has no JSON parser: kind, then the fields of the vector, each after an x so that none is empty. */
public final class Driver {
    public static void main(String[] args) throws Exception {
        int count = 0;
        for (String line : Files.readAllLines(Path.of(args[0]))) {
            String[] f = line.split(" ", -1);
            for (int i = 1; i < f.length; i++) f[i] = new String(Base64.getDecoder().decode(f[i]), StandardCharsets.UTF_8).substring(1);
            byte[] body = f[f.length - 2].getBytes(StandardCharsets.UTF_8);
            String signature = f[f.length - 1];
            if (f[0].equals("request")) check(SignRequest.signRequest(f[2], f[3], f[4], f[5], body).equals(signature), f[1]);
            else {
                long tolerance = Long.parseLong(f[4]);
                long now = Long.parseLong(f[5]);
                byte[] changed = (f[f.length - 2] + " ").getBytes(StandardCharsets.UTF_8);
                check(VerifyWebhook.verifyWebhook(f[2], f[3], body, signature, tolerance, now) == f[6].equals("true"), f[1]);
                check(!VerifyWebhook.verifyWebhook(f[2], f[3], changed, signature, tolerance, now), f[1]);
            }
            count++;
        }
        System.out.println("verified " + count);
    }

    private static void check(boolean good, String name) {
        if (!good) throw new AssertionError(name);
    }
}
