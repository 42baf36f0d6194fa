import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportSessionKey, newSessionKey, nonceOf } from '@backoffice/team-access/identity'
import { type StartedLogin, startLogin } from '@backoffice/team-access/login'
import open from 'open'
import { consoleFacts } from '../console-client.ts'
import { say } from '../output.ts'
import { type KeptSession, keyName } from './connection.ts'
import { forgetKey, keepKey } from './login-key.ts'

/** How long a person may take. */
const patienceMs = 5 * 60_000

/** How long a login lives whose key whoever reads the file has. */
const hoursInClear = 1

interface BrowserLogin {
  readonly console: string
  /** Opens the browser. Without it, the address is only printed. */
  readonly browser: boolean
}

/**
 * Logs a person in, in their browser, which the identity provider sends back to an address of this process (RFC 8252).
 * @throws when the provider refuses, or nobody comes back
 */
export async function logInWithBrowser({ console, browser }: BrowserLogin): Promise<KeptSession> {
  const { issuer, clientId, strongLogin } = await consoleFacts(console)
  const key = await newSessionKey()
  const name = keyName(key.thumbprint)
  const kept = await keepKey(name, await exportSessionKey(key))
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  try {
    const { port } = server.address() as AddressInfo
    const here = `http://127.0.0.1:${port}`
    const login = await startLogin({
      issuer,
      clientId,
      redirectUri: `${here}/callback`,
      nonce: nonceOf(key.thumbprint, kept.in === 'clear' ? hoursInClear : undefined),
      strongLogin,
    })
    say(`Log in here:\n${login.address.href}\n`)
    // Where there is no browser, the person has the address.
    if (browser) await open(login.address.href).catch(() => {})
    const idToken = await answered(server, here, login)
    return { console, idToken, key: kept }
  } catch (error) {
    await forgetKey(name, kept)
    throw error
  } finally {
    server.close()
    server.closeAllConnections()
  }
}

/**
 * Waits for the browser to come back. Other requests, such as the one for an icon, are none of its business; nor is an
 * answer to another login, which anybody on this machine could send.
 */
async function answered(server: Server, here: string, { address: begun, finish }: StartedLogin): Promise<string> {
  const state = begun.searchParams.get('state')
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const late = setTimeout(() => reject(new Error('nobody has logged in; try again')), patienceMs)
  server.on('request', (request, response) => {
    const address = new URL(request.url ?? '/', here)
    if (address.pathname !== '/callback' || address.searchParams.get('state') !== state) {
      response.writeHead(404).end()
      return
    }
    finish(address).then(
      (idToken) => response.writeHead(200, headers).end(page('You are logged in'), () => resolve(idToken)),
      (error) => response.writeHead(400, headers).end(page('You are not logged in'), () => reject(error)),
    )
  })
  try {
    return await promise
  } finally {
    clearTimeout(late)
  }
}

const headers = {
  'Content-Type': 'text/html; charset=utf-8',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'Referrer-Policy': 'no-referrer',
  'Cache-Control': 'no-store',
  Connection: 'close',
}

const page = (title: string) => `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="color-scheme" content="light dark"><title>${title}</title></head>
<body><h1>${title}</h1><p>The terminal says more. You can close this window.</p></body>
</html>
`
