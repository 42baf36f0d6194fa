// The interactive tester of the documentation page. It signs with WebCrypto, and stores no secret.
const element = (id) => document.getElementById(id)
const { apiPrefix, operations } = JSON.parse(element('page-data').textContent)
const byId = new Map(operations.map((operation) => [operation.id, operation]))
const encoder = new TextEncoder()

/** Ids that replies brought, so that the next operation is already filled: playerId, depositId, withdrawalId, externalId, gameId. */
const remembered = {}

const dialog = element('tester')
const select = element('tester-operation')

function hex(buffer) {
  return Array.from(new Uint8Array(buffer), (byte) => byte.toString(16).padStart(2, '0')).join('')
}

async function signRequest(secret, method, path, timestamp, body) {
  const digest = hex(await crypto.subtle.digest('SHA-256', encoder.encode(body)))
  const canonical = [method, path, timestamp, digest].join('\n')
  const key = await crypto.subtle.importKey('raw', encoder.encode(secret), { name: 'HMAC', hash: 'SHA-256' }, false, [
    'sign',
  ])
  return { canonical, signature: hex(await crypto.subtle.sign('HMAC', key, encoder.encode(canonical))) }
}

/** Why this key must not be used here, or null. Judged before anything is signed or sent. */
function keyProblem(key) {
  if (key.startsWith('bk_live_'))
    return 'This is a production key. The tester works with sandbox keys (bk_test_…) only; nothing was sent.'
  if (!key.startsWith('bk_test_')) return 'Enter your sandbox key: it begins with bk_test_.'
  return null
}

function randomSuffix() {
  return crypto.getRandomValues(new Uint32Array(1))[0].toString(36)
}

/** The example body, with the fields that must be unique made so, and ids of earlier replies filled in. */
function exampleBody(operation) {
  const body = { ...operation.body }
  if ('externalId' in body) body.externalId = `user-${randomSuffix()}`
  if ('externalReference' in body) body.externalReference = `pay-${randomSuffix()}`
  if ('gameId' in body && remembered.gameId) body.gameId = remembered.gameId
  return JSON.stringify(body, null, 2)
}

function newIdempotencyKey() {
  element('tester-idempotency-key').value = crypto.randomUUID()
}

function parameterField(name, value) {
  const label = document.createElement('label')
  const input = document.createElement('input')
  label.textContent = name
  input.name = name
  input.value = value
  input.autocomplete = 'off'
  input.spellcheck = false
  label.append(input)
  return label
}

function choose(id) {
  const operation = byId.get(id)
  select.value = id
  element('tester-parameters').replaceChildren(
    ...operation.params.map((name) => parameterField(name, remembered[name] ?? '')),
    ...operation.query.map(({ name, example }) =>
      parameterField(name, remembered[name] ?? (name === 'limit' ? example : '')),
    ),
  )
  element('tester-idempotency').hidden = !operation.idempotent
  element('tester-body-label').hidden = operation.body === null
  element('tester-body').value = operation.body === null ? '' : exampleBody(operation)
  element('tester-result').hidden = true
  showProblem(null)
  newIdempotencyKey()
}

function showProblem(text) {
  const problem = element('tester-problem')
  problem.textContent = text ?? ''
  problem.hidden = text === null
}

function requestPath(operation) {
  const values = Object.fromEntries(
    Array.from(element('tester-parameters').querySelectorAll('input'), (input) => [input.name, input.value]),
  )
  const missing = operation.params.find((name) => !values[name])
  if (missing) return { problem: `Fill ${missing} first; a reply that brings one fills it by itself.` }
  const path = apiPrefix + operation.path.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(values[name]))
  // A browser resolves "." and ".." in a path, encoded or not. What is signed would not be what is sent.
  if (new URL(path, location.origin).pathname !== path)
    return {
      problem: 'A value in the path must not be "." or "..": the browser would send another path. Nothing was sent.',
    }
  const query = operation.query
    .filter(({ name }) => values[name])
    .map(({ name }) => `${name}=${encodeURIComponent(values[name])}`)
  return { path: path + (query.length > 0 ? `?${query.join('&')}` : '') }
}

/** Keeps the ids of a reply for the operations that follow. */
function remember(operation, reply) {
  const id = reply?.id
  if (operation.id === 'registerPlayer') Object.assign(remembered, { playerId: id, externalId: reply.externalId })
  if (operation.id === 'findPlayers' && reply.data?.[0]) remembered.playerId = reply.data[0].id
  if (operation.id === 'createDeposit') remembered.depositId = id
  if (operation.id === 'requestWithdrawal') remembered.withdrawalId = id
  if (operation.id === 'listGames') remembered.gameId = reply.data?.[0]?.id
  if (operation.id === 'listTransactions' && reply.nextCursor) remembered.cursor = reply.nextCursor
}

async function send() {
  const operation = byId.get(select.value)
  const key = element('tester-key').value.trim()
  const secret = element('tester-secret').value.trim()
  const { path, problem } = requestPath(operation)
  const refusal = keyProblem(key) ?? (secret === '' ? 'Enter the operator secret (sk_…).' : null) ?? problem ?? null
  showProblem(refusal)
  // What is shown belongs to this request: a former reply under a new refusal would look like its answer.
  element('tester-result').hidden = true
  element('tester-status').textContent = ''
  if (refusal !== null) return
  if (!crypto.subtle) return showProblem('This browser offers WebCrypto only on https or localhost.')

  const body = operation.body === null ? '' : element('tester-body').value
  const timestamp = String(Math.floor(Date.now() / 1000))
  const { canonical, signature } = await signRequest(secret, operation.method, path, timestamp, body)
  const headers = { 'X-Operator-Key': key, 'X-Timestamp': timestamp, 'X-Signature': signature }
  if (operation.body !== null) headers['Content-Type'] = 'application/json'
  if (operation.idempotent) headers['Idempotency-Key'] = element('tester-idempotency-key').value
  element('tester-canonical').textContent = canonical
  element('tester-request').textContent = requestText(operation.method, path, headers, body)
  element('tester-status').textContent = '…'
  element('tester-response').textContent = ''
  element('tester-result').hidden = false
  try {
    const response = await fetch(path, {
      method: operation.method,
      headers,
      ...(operation.body === null ? {} : { body }),
      credentials: 'omit',
      redirect: 'error',
      cache: 'no-store',
    })
    await showResponse(operation, response)
  } catch (error) {
    element('tester-status').textContent = 'none'
    showProblem(`No answer: ${error.message}`)
  }
}

function requestText(method, path, headers, body) {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  return [`${method} ${path}`, ...lines].join('\n') + (body === '' ? '' : `\n\n${body}`)
}

async function showResponse(operation, response) {
  const text = await response.text()
  const status = element('tester-status')
  status.textContent = `${response.status}`
  status.className = response.ok ? 'ok' : 'refused'
  let shown = [text]
  try {
    const reply = JSON.parse(text)
    shown = withLink(JSON.stringify(reply, null, 2), reply?.error?.details?.compareAt)
    if (response.ok) remember(operation, reply)
  } catch {
    // Not JSON: shown as it came.
  }
  const headers = [...response.headers].map(([name, value]) => `${name}: ${value}`).join('\n')
  const view = element('tester-response')
  view.replaceChildren(`${headers}\n\n`, ...shown)
  view.scrollIntoView({ block: 'nearest' })
}

/** The text with this address as a link. It opens beside this page, which would forget the keys. */
function withLink(text, address) {
  const [before, after] = typeof address === 'string' && /^https?:/.test(address) ? text.split(address) : []
  if (after === undefined) return [text]
  const link = document.createElement('a')
  Object.assign(link, { href: address, textContent: address, target: '_blank', rel: 'noopener' })
  return [before, link, after]
}

for (const tag of new Set(operations.map((operation) => operation.tag))) {
  const group = document.createElement('optgroup')
  group.label = tag
  for (const operation of operations.filter((candidate) => candidate.tag === tag)) {
    const option = document.createElement('option')
    option.value = operation.id
    option.textContent = `${operation.method} ${operation.path} · ${operation.summary}`
    group.append(option)
  }
  select.append(group)
}

select.addEventListener('change', () => choose(select.value))
element('tester-new-key').addEventListener('click', newIdempotencyKey)
element('tester-close').addEventListener('click', () => dialog.close())
// The samples of the page show the reader's own key from then on.
dialog.addEventListener('close', () => {
  const key = element('tester-key').value.trim()
  if (keyProblem(key) === null) document.dispatchEvent(new CustomEvent('sandbox-key', { detail: key }))
})
element('tester-form').addEventListener('submit', (event) => {
  event.preventDefault()
  const button = element('tester-send')
  button.disabled = true
  send().finally(() => {
    button.disabled = false
  })
})
for (const button of document.querySelectorAll('button.try')) {
  button.addEventListener('click', () => {
    choose(button.dataset.operation)
    dialog.showModal()
  })
}
