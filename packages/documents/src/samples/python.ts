import { keepTheKey, keyVariable, type SampleCall, type SampleLanguage, samplePlaceholders, yourId } from './call.ts'
import { entriesOf, inDoubleQuotes, lines, pathWith, snakeCase } from './text.ts'

const filename = (operationId: string) => `${snakeCase(operationId)}.py`
const howToRun = (operationId: string) => `# Python 3.8 or newer: python3 ${filename(operationId)}`

export const python: SampleLanguage = {
  id: 'python',
  name: 'Python',
  highlight: 'python',
  codeSample: 'Python',
  filename,
  unsigned: ({ baseUrl, path, operationId }) =>
    lines(
      howToRun(operationId),
      'import urllib.request',
      '',
      `response = urllib.request.urlopen("${baseUrl}${path}")`,
      'print(response.status, response.read().decode())',
      '',
    ),
  signed,
}

function dictionaryOf(body: Readonly<Record<string, string>>): string {
  const fields = entriesOf(body).map(([name, value]) => `    "${name}": ${inDoubleQuotes(value)},\n`)
  return fields.length === 0 ? '{}' : `{\n${fields.join('')}}`
}

function signed({ operationId, summary, method, path, ids, body, needsIdempotencyKey, baseUrl }: SampleCall): string {
  const hasIds = Object.keys(ids).length > 0
  return lines(
    howToRun(operationId),
    'import hashlib',
    'import hmac',
    body !== undefined && 'import json',
    'import os',
    'import time',
    'import urllib.error',
    'import urllib.request',
    needsIdempotencyKey && 'import uuid',
    '',
    `BASE_URL = "${baseUrl}"`,
    `OPERATOR_KEY = os.environ.get("OPERATOR_KEY", "${samplePlaceholders.key}")`,
    `OPERATOR_SECRET = os.environ.get("OPERATOR_SECRET", "${samplePlaceholders.secret}")`,
    '',
    '',
    'def sign(method, url, timestamp, body):',
    '    path = "/" + url.split("/", 3)[3]',
    String.raw`    canonical = "\n".join([method, path, timestamp, hashlib.sha256(body).hexdigest()])`,
    '    return hmac.new(OPERATOR_SECRET.encode(), canonical.encode(), hashlib.sha256).hexdigest()',
    '',
    '',
    `# ${summary}`,
    entriesOf(ids).map(([name, value]) => `${snakeCase(name)} = "${value}"  # ${yourId}`),
    hasIds ? `url = f"{BASE_URL}${pathWith(path, (name) => `{${snakeCase(name)}}`)}"` : `url = BASE_URL + "${path}"`,
    `body = ${body === undefined ? 'b""' : `json.dumps(${dictionaryOf(body)}).encode()`}`,
    'timestamp = str(int(time.time()))',
    'headers = {',
    '    "X-Operator-Key": OPERATOR_KEY,',
    '    "X-Timestamp": timestamp,',
    `    "X-Signature": sign("${method}", url, timestamp, body),`,
    needsIdempotencyKey &&
      `    "Idempotency-Key": os.environ.get("${keyVariable}") or str(uuid.uuid4()),  # ${keepTheKey}`,
    body !== undefined && '    "Content-Type": "application/json",',
    '}',
    `request = urllib.request.Request(url, ${body === undefined ? 'headers=headers' : 'body, headers'})`,
    '',
    'try:',
    '    response = urllib.request.urlopen(request)',
    'except urllib.error.HTTPError as refusal:',
    '    response = refusal',
    'print(response.getcode(), response.read().decode())',
    '',
  )
}
