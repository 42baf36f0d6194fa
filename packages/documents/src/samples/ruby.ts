import { keepTheKey, keyVariable, type SampleCall, type SampleLanguage, samplePlaceholders, yourId } from './call.ts'
import { entriesOf, inSingleQuotes, lines, pathWith, snakeCase } from './text.ts'

const filename = (operationId: string) => `${snakeCase(operationId)}.rb`
const howToRun = (operationId: string) => `# Ruby 3.0 or newer: ruby ${filename(operationId)}`
const printReply = 'puts "#{response.code} #{response.body}"'

export const ruby: SampleLanguage = {
  id: 'ruby',
  name: 'Ruby',
  highlight: 'ruby',
  codeSample: 'Ruby',
  filename,
  unsigned: ({ baseUrl, path, operationId }) =>
    lines(
      howToRun(operationId),
      `require 'net/http'`,
      '',
      `response = Net::HTTP.get_response(URI('${baseUrl}${path}'))`,
      printReply,
      '',
    ),
  signed,
}

function hashOf(body: Readonly<Record<string, string>>): string {
  const fields = entriesOf(body).map(([name, value]) => `  ${name}: ${inSingleQuotes(value)}`)
  return fields.length === 0 ? '{}' : `{\n${fields.join(',\n')}\n}`
}

function signed({ operationId, summary, method, path, ids, body, needsIdempotencyKey, baseUrl }: SampleCall): string {
  return lines(
    howToRun(operationId),
    body !== undefined && `require 'json'`,
    `require 'net/http'`,
    `require 'openssl'`,
    needsIdempotencyKey && `require 'securerandom'`,
    '',
    `BASE_URL = '${baseUrl}'`,
    `OPERATOR_KEY = ENV.fetch('OPERATOR_KEY', '${samplePlaceholders.key}')`,
    `OPERATOR_SECRET = ENV.fetch('OPERATOR_SECRET', '${samplePlaceholders.secret}')`,
    '',
    'def sign(method, url, timestamp, body)',
    String.raw`  canonical = [method, url.request_uri, timestamp, OpenSSL::Digest::SHA256.hexdigest(body)].join("\n")`,
    `  OpenSSL::HMAC.hexdigest('SHA256', OPERATOR_SECRET, canonical)`,
    'end',
    '',
    `# ${summary}`,
    entriesOf(ids).map(([name, value]) => `${snakeCase(name)} = '${value}' # ${yourId}`),
    `url = URI("#{BASE_URL}${pathWith(path, (name) => `#{${snakeCase(name)}}`)}")`,
    `body = ${body === undefined ? "''" : `${hashOf(body)}.to_json`}`,
    'timestamp = Time.now.to_i.to_s',
    'headers = {',
    `  'X-Operator-Key' => OPERATOR_KEY,`,
    `  'X-Timestamp' => timestamp,`,
    needsIdempotencyKey && `  'Idempotency-Key' => ENV.fetch('${keyVariable}') { SecureRandom.uuid }, # ${keepTheKey}`,
    body !== undefined && `  'Content-Type' => 'application/json',`,
    `  'X-Signature' => sign('${method}', url, timestamp, body)`,
    '}',
    '',
    method === 'GET'
      ? 'response = Net::HTTP.get_response(url, headers)'
      : 'response = Net::HTTP.post(url, body, headers)',
    printReply,
    '',
  )
}
