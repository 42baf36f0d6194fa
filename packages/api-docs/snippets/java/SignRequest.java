// Java 17 or newer; no libraries needed.
//   BASE_URL=… OPERATOR_KEY=… OPERATOR_SECRET=… java SignRequest.java GET /me
//   … java SignRequest.java POST /players '{"externalId":"user-42", …}' my-idempotency-key-1
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.time.Instant;
import java.util.HexFormat;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

public final class SignRequest {
    /** `path` is what is really sent: with the /api/v1 prefix and the query string. `body` is empty when there is none. */
    public static String signRequest(String secret, String method, String path, String timestamp, byte[] body)
            throws GeneralSecurityException {
        String bodySha256 = HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(body));
        String canonical = String.join("\n", method, path, timestamp, bodySha256);
        Mac hmac = Mac.getInstance("HmacSHA256");
        hmac.init(new SecretKeySpec(secret.getBytes(StandardCharsets.UTF_8), "HmacSHA256"));
        return HexFormat.of().formatHex(hmac.doFinal(canonical.getBytes(StandardCharsets.UTF_8)));
    }

    public static void main(String[] args) throws Exception {
        String baseUrl = System.getenv("BASE_URL");
        String key = System.getenv("OPERATOR_KEY");
        String secret = System.getenv("OPERATOR_SECRET");
        if (args.length < 2 || baseUrl == null || key == null || secret == null) {
            System.err.println("usage: BASE_URL=... OPERATOR_KEY=... OPERATOR_SECRET=... java SignRequest.java METHOD PATH [BODY [IDEMPOTENCY_KEY]]");
            System.exit(2);
        }
        String method = args[0];
        String url = baseUrl + args[1];
        String path = "/" + url.split("/", 4)[3];
        byte[] body = (args.length > 2 ? args[2] : "").getBytes(StandardCharsets.UTF_8);
        String timestamp = Long.toString(Instant.now().getEpochSecond());
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(url))
                .header("X-Operator-Key", key)
                .header("X-Timestamp", timestamp)
                .header("X-Signature", signRequest(secret, method, path, timestamp, body))
                .method(method, body.length == 0
                        ? HttpRequest.BodyPublishers.noBody()
                        : HttpRequest.BodyPublishers.ofByteArray(body));
        if (body.length > 0) {
            request.header("Content-Type", "application/json");
        }
        if (args.length > 3) {
            request.header("Idempotency-Key", args[3]);
        }
        HttpResponse<String> response = HttpClient.newHttpClient().send(request.build(), HttpResponse.BodyHandlers.ofString());
        System.out.println(response.statusCode() + " " + response.body());
    }
}
