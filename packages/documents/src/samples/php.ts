import { keepTheKey, keyVariable, type SampleCall, type SampleLanguage, samplePlaceholders, yourId } from './call.ts'
import { entriesOf, inSingleQuotes, kebabCase, lines, pathWith } from './text.ts'

const filename = (operationId: string) => `${kebabCase(operationId)}.php`
const howToRun = (operationId: string) => `// PHP 7.4 or newer: php ${filename(operationId)}`
const printReply = String.raw`echo explode(' ', $http_response_header[0])[1], ' ', $reply, "\n";`

export const php: SampleLanguage = {
  id: 'php',
  name: 'PHP',
  highlight: 'php',
  codeSample: 'PHP',
  filename,
  unsigned: ({ baseUrl, path, operationId }) =>
    lines('<?php', howToRun(operationId), `$reply = file_get_contents('${baseUrl}${path}');`, printReply, ''),
  signed,
}

function arrayOf(body: Readonly<Record<string, string>>): string {
  const fields = entriesOf(body).map(([name, value]) => `    '${name}' => ${inSingleQuotes(value)},\n`)
  // An empty array would be a list.
  return fields.length === 0 ? '(object) []' : `[\n${fields.join('')}]`
}

function signed({ operationId, summary, method, path, ids, body, needsIdempotencyKey, baseUrl }: SampleCall): string {
  return lines(
    '<?php',
    howToRun(operationId),
    `$baseUrl = '${baseUrl}';`,
    `$key = getenv('OPERATOR_KEY') ?: '${samplePlaceholders.key}';`,
    `$secret = getenv('OPERATOR_SECRET') ?: '${samplePlaceholders.secret}';`,
    '',
    'function sign(string $secret, string $method, string $url, string $timestamp, string $body): string',
    '{',
    `    $path = '/' . explode('/', $url, 4)[3];`,
    String.raw`    $canonical = implode("\n", [$method, $path, $timestamp, hash('sha256', $body)]);`,
    `    return hash_hmac('sha256', $canonical, $secret);`,
    '}',
    '',
    `// ${summary}`,
    entriesOf(ids).map(([name, value]) => `$${name} = '${value}'; // ${yourId}`),
    `$url = "$baseUrl${pathWith(path, (name) => `$${name}`)}";`,
    `$body = ${body === undefined ? "''" : `json_encode(${arrayOf(body)})`};`,
    '$timestamp = (string) time();',
    '$headers = [',
    '    "X-Operator-Key: $key",',
    '    "X-Timestamp: $timestamp",',
    `    'X-Signature: ' . sign($secret, '${method}', $url, $timestamp, $body),`,
    needsIdempotencyKey &&
      `    'Idempotency-Key: ' . (getenv('${keyVariable}') ?: bin2hex(random_bytes(16))), // ${keepTheKey}`,
    body !== undefined && `    'Content-Type: application/json',`,
    '];',
    '',
    // Without `ignore_errors` the body of a refusal is not read.
    `$http = ['method' => '${method}', 'header' => $headers, 'content' => $body, 'ignore_errors' => true];`,
    `$reply = file_get_contents($url, false, stream_context_create(['http' => $http]));`,
    printReply,
    '',
  )
}
