// Compares the canonical string that the server built with the one that a developer built, and names the usual causes of
// each difference. No page and no network here: signing.js shows what this finds.

/**
 * @typedef {{ name: string, ours: string, yours: string, at: number | null }} Line `at`: the first character that differs
 * @typedef {{ lines: Line[], byte: number | null, causes: string[] }} Comparison `byte`: the first that differs, from 1 on
 */

const names = ['Method', 'Path', 'Timestamp', 'Body digest']
const encoder = new TextEncoder()

/**
 * What was pasted: a text, a JSON string with its escapes, or a whole error reply. JSON tells line ends and spaces apart
 * that a text field does not keep.
 * @param {string} text
 * @returns {string}
 */
export function pasted(text) {
  const trimmed = text.trim()
  try {
    const value = JSON.parse(trimmed)
    if (typeof value === 'string') return value
    const canonical = value?.error?.details?.canonicalString ?? value?.canonicalString
    if (typeof canonical === 'string') return canonical
  } catch {
    // Not JSON, so it is the string itself.
  }
  return text
}

/**
 * @param {string} ours the server's string
 * @param {string} yours the developer's
 * @returns {Comparison}
 */
export function compare(ours, yours) {
  const { text, causes } = asFourLines(yours)
  const [server, own] = [ours.split('\n'), text.split('\n')]
  const lines = names.map((name, index) => lineOf(name, server[index] ?? '', own[index] ?? ''))
  if (own.length === names.length) {
    for (const [index, find] of [methodCause, pathCause, timestampCause, digestCause].entries()) {
      const { ours, yours, at } = lines[index]
      if (at !== null) causes.push(find(ours, yours))
    }
  }
  return { lines, byte: firstByte(ours, yours), causes }
}

function lineOf(name, ours, yours) {
  const [left, right] = [Array.from(ours), Array.from(yours)]
  const at = left.findIndex((character, index) => character !== right[index])
  if (at === -1) return { name, ours, yours, at: left.length === right.length ? null : left.length }
  return { name, ours, yours, at }
}

function firstByte(ours, yours) {
  const [left, right] = [encoder.encode(ours), encoder.encode(yours)]
  const at = left.findIndex((byte, index) => byte !== right[index])
  if (at !== -1) return at + 1
  return left.length === right.length ? null : left.length + 1
}

const isBody = (field) => /^\s*[[{]/.test(field)
const bodyCause = 'The fourth field is the body itself. It must be the lowercase hex SHA-256 of the body.'
const digestForm = /^[0-9a-f]{64}$/i

/** Mistakes in how the four fields are joined: each is named and set right, so that the fields themselves can be compared. */
function asFourLines(yours) {
  const causes = []
  let text = yours
  const mend = (isWrong, cause, mended) => {
    if (!isWrong) return
    causes.push(cause)
    text = mended()
  }
  mend(
    !text.includes('\n') && text.includes('\\n'),
    'Your string has a backslash and the letter n where a line feed belongs. PHP, Ruby and shells do not read \\n between single quotes.',
    () => text.replaceAll('\\n', '\n'),
  )
  mend(text.includes('\r'), 'Your lines end with CR LF. Join the fields with a single line feed (LF).', () =>
    text.replaceAll('\r\n', '\n').replaceAll('\r', '\n'),
  )
  mend(text.startsWith('\ufeff'), 'Your string begins with a byte order mark (BOM).', () => text.slice(1))
  mend(
    /\n+$/.test(text) && text.trim() !== '',
    'Your string ends with a line feed; the last field has none behind it.',
    () => text.replace(/\n+$/, ''),
  )
  mend(
    text.split('\n').length <= names.length && text.split('\n').some((line) => line !== line.trim()),
    'A line of yours begins or ends with a space. Perhaps a value was read from a file with its line end.',
    () =>
      text
        .split('\n')
        .map((line) => line.trim())
        .join('\n'),
  )
  const lines = text.split('\n')
  if (lines.length === names.length) return { text, causes: [...causes, ...orderCause(lines)] }
  if (lines.length === 3 && !digestForm.test(lines[2]))
    causes.push('The fourth field is missing. Without a body it is the SHA-256 of the empty string.')
  else if (lines.length > names.length && isBody(lines[3])) causes.push(bodyCause)
  else if (text !== '')
    causes.push(
      `The canonical string has four lines; yours has ${lines.length}. Join method, path, timestamp and digest with line feeds.`,
    )
  return { text, causes }
}

function orderCause([method, path, timestamp, digest]) {
  const inOrder = /^\w+$/.test(method) && !digestForm.test(method) && /[/:]/.test(path) && !digestForm.test(timestamp)
  const known = [method, path, timestamp, digest].some((line) => digestForm.test(line))
  return inOrder || !known ? [] : ['The fields are in another order. It is method, path, timestamp, digest.']
}

function methodCause(ours, yours) {
  if (yours.toUpperCase() === ours) return 'The method must be upper case.'
  return `You signed ${yours || 'no method'} and sent ${ours}. A redirect, or a library, may have changed the method.`
}

function pathCause(ours, yours) {
  const [prefix = ''] = /^\/[^/]+\/[^/?]+/.exec(ours) ?? []
  if (/^https?:\/\//.test(yours)) return `Sign the path alone, beginning with ${prefix}: without scheme and host.`
  const [ourPath, ourQuery] = parts(ours)
  const [yourPath, yourQuery] = parts(yours)
  if (prefix + yourPath === ourPath) return `The prefix is missing: sign the path as sent, with ${prefix} in front.`
  if (yourPath === prefix + ourPath) return `The prefix ${prefix} is doubled.`
  if (/[{}]|\/:\w/.test(yourPath)) return 'You signed the template of the path. Fill in the ids first, then sign.'
  if (`${ourPath}/` === yourPath || ourPath === `${yourPath}/`)
    return 'One path ends with a slash and the other does not. Sign the path as sent.'
  if (ourPath !== yourPath) {
    if (decoded(ourPath) === decoded(yourPath)) return encodingCause(ours)
    return 'The paths differ. Perhaps a proxy, a base address or your HTTP library changes the path on its way.'
  }
  return queryCause(ours, ourQuery, yourQuery)
}

function queryCause(ours, ourQuery, yourQuery) {
  if (yourQuery === undefined) return 'The query is missing: sign the path with the question mark and all behind it.'
  if (ourQuery === undefined) return 'You signed a query that was not sent.'
  const sorted = (query) => query.split('&').sort().join('&')
  if (sorted(ourQuery) === sorted(yourQuery))
    return 'The parameters of the query are in another order. Sign them in the order in which they are sent.'
  const plain = (query) => sorted(decoded(query.replaceAll('+', '%20')))
  if (plain(ourQuery) === plain(yourQuery)) return encodingCause(ours)
  return 'The queries differ. Build the address once, sign what stands in it, and send it.'
}

function encodingCause(ours) {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: bytes beyond ASCII are what is looked for
  if (/[^\x00-\x7f]/.test(ours))
    return 'The address was sent with letters beyond ASCII. Percent-encode them, then sign.'
  return 'The percent-encoding differs: %20 or +, %2f or %2F, encoded or not. Sign the address exactly as it is sent.'
}

function parts(path) {
  const at = path.indexOf('?')
  return at === -1 ? [path] : [path.slice(0, at), path.slice(at + 1)]
}

function decoded(text) {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

function timestampCause(ours, yours) {
  if (/^\d{13}$/.test(yours)) return 'Your timestamp is in milliseconds. It must be in seconds.'
  if (/^\d+\.\d+$/.test(yours)) return 'Your timestamp has a fraction. It must be whole seconds.'
  if (/^\d{10}$/.test(yours) && /^\d{10}$/.test(ours))
    return 'You signed one timestamp and sent another. Take the time once, and use it for both.'
  return 'The timestamp must be epoch seconds: ten digits, the same as in X-Timestamp.'
}

export const emptyDigest = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'

/** What a program hashes by mistake when it has no body, or turns one into text in the wrong way. */
const mistakenBodies = {
  '74234e98afe7498fb5daf1f36ac2d78acc339464f950703b8c019892f982b90b': 'null',
  '44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a': '{}',
  '4f53cda18c2baa0c0354bb5f9a3ecbe5ed12ab4d8e11ba873c2f11161202b945': '[]',
  '12ae32cb1ec02d01eda3581b127c1fee3b0dc53572ed6baf239721a03d82e126': '""',
  eb045d78d273107348b0300c01d29b7552d622abbc6faf81b3ec55359aa9950c: 'undefined',
  b28c94b2195c8ed259f0b415aaee3f39b0b2920a4537611499fa044956917a21: '[object Object]',
}
const hashesByLength = { 32: 'MD5', 40: 'SHA-1', 96: 'SHA-384', 128: 'SHA-512' }

function digestCause(ours, yours) {
  if (yours.toLowerCase() === ours) return 'The digest must be lowercase hex.'
  if (/^[A-Za-z0-9+/_-]{43}=?$/.test(yours)) return 'The digest is base64. It must be lowercase hex.'
  if (/^[0-9a-f]+$/i.test(yours) && yours.length in hashesByLength)
    return `The digest looks like ${hashesByLength[yours.length]}. It must be SHA-256.`
  if (isBody(yours)) return bodyCause
  if (!digestForm.test(yours)) return 'The fourth field must be the lowercase hex SHA-256 of the body: 64 characters.'
  if (yours.toLowerCase() === emptyDigest)
    return 'You signed an empty body, and sent one. Hash the bytes that you send.'
  const mistaken = mistakenBodies[yours.toLowerCase()]
  if (mistaken !== undefined && ours === emptyDigest)
    return `You signed the text ${mistaken} and sent no body. Without a body the digest is that of the empty string.`
  if (mistaken !== undefined) return `You signed the text ${mistaken} in place of the body that you sent.`
  if (ours === emptyDigest)
    return 'You signed a body, but none arrived. Some libraries drop the body of a GET, or send an object only if they may serialise it.'
  return 'The bytes that you hashed are not the bytes that you sent. Serialise the body once, hash that text, send that text.'
}

/**
 * What is wrong with the form of a signature, for the case that both strings are the same.
 * @param {string} signature the value of X-Signature, as sent
 * @returns {string | null}
 */
export function signatureCause(signature) {
  if (/^[0-9a-f]{64}$/.test(signature)) return null
  if (/^["'\s]|["'\s]$/.test(signature)) return 'The signature was sent with quotes or spaces around it.'
  if (/^[0-9A-F]{64}$/i.test(signature)) return 'The signature must be lowercase hex.'
  if (/^[\w-]+=[0-9a-f]{64}$/i.test(signature)) return 'The signature must stand alone, without anything in front.'
  if (/^[A-Za-z0-9+/_-]{43}=?$/.test(signature)) return 'The signature is base64. It must be lowercase hex.'
  return `A signature is 64 characters of lowercase hex; yours has ${signature.length}. It must be HMAC-SHA256.`
}

/**
 * The forms that a body takes when a library writes it anew, with the bytes of each.
 * @param {string} body
 * @returns {{ name: string, bytes: Uint8Array }[]}
 */
export function bodyForms(body) {
  const forms = writings(body).flatMap(([name, text]) =>
    escapes.flatMap(([escaped, change]) =>
      endings.map(([ending, end]) => ({
        name: [name, escaped, ending].filter((part) => part !== '').join(', '),
        bytes: encoder.encode(end(change(text))),
      })),
    ),
  )
  return [
    ...forms,
    { name: 'in Latin-1 in place of UTF-8', bytes: latin1(body) },
    { name: 'empty', bytes: new Uint8Array() },
  ]
}

function writings(body) {
  const own = ['', body]
  let value
  try {
    value = JSON.parse(body)
  } catch {
    return [own]
  }
  return [value, sorted(value)].flatMap((form, index) => {
    const keys = index === 0 ? '' : ' and sorted keys'
    return [
      ...(index === 0 ? [own] : []),
      [`as JSON without spaces${keys}`, JSON.stringify(form)],
      [`as JSON with a space after colon and comma${keys}`, spaced(form)],
      [`as JSON indented by 2${keys}`, JSON.stringify(form, null, 2)],
      [`as JSON indented by 4${keys}`, JSON.stringify(form, null, 4)],
    ]
  })
}

function sorted(value) {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((name) => [name, sorted(value[name])]),
  )
}

/** As Python's json.dumps and others write it. */
function spaced(value) {
  if (Array.isArray(value)) return `[${value.map(spaced).join(', ')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  return `{${Object.entries(value)
    .map(([name, field]) => `${JSON.stringify(name)}: ${spaced(field)}`)
    .join(', ')}}`
}

const unicode = (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
const escapes = [
  ['', (text) => text],
  // biome-ignore lint/suspicious/noControlCharactersInRegex: all of ASCII stays
  ['with letters beyond ASCII as \\u escapes', (text) => text.replaceAll(/[^\x00-\x7f]/g, unicode)],
  ['with escaped slashes', (text) => text.replaceAll('/', '\\/')],
  ['with <, > and & as \\u escapes', (text) => text.replaceAll(/[<>&]/g, unicode)],
]
const endings = [
  ['', (text) => text],
  ['with a line feed at the end', (text) => `${text}\n`],
  ['with CR LF line ends', (text) => text.replaceAll(/\r?\n/g, '\r\n')],
  ['with LF line ends', (text) => text.replaceAll('\r\n', '\n')],
  ['with a byte order mark (BOM)', (text) => `\ufeff${text}`],
]
const latin1 = (text) => Uint8Array.from(text, (character) => character.charCodeAt(0) & 0xff)
