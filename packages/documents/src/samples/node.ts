import { keepTheKey, keyVariable, type SampleCall, type SampleLanguage, samplePlaceholders, yourId } from './call.ts'
import { entriesOf, inSingleQuotes, kebabCase, lines, pathWith } from './text.ts'

const filename = (operationId: string) => `${kebabCase(operationId)}.mjs`
const howToRun = (operationId: string) => `// Node.js 20 or newer: node ${filename(operationId)}`

export const node: SampleLanguage = {
  id: 'node',
  name: 'Node.js',
  highlight: 'javascript',
  codeSample: 'JavaScript',
  filename,
  unsigned: ({ baseUrl, path, operationId }) =>
    lines(
      howToRun(operationId),
      `const response = await fetch('${baseUrl}${path}')`,
      'console.log(response.status, await response.text())',
      '',
    ),
  signed,
}

/** An object of JavaScript, as the argument of a call. */
export const objectOf = (body: Readonly<Record<string, string>>): string => {
  const fields = entriesOf(body).map(([name, value]) => `  ${name}: ${inSingleQuotes(value)},\n`)
  return fields.length === 0 ? '{}' : `{\n${fields.join('')}}`
}

function signed({ operationId, summary, method, path, ids, body, needsIdempotencyKey, baseUrl }: SampleCall): string {
  return lines(
    howToRun(operationId),
    `import { createHash, createHmac${needsIdempotencyKey ? ', randomUUID' : ''} } from 'node:crypto'`,
    '',
    `const baseUrl = '${baseUrl}'`,
    `const { OPERATOR_KEY = '${samplePlaceholders.key}', OPERATOR_SECRET = '${samplePlaceholders.secret}' } = process.env`,
    '',
    'function sign(method, url, timestamp, body) {',
    '  const { pathname, search } = new URL(url)',
    `  const bodySha256 = createHash('sha256').update(body).digest('hex')`,
    String.raw`  const canonical = [method, pathname + search, timestamp, bodySha256].join('\n')`,
    `  return createHmac('sha256', OPERATOR_SECRET).update(canonical).digest('hex')`,
    '}',
    '',
    `// ${summary}`,
    entriesOf(ids).map(([name, value]) => `const ${name} = '${value}' // ${yourId}`),
    `const url = \`\${baseUrl}${pathWith(path, (name) => `\${${name}}`)}\``,
    `const body = ${body === undefined ? "''" : `JSON.stringify(${objectOf(body)})`}`,
    'const timestamp = String(Math.floor(Date.now() / 1000))',
    '',
    'const response = await fetch(url, {',
    `  method: '${method}',`,
    '  headers: {',
    `    'X-Operator-Key': OPERATOR_KEY,`,
    `    'X-Timestamp': timestamp,`,
    `    'X-Signature': sign('${method}', url, timestamp, body),`,
    needsIdempotencyKey && `    'Idempotency-Key': process.env.${keyVariable} ?? randomUUID(), // ${keepTheKey}`,
    body !== undefined && `    'Content-Type': 'application/json',`,
    '  },',
    body !== undefined && '  body,',
    '})',
    'console.log(response.status, await response.text())',
    '',
  )
}
