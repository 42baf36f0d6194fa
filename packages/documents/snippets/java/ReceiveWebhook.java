// Java 17 or newer; no libraries needed.
//   WEBHOOK_SECRET=… PORT=3000 java ReceiveWebhook.java
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.time.Instant;
import java.util.HexFormat;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

public final class ReceiveWebhook {
    private static final long TOLERANCE_SECONDS = 300;
    private static final int BODY_BYTES_MAX = 1_048_576;
    private static final String SECRET = System.getenv("WEBHOOK_SECRET");
    private static final Path EVENTS_FOLDER = Path.of(System.getenv().getOrDefault("EVENTS_FOLDER", "webhook-events"));
    // The JDK has no JSON parser. Yours gives you `id`, `type` and the rest.
    private static final Pattern ID = Pattern.compile("\"id\":\\s*\"(evt_\\w+)\"");
    private static final Pattern TYPE = Pattern.compile("\"type\":\\s*\"([\\w.]+)\"");

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

    private static String field(Pattern pattern, String event) {
        Matcher found = pattern.matcher(event);
        if (!found.find()) {
            throw new IllegalArgumentException("an event without " + pattern);
        }
        return found.group(1);
    }

    /**
     * Keeps the event, once. Here it is a file, in your server a row of a table whose key is the id. Returns whether it is
     * new. An exception means that it cannot be kept: then it must not be acknowledged.
     */
    private static synchronized boolean store(String id, byte[] rawBody) throws IOException {
        Path waiting = EVENTS_FOLDER.resolve(id + ".waiting");
        if (Files.exists(waiting) || Files.exists(EVENTS_FOLDER.resolve(id + ".done"))) {
            return false;
        }
        // Under another name until it is whole: the worker must not read half an event.
        Files.move(Files.write(EVENTS_FOLDER.resolve(id + ".new"), rawBody), waiting);
        return true;
    }

    /** Does the work for what is stored, after the reply, and after a restart for what was left. */
    private static void work() {
        try (DirectoryStream<Path> files = Files.newDirectoryStream(EVENTS_FOLDER, "*.waiting")) {
            for (Path file : files) {
                String event = Files.readString(file);
                String id = field(ID, event);
                // Your work stands here. It comes twice when the program ends before the rename.
                System.out.println("worked on " + field(TYPE, event) + " " + id);
                Files.move(file, EVENTS_FOLDER.resolve(id + ".done"));
            }
        } catch (IOException | RuntimeException error) {
            System.err.println(error);
        }
    }

    private static void receive(HttpExchange exchange) throws IOException {
        try {
            receiveBody(exchange);
        } catch (GeneralSecurityException | IOException | RuntimeException error) {
            System.err.println(error);
            // It is not kept: the delivery is made again.
            answer(exchange, 500);
        }
    }

    private static void receiveBody(HttpExchange exchange) throws IOException, GeneralSecurityException {
        // The bytes as received: a parsed and re-serialised body has another signature.
        byte[] rawBody = exchange.getRequestBody().readNBytes(BODY_BYTES_MAX + 1);
        if (rawBody.length > BODY_BYTES_MAX) {
            answer(exchange, 413);
            return;
        }
        String timestamp = exchange.getRequestHeaders().getFirst("X-Webhook-Timestamp");
        if (!isGenuine(timestamp, rawBody, exchange.getRequestHeaders().getFirst("X-Webhook-Signature"))) {
            System.out.println("refused: wrong signature, or a timestamp more than 5 minutes off");
            answer(exchange, 401);
            return;
        }
        String event = new String(rawBody, StandardCharsets.UTF_8);
        // Delivery is at least once. The id in the body is signed, the one in the header is not.
        String id = field(ID, event);
        boolean isNew = store(id, rawBody);
        // It is kept, so it may be acknowledged. The worker does the rest.
        answer(exchange, 200);
        System.out.println(isNew ? "received " + field(TYPE, event) + " " + id : "ignored " + id + ": received before");
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
        Files.createDirectories(EVENTS_FOLDER);
        Executors.newSingleThreadScheduledExecutor().scheduleWithFixedDelay(ReceiveWebhook::work, 0, 1, TimeUnit.SECONDS);
        int port = Integer.parseInt(System.getenv().getOrDefault("PORT", "3000"));
        HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", port), 0);
        server.createContext("/", ReceiveWebhook::receive);
        server.setExecutor(Executors.newCachedThreadPool());
        server.start();
        System.out.println("listening on http://127.0.0.1:" + port + "/webhooks");
    }
}
