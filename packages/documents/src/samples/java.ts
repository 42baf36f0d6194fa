import { keepTheKey, keyVariable, type SampleCall, type SampleLanguage, samplePlaceholders, yourId } from './call.ts'
import { entriesOf, joinedUrl, jsonOf, lines, pascalCase } from './text.ts'

const filename = (operationId: string) => `${pascalCase(operationId)}.java`
const howToRun = (operationId: string) => `// Java 17 or newer: java ${filename(operationId)}`
const send = '        HttpResponse<String> response = HttpClient.newHttpClient().send('
const printReply = '        System.out.println(response.statusCode() + " " + response.body());'

export const java: SampleLanguage = {
  id: 'java',
  name: 'Java',
  highlight: 'java',
  codeSample: 'Java',
  filename,
  unsigned: ({ baseUrl, path, operationId }) =>
    lines(
      howToRun(operationId),
      'import java.net.URI;',
      'import java.net.http.HttpClient;',
      'import java.net.http.HttpRequest;',
      'import java.net.http.HttpResponse;',
      '',
      `public final class ${pascalCase(operationId)} {`,
      '    public static void main(String[] args) throws Exception {',
      `        URI url = URI.create("${baseUrl}${path}");`,
      send,
      '                HttpRequest.newBuilder(url).build(), HttpResponse.BodyHandlers.ofString());',
      printReply,
      '    }',
      '}',
      '',
    ),
  signed,
}

/** A text block takes quotes as they are, and reads escapes. */
const textBlock = (json: string) => `"""\n                ${json.replaceAll('\\', '\\\\')}"""`

function signed({ operationId, summary, method, path, ids, body, needsIdempotencyKey, baseUrl }: SampleCall): string {
  return lines(
    howToRun(operationId),
    'import java.net.URI;',
    'import java.net.http.HttpClient;',
    'import java.net.http.HttpRequest;',
    'import java.net.http.HttpResponse;',
    'import java.nio.charset.StandardCharsets;',
    'import java.security.MessageDigest;',
    'import java.time.Instant;',
    'import java.util.HexFormat;',
    needsIdempotencyKey && 'import java.util.UUID;',
    'import javax.crypto.Mac;',
    'import javax.crypto.spec.SecretKeySpec;',
    '',
    `public final class ${pascalCase(operationId)} {`,
    `    static final String BASE_URL = "${baseUrl}";`,
    `    static final String KEY = System.getenv().getOrDefault("OPERATOR_KEY", "${samplePlaceholders.key}");`,
    `    static final String SECRET = System.getenv().getOrDefault("OPERATOR_SECRET", "${samplePlaceholders.secret}");`,
    '',
    '    static byte[] utf8(String text) {',
    '        return text.getBytes(StandardCharsets.UTF_8);',
    '    }',
    '',
    '    static String sign(String method, URI url, String timestamp, String body) throws Exception {',
    '        String path = url.getRawPath() + (url.getRawQuery() == null ? "" : "?" + url.getRawQuery());',
    '        String bodySha256 = HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(utf8(body)));',
    '        Mac hmac = Mac.getInstance("HmacSHA256");',
    '        hmac.init(new SecretKeySpec(utf8(SECRET), "HmacSHA256"));',
    String.raw`        return HexFormat.of().formatHex(hmac.doFinal(utf8(String.join("\n", method, path, timestamp, bodySha256))));`,
    '    }',
    '',
    '    public static void main(String[] args) throws Exception {',
    `        // ${summary}`,
    entriesOf(ids).map(([name, value]) => `        String ${name} = "${value}"; // ${yourId}`),
    `        URI url = URI.create(${joinedUrl('BASE_URL', path)});`,
    `        String body = ${body === undefined ? '""' : textBlock(jsonOf(body, '                '))};`,
    needsIdempotencyKey && [
      `        // A key for each intent: ${keepTheKey}.`,
      `        String idempotencyKey = System.getenv().getOrDefault("${keyVariable}", UUID.randomUUID().toString());`,
    ],
    '        String timestamp = Long.toString(Instant.now().getEpochSecond());',
    '        HttpRequest request = HttpRequest.newBuilder(url)',
    '                .header("X-Operator-Key", KEY)',
    '                .header("X-Timestamp", timestamp)',
    `                .header("X-Signature", sign("${method}", url, timestamp, body))`,
    needsIdempotencyKey && '                .header("Idempotency-Key", idempotencyKey)',
    body !== undefined && [
      '                .header("Content-Type", "application/json")',
      '                .POST(HttpRequest.BodyPublishers.ofString(body))',
    ],
    '                .build();',
    '',
    send,
    '                request, HttpResponse.BodyHandlers.ofString());',
    printReply,
    '    }',
    '}',
    '',
  )
}
