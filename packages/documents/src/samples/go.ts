import { keepTheKey, keyVariable, type SampleCall, type SampleLanguage, samplePlaceholders, yourId } from './call.ts'
import { entriesOf, joinedUrl, jsonOf, lines, snakeCase } from './text.ts'

const filename = (operationId: string) => `${snakeCase(operationId)}.go`
const howToRun = (operationId: string) => `// Go 1.19 or newer: go run ${filename(operationId)}`

export const go: SampleLanguage = {
  id: 'go',
  name: 'Go',
  highlight: 'go',
  codeSample: 'Go',
  filename,
  unsigned: ({ baseUrl, path, operationId }) =>
    lines(
      howToRun(operationId),
      'package main',
      '',
      imports('fmt', 'io', 'log', 'net/http'),
      '',
      'func main() {',
      `\tresponse, err := http.Get("${baseUrl}${path}")`,
      printReply,
      '}',
      '',
    ),
  signed,
}

const imports = (...packages: readonly (string | false)[]) => [
  'import (',
  ...packages.filter((name) => name !== false).map((name) => `\t"${name}"`),
  ')',
]

const stopOnError = ['\tif err != nil {', '\t\tlog.Fatal(err)', '\t}']

const printReply = [
  ...stopOnError,
  '\tdefer response.Body.Close()',
  '\treply, err := io.ReadAll(response.Body)',
  ...stopOnError,
  '\tfmt.Println(response.StatusCode, string(reply))',
]

/** `playerId` as Go writes it. */
const initialism = (name: string) => name.replace(/Id$/, 'ID')

function signed({ operationId, summary, method, path, ids, body, needsIdempotencyKey, baseUrl }: SampleCall): string {
  return lines(
    howToRun(operationId),
    'package main',
    '',
    imports(
      'crypto/hmac',
      needsIdempotencyKey && 'crypto/rand',
      'crypto/sha256',
      ...['encoding/hex', 'fmt', 'io', 'log', 'net/http', 'os', 'strconv', 'strings', 'time'],
    ),
    '',
    `const baseURL = "${baseUrl}"`,
    '',
    `var key = setting("OPERATOR_KEY", "${samplePlaceholders.key}")`,
    `var secret = setting("OPERATOR_SECRET", "${samplePlaceholders.secret}")`,
    '',
    'func setting(name, placeholder string) string {',
    '\tif value := os.Getenv(name); value != "" {',
    '\t\treturn value',
    '\t}',
    '\treturn placeholder',
    '}',
    '',
    'func sign(request *http.Request, timestamp, body string) string {',
    '\tbodySHA256 := sha256.Sum256([]byte(body))',
    '\tfields := []string{request.Method, request.URL.RequestURI(), timestamp, hex.EncodeToString(bodySHA256[:])}',
    '\tmac := hmac.New(sha256.New, []byte(secret))',
    String.raw`${'\t'}mac.Write([]byte(strings.Join(fields, "\n")))`,
    '\treturn hex.EncodeToString(mac.Sum(nil))',
    '}',
    '',
    'func main() {',
    `\t// ${summary}`,
    entriesOf(ids).map(([name, value]) => `\t${initialism(name)} := "${value}" // ${yourId}`),
    `\tbody := ${body === undefined ? '""' : `\`${jsonOf(body, '\t')}\``}`,
    `\turl := ${joinedUrl('baseURL', path, initialism)}`,
    `\trequest, err := http.NewRequest("${method}", url, strings.NewReader(body))`,
    stopOnError,
    '\ttimestamp := strconv.FormatInt(time.Now().Unix(), 10)',
    '\trequest.Header.Set("X-Operator-Key", key)',
    '\trequest.Header.Set("X-Timestamp", timestamp)',
    '\trequest.Header.Set("X-Signature", sign(request, timestamp, body))',
    needsIdempotencyKey && [
      '\tnewKey := make([]byte, 16)',
      '\tif _, err := rand.Read(newKey); err != nil {',
      '\t\tlog.Fatal(err)',
      '\t}',
      `\tidempotencyKey := setting("${keyVariable}", hex.EncodeToString(newKey)) // ${keepTheKey}`,
      '\trequest.Header.Set("Idempotency-Key", idempotencyKey)',
    ],
    body !== undefined && '\trequest.Header.Set("Content-Type", "application/json")',
    '',
    '\tresponse, err := http.DefaultClient.Do(request)',
    printReply,
    '}',
    '',
  )
}
