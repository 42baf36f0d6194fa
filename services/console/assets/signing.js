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

/** SHA-256 of bytes. */
export const fileDigest = async (bytes) => base64url(await crypto.subtle.digest('SHA-256', bytes))

/** SHA-256 of a value's canonical JSON. */
export const digestOf = (value) => fileDigest(utf8.encode(canonical(value)))

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
 * The input of a form's call: what the page has fixed, and what was filled in. What is empty is left out. What a page says
 * in a language is read in it.
 */
export function inputOf({ input, fields, ...how }, given) {
  const filled = fields.flatMap((field) => {
    const { value } = read(field, given, how)
    return value === undefined ? [] : [[field.name, value]]
  })
  return { ...Object.fromEntries(filled), ...input }
}

/** The fields in which something stands that says nothing, or more than one thing: whoever filled them in writes it again. */
export const unreadOf = ({ fields, ...how }, given) =>
  fields.filter((field) => read(field, given, how).isUnread).map(({ name }) => name)

function read({ name, kind, options = [], of }, given, how) {
  const text = (given[name] ?? '').trim()
  if (kind === 'options') {
    const chosen = options.find((option) => option.name === text)
    if (chosen !== undefined) return { value: chosen.value }
    return of === undefined || text !== 'given' ? {} : read({ ...of, name: `${name}Given` }, given, how)
  }
  if (text === '') return {}
  const value = readAs(kind, text, how)
  return { value, isUnread: value === undefined }
}

function readAs(kind, text, { timeZone, language }) {
  if (kind === 'number') return Number.isFinite(Number(text)) ? Number(text) : undefined
  if (kind === 'amount') return amountOf(text, language)
  if (kind === 'yes') return text === 'yes'
  if (kind === 'time') return isoOf(text, timeZone)
  if (kind === 'list') return listOf(text)
  return text.replaceAll('\r\n', '\n')
}

/** Commas alone are no list: an empty one may mean everything. */
function listOf(text) {
  const items = text.split(/[\s,]+/).filter((item) => item !== '')
  return items.length === 0 ? undefined : items
}

/**
 * An amount as people write it, in the way of operations: 1.234,5 in Portuguese and 1,234.5 in English are 1234.50. Undefined
 * for what the language does not write so, such as 10.50 in Portuguese: nobody guesses how much was meant.
 */
export function amountOf(text, language) {
  const [group, point] = language === 'pt-BR' ? ['\\.', ','] : [',', '\\.']
  const whole = `0|[1-9]\\d{0,12}|[1-9]\\d{0,2}(?:${group}\\d{3}){1,3}|[1-9](?:${group}\\d{3}){4}`
  const [, sign, units, cents = ''] = new RegExp(`^([-+−]?) ?(${whole})(?:${point}(\\d{1,2}))?$`).exec(text) ?? []
  if (units === undefined) return undefined
  return `${/[-−]/.test(sign) ? '-' : ''}${units.replaceAll(/\D/g, '')}.${cents.padEnd(2, '0')}`
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

/**
 * Opens the store where a browser keeps the keys of its logins, and does one thing with it. No script can read one, only have
 * it sign.
 */
const inStore = (mode, request) =>
  new Promise((resolve, reject) => {
    const opening = indexedDB.open('console', 1)
    opening.onupgradeneeded = () => opening.result.createObjectStore('keys', { keyPath: 'thumbprint' })
    opening.onerror = () => reject(opening.error)
    opening.onsuccess = () => {
      const transaction = opening.result.transaction('keys', mode)
      const asked = request(transaction.objectStore('keys'))
      transaction.oncomplete = () => {
        opening.result.close()
        resolve(asked.result)
      }
      transaction.onabort = () => reject(transaction.error)
    }
  })

export const keepKey = (key) => inStore('readwrite', (keys) => keys.put(key))

/** Undefined where this browser does not have it, or not any more. */
export const findKey = (thumbprint) => inStore('readonly', (keys) => keys.get(thumbprint))

/** All but one: a login takes the place of the one before. */
export const forgetKeys = (except) =>
  inStore('readwrite', (keys) => {
    const all = keys.getAllKeys()
    all.onsuccess = () => {
      for (const thumbprint of all.result) if (thumbprint !== except) keys.delete(thumbprint)
    }
    return all
  })
