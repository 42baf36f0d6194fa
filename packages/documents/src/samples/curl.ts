import { keyVariable, type SampleCall, type SampleLanguage, samplePlaceholders } from './call.ts'
import { entriesOf, jsonOf, kebabCase, lines, pathWith } from './text.ts'

export const curl: SampleLanguage = {
  id: 'curl',
  name: 'curl',
  highlight: 'bash',
  codeSample: 'Shell',
  filename: (operationId) => `${kebabCase(operationId)}.sh`,
  unsigned: ({ baseUrl, path }) => `curl -sS -i '${baseUrl}${path}'\n`,
  signed,
}

function signed({ operationId, method, path, ids, body, needsIdempotencyKey, baseUrl }: SampleCall): string {
  return lines(
    `BASE_URL='${baseUrl}'`,
    `KEY="\${OPERATOR_KEY:-${samplePlaceholders.key}}"`,
    `SECRET="\${OPERATOR_SECRET:-${samplePlaceholders.secret}}"`,
    '',
    'sign() {',
    `  digest=$(printf '%s' "$4" | openssl dgst -sha256 | sed 's/^.* //')`,
    String.raw`  printf '%s\n%s\n%s\n%s' "$1" "/$(printf '%s' "$2" | cut -d/ -f4-)" "$3" "$digest" |`,
    `    openssl dgst -sha256 -hmac "$SECRET" | sed 's/^.* //'`,
    '}',
    '',
    entriesOf(ids).map(([name, value]) => `${name}='${value}'`),
    `url="$BASE_URL${pathWith(path, (name) => `$${name}`)}"`,
    `body='${body === undefined ? '' : jsonOf(body).replaceAll("'", String.raw`'\''`)}'`,
    // The null command, since a shell that is typed into need not know comments. The shell keeps the variable, so that
    // the same command sends the same key when it is repeated.
    needsIdempotencyKey && [
      '',
      `: 'A retry sends the same key.'`,
      `: 'Before another intent: unset ${keyVariable}'`,
      `${keyVariable}="\${${keyVariable}:-$(openssl rand -hex 16)}"`,
    ],
    'timestamp=$(date +%s)',
    '',
    [
      `curl -sS -i -X ${method} "$url"`,
      '-H "X-Operator-Key: $KEY"',
      '-H "X-Timestamp: $timestamp"',
      `-H "X-Signature: $(sign ${method} "$url" "$timestamp" "$body")"`,
      ...(needsIdempotencyKey ? [`-H "Idempotency-Key: ${kebabCase(operationId)}:$${keyVariable}"`] : []),
      ...(body === undefined ? [] : ["-H 'Content-Type: application/json'", '--data-binary "$body"']),
    ].join(' \\\n  '),
    '',
  )
}
