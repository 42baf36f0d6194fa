// What a person signs in the browser: calls of the team, and that the console may read for them. No page is needed here,
// so the tests sign with the same module.

const utf8 = new TextEncoder()

const base64url = (bytes) =>
  btoa(String.fromCharCode(...new Uint8Array(bytes)))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '')

/** Plain JSON in the one way to write it (RFC 8785). */
export function canonical(value) {
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  // The default order is that of UTF-16 units, as the RFC wants it.
  const members = Object.keys(value).sort()
  return `{${members.map((name) => `${JSON.stringify(name)}:${canonical(value[name])}`).join()}}`
}

/** SHA-256 of a value's canonical JSON. */
export const digestOf = async (value) => base64url(await crypto.subtle.digest('SHA-256', utf8.encode(canonical(value))))

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }

/** The key of a login. Nobody can read its private part, this page included. Its thumbprint is that of RFC 7638. */
export async function newKey() {
  const { privateKey, publicKey } = await crypto.subtle.generateKey(algorithm, false, ['sign'])
  const { kty, crv, x, y } = await crypto.subtle.exportKey('jwk', publicKey)
  const publicJwk = { kty, crv, x, y }
  return { privateKey, publicJwk, thumbprint: await digestOf(publicJwk) }
}

/**
 * A key for the reply to one call, of those that are sealed. Its private part goes with the form: the server makes the page of
 * the reply, and nobody who hears the reply on its way can read it.
 */
export async function newReplyKey() {
  const ecdh = { name: 'ECDH', namedCurve: 'P-256' }
  const { privateKey } = await crypto.subtle.generateKey(ecdh, true, ['deriveBits'])
  const { kty, crv, x, y, d } = await crypto.subtle.exportKey('jwk', privateKey)
  return { sealTo: { kty, crv, x, y }, opener: { kty, crv, x, y, d } }
}

async function signed(typ, claims, { privateKey, publicJwk }) {
  const parts = [{ alg: 'ES256', typ, jwk: publicJwk }, claims]
  const text = parts.map((part) => base64url(utf8.encode(JSON.stringify(part)))).join('.')
  return `${text}.${base64url(await crypto.subtle.sign(algorithm, privateKey, utf8.encode(text)))}`
}

/** A call of the team, for the deployment `aud` alone. @param iat epoch seconds */
export const signCall = async ({ operation, operationId, input, approves, sealTo }, { aud, iat }, key) =>
  signed(
    'team-call+jwt',
    {
      ...{ aud, operation, operationId, inputDigest: await digestOf(input) },
      ...(approves === undefined ? {} : { approves }),
      ...(sealTo === undefined ? {} : { sealTo }),
      ...{ iat, tool: 'console' },
    },
    key,
  )

/** That the key with the thumbprint `delegate` may read in the person's name until `exp`. */
export const signDelegation = ({ aud, delegate, iat, exp }, key) =>
  signed('team-delegation+jwt', { aud, delegate, iat, exp }, key)

/**
 * The input of a form's call: what the page has fixed, and what was filled in. What is empty is left out, or what the form
 * says of that field.
 */
export function inputOf({ input, fields, timeZone }, given) {
  const filled = fields.flatMap(({ name, kind, empty }) => {
    const text = (given[name] ?? '').trim()
    if (text !== '') return [[name, readAs(kind, text, timeZone)]]
    return empty === undefined ? [] : [[name, empty]]
  })
  return { ...Object.fromEntries(filled), ...input }
}

/** What cannot be read goes as it is, and the operation says what is wrong with it. */
function readAs(kind, text, timeZone) {
  if (kind === 'number') return Number.isFinite(Number(text)) ? Number(text) : text
  if (kind === 'yes') return text === 'yes'
  if (kind === 'time') return isoOf(text, timeZone) ?? text
  if (kind === 'list') return text.split(/[\s,]+/).filter((item) => item !== '')
  return text.replaceAll('\r\n', '\n')
}

/** A time as browsers have it in a form, such as 2026-11-22T09:30, as it is in a zone. */
export function isoOf(local, timeZone) {
  const wanted = Date.parse(`${local}Z`)
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d)?$/.test(local) || Number.isNaN(wanted)) return undefined
  // What a clock there shows at a moment, as if it were UTC. In Swedish a date is written like in ISO 8601.
  const clock = new Intl.DateTimeFormat('sv', { dateStyle: 'short', timeStyle: 'medium', timeZone })
  const shownAt = (ms) => Date.parse(`${clock.format(ms).replace(' ', 'T')}Z`)
  const guess = wanted - (shownAt(wanted) - wanted)
  // Once more, since the clocks may change in between.
  return new Date(guess - (shownAt(guess) - wanted)).toISOString()
}
