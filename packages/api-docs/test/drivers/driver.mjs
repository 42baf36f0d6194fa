import { readFileSync } from 'node:fs'
import { signRequest } from '../../snippets/node/sign-request.mjs'
import { verifyWebhook } from '../../snippets/node/verify-webhook.mjs'

const vectors = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8'))
for (const { name, secret, method, path, timestamp, body, signature } of vectors.requests) {
  if (signRequest(secret, method, path, timestamp, body) !== signature) throw new Error(name)
}
for (const { name, secret, timestamp, body, signature, toleranceSeconds, receivedAt, accepted } of vectors.webhooks) {
  const verify = (text) => verifyWebhook(secret, timestamp, Buffer.from(text), signature, toleranceSeconds, receivedAt)
  if (verify(body) !== accepted) throw new Error(name)
  if (verify(`${body} `)) throw new Error(name)
}
console.log('verified', vectors.requests.length + vectors.webhooks.length)
