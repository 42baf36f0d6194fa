import { readFileSync } from 'node:fs'
import { signRequest } from '../../snippets/node/sign-request.ts'
import { verifyWebhook } from '../../snippets/node/verify-webhook.ts'

const vectors = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8'))
for (const { name, secret, method, path, timestamp, body, signature } of vectors.requests) {
  if (signRequest(secret, method, path, timestamp, body) !== signature) throw new Error(name)
}
for (const { name, secret, timestamp, body, signature } of vectors.webhooks) {
  if (!verifyWebhook(secret, timestamp, Buffer.from(body), signature)) throw new Error(name)
  if (verifyWebhook(secret, timestamp, Buffer.from(`${body} `), signature)) throw new Error(name)
}
console.log('verified', vectors.requests.length + vectors.webhooks.length)
