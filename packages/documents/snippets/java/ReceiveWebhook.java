// Java 17 or newer; no libraries needed.
//   WEBHOOK_SECRET=… PORT=3000 java ReceiveWebhook.java
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.time.Instant;
import java.util.HexFormat;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

public final class ReceiveWebhook {
    private static final long TOLERANCE_SECONDS = 300;
    private static final int BODY_BYTES_MAX = 1_048_576;
    private static final String SECRET = System.getenv("WEBHOOK_SECRET");
    // In your server this is a table with a unique column, so that a restart forgets nothing.
    private static final Set<String> SEEN = ConcurrentHashMap.newKeySet();
    // The JDK has no JSON parser. Yours gives you `id`, `type` and the rest.
    private static final Pattern ID = Pattern.compile("\"id\":\\s*\"(evt_\\w+)\"");

    private static boolean isGenuine(String timestamp, byte[] rawBody, String signature) throws GeneralSecurityException {
        if (timestamp == null || signature == null || !timestamp.matches("[0-9]{1,12}")) {
            return false;
        }
        if (Math.abs(Instant.now().getEpochSecond() - Long.parseLong(timestamp)) > TOLERANCE_SECONDS) {
            return false;
        }
        Mac hmac = Mac.getInstance("HmacSHA256");
        hmac.init(new SecretKeySpec(SECRET.getBytes(StandardCharsets.UTF_8), "HmacSHA256"));
        hmac.update((timestamp + ".").getBytes(StandardCharsets.UTF_8));
        String expected = HexFormat.of().formatHex(hmac.doFinal(rawBody));
        // MessageDigest.isEqual compares in constant time.
        return MessageDigest.isEqual(expected.getBytes(StandardCharsets.UTF_8), signature.getBytes(StandardCharsets.UTF_8));
    }

    private static void receive(HttpExchange exchange) throws IOException {
        // The bytes as received: a parsed and re-serialised body has another signature.
        byte[] rawBody = exchange.getRequestBody().readNBytes(BODY_BYTES_MAX + 1);
        if (rawBody.length > BODY_BYTES_MAX) {
            answer(exchange, 413);
            return;
        }
        try {
            String timestamp = exchange.getRequestHeaders().getFirst("X-Webhook-Timestamp");
            if (!isGenuine(timestamp, rawBody, exchange.getRequestHeaders().getFirst("X-Webhook-Signature"))) {
                System.out.println("refused: wrong signature, or a timestamp more than 5 minutes off");
                answer(exchange, 401);
                return;
            }
        } catch (GeneralSecurityException impossible) {
            throw new IllegalStateException(impossible);
        }
        String event = new String(rawBody, StandardCharsets.UTF_8);
        // Delivery is at least once. The id in the body is signed, the one in the header is not.
        Matcher found = ID.matcher(event);
        boolean isNew = found.find() && SEEN.add(found.group(1));
        answer(exchange, 200);
        // Answered. Work that takes time begins here.
        System.out.println(isNew ? "received " + event : "ignored " + found.group(1) + ": received before");
    }

    private static void answer(HttpExchange exchange, int status) throws IOException {
        exchange.sendResponseHeaders(status, -1);
        exchange.close();
    }

    public static void main(String[] args) throws IOException {
        if (SECRET == null) {
            System.err.println("usage: WEBHOOK_SECRET=... PORT=3000 java ReceiveWebhook.java");
            System.exit(2);
        }
        int port = Integer.parseInt(System.getenv().getOrDefault("PORT", "3000"));
        HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", port), 0);
        server.createContext("/", ReceiveWebhook::receive);
        server.setExecutor(Executors.newCachedThreadPool());
        server.start();
        System.out.println("listening on http://127.0.0.1:" + port + "/webhooks");
    }
}
