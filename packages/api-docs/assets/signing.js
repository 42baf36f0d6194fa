// The page that compares two canonical strings. Nothing that is typed here leaves it: there is no request in this file.
import { bodyForms, compare, pasted, signatureCause } from './signing-comparison.js'

const element = (id) => document.getElementById(id)
const fields = { ours: element('signing-ours'), yours: element('signing-yours') }
const optional = { body: element('signing-body'), signature: element('signing-signature') }

/** What the reply's address brought. It stands in the fragment, which browsers do not send. */
function readFragment() {
  try {
    const ours = decodeURIComponent(location.hash.slice(1))
    // A fragment of another form is a heading's.
    if (ours.includes('\n')) fields.ours.value = ours
  } catch {
    // A fragment that is cut off is no use; the string can be pasted.
  }
}

function node(name, { text, className } = {}, ...children) {
  const made = document.createElement(name)
  if (text !== undefined) made.textContent = text
  if (className !== undefined) made.className = className
  made.append(...children)
  return made
}

const invisible = { ' ': '·', '\t': '→', '\r': '␍', '\n': '␊', '\u00a0': '⍽', '\ufeff': '[BOM]', '\u200b': '[ZWSP]' }
const visible = (text) => Array.from(text, (character) => invisible[character] ?? character).join('')

/** A line with the character marked that differs; where the line has ended already, its end is. */
function shown(text, at) {
  const characters = Array.from(text)
  const marked = node('mark', { text: characters[at] === undefined ? 'end' : visible(characters[at]) })
  const [before, after] = [characters.slice(0, at), characters.slice(at + 1)]
  return node('code', {}, visible(before.join('')), marked, visible(after.join('')))
}

function lineItem({ name, ours, yours, at }) {
  const isSame = at === null
  const state = node('span', { text: isSame ? 'same' : 'different', className: isSame ? 'ok' : 'refused' })
  const head = node('p', {}, node('strong', { text: name }), ' ', state)
  if (isSame) return node('li', {}, head, node('p', {}, node('code', { text: visible(ours) })))
  const row = (who, text) => [node('dt', { text: who }), node('dd', {}, shown(text, at))]
  return node('li', {}, head, node('dl', {}, ...row('Ours', ours), ...row('Yours', yours)))
}

async function hex(bytes) {
  const digest = await crypto.subtle.digest('SHA-256', bytes)
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('')
}

/** Which form of the body each side has hashed. */
async function bodyCauses(body, { ours, yours }) {
  if (body === '') return []
  if (!globalThis.crypto?.subtle) return ['This browser can hash the body only on https or localhost.']
  const found = { ours: undefined, yours: undefined }
  for (const { name, bytes } of bodyForms(body)) {
    const digest = await hex(bytes)
    if (digest === ours) found.ours ??= name
    if (digest === yours) found.yours ??= name
  }
  const say = (who, form) =>
    form === undefined
      ? `${who} is the digest of none of the forms of this body that we know.`
      : `${who} is the digest of this body ${form === '' ? 'as it stands here' : form}.`
  return [say('Ours', found.ours), say('Yours', found.yours)]
}

const secretCause =
  'Both strings are the same, so the secret differs, or how it is used. Test it as described below: a line end, quotes, the secret of another key, the webhook secret (whsec_…).'

async function findings() {
  const [ours, yours] = [pasted(fields.ours.value), pasted(fields.yours.value)]
  if (ours.trim() === '' || yours.trim() === '') return null
  const { lines, byte, causes } = compare(ours.trimEnd(), yours)
  const signature = optional.signature.value
  const ofSignature = signature === '' ? null : signatureCause(signature)
  const digests = { ours: lines[3].ours, yours: lines[3].yours.toLowerCase() }
  const ofBody = lines[3].at === null ? [] : await bodyCauses(optional.body.value, digests)
  const all = [...causes, ...ofBody, ...(ofSignature === null ? [] : [ofSignature])]
  return { lines, byte, causes: byte === null && ofSignature === null ? [secretCause] : all }
}

let latest = 0
async function show() {
  latest += 1
  const turn = latest
  const found = await findings()
  // Somebody typed on while a body was hashed.
  if (turn !== latest) return
  const result = element('signing-result')
  result.hidden = found === null
  if (found === null) return
  const { lines, byte, causes } = found
  element('signing-verdict').textContent =
    byte === null ? 'The strings are the same.' : `The strings differ from byte ${byte} on.`
  element('signing-causes').replaceChildren(...causes.map((text) => node('li', { text })))
  element('signing-lines').replaceChildren(...lines.map(lineItem))
}

for (const field of Object.values({ ...fields, ...optional })) field.addEventListener('input', show)
addEventListener('hashchange', () => {
  readFragment()
  show()
})
readFragment()
show()
