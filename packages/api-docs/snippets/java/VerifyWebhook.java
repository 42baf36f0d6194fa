// Java 17 or newer; no libraries needed.
//   WEBHOOK_SECRET=… java VerifyWebhook.java "$X_WEBHOOK_TIMESTAMP" "$X_WEBHOOK_SIGNATURE" < raw-body
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.time.Instant;
import java.util.HexFormat;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

public final class VerifyWebhook {
    /** `rawBody` is the bytes as received, before any JSON parser. Deduplicate on the id in the verified body. */
    public static boolean verifyWebhook(String secret, String timestamp, byte[] rawBody, String signature)
            throws GeneralSecurityException {
        return verifyWebhook(secret, timestamp, rawBody, signature, 300, Instant.now().getEpochSecond());
    }

    public static boolean verifyWebhook(
            String secret, String timestamp, byte[] rawBody, String signature, long toleranceSeconds, long nowSeconds)
            throws GeneralSecurityException {
        // Whoever recorded a delivery cannot send it again later.
        if (!timestamp.matches("[0-9]{1,12}") || Math.abs(nowSeconds - Long.parseLong(timestamp)) > toleranceSeconds) {
            return false;
        }
        Mac hmac = Mac.getInstance("HmacSHA256");
        hmac.init(new SecretKeySpec(secret.getBytes(StandardCharsets.UTF_8), "HmacSHA256"));
        hmac.update((timestamp + ".").getBytes(StandardCharsets.UTF_8));
        String expected = HexFormat.of().formatHex(hmac.doFinal(rawBody));
        // MessageDigest.isEqual compares in constant time.
        return MessageDigest.isEqual(expected.getBytes(StandardCharsets.UTF_8), signature.getBytes(StandardCharsets.UTF_8));
    }

    public static void main(String[] args) throws Exception {
        String secret = System.getenv("WEBHOOK_SECRET");
        if (args.length < 2 || secret == null) {
            System.err.println("usage: WEBHOOK_SECRET=... java VerifyWebhook.java TIMESTAMP SIGNATURE < raw-body");
            System.exit(2);
        }
        boolean valid = verifyWebhook(secret, args[0], System.in.readAllBytes(), args[1]);
        System.out.println(valid ? "valid" : "INVALID");
        System.exit(valid ? 0 : 1);
    }
}
