// Makes the key of a login, and signs what a person decides. The server gets signatures, and never the key.

import {
  amountOf,
  canonical,
  fileDigest,
  findKey,
  forgetKeys,
  inputOf,
  keepKey,
  newKey,
  newReplyKey,
  signCall,
  signDelegation,
  unreadOf,
} from './signing.js'

const { session, now, notSigned, notKnown, tryAgain, format, person, typed } = document.body.dataset
const aud = location.origin

/** Where is kept what somebody typed, while they log in again: in this tab alone, until the form is there once more. */
const store = 'typed'

/** What the page made for the form that is left, and the next one has of its own. */
const own = ['_csrf', 'shown', '_input', '_proof', '_opener']

function keepTyped(form) {
  const fields = [...new FormData(form)].filter(([name]) => !own.includes(name))
  // It may have been done: sent once more under its id it acts once. Otherwise the next try has an id of its own.
  const kept =
    form.querySelector('[data-unknown]') === null ? fields.filter(([name]) => name !== 'operationId') : fields
  sessionStorage.setItem(store, JSON.stringify({ person, action: form.getAttribute('action'), fields: kept }))
}

const forgetTyped = () => sessionStorage.removeItem(store)

/** On the page of the form, and for whoever typed it. */
function restoreTyped() {
  const kept = JSON.parse(sessionStorage.getItem(store) ?? 'null')
  if (kept === null || person === undefined) return
  forgetTyped()
  const form = document.querySelector(`.decision form[action="${CSS.escape(kept.action)}"]`)
  if (kept.person !== person || form === null) return
  for (const [name, value] of kept.fields) {
    const field = form.elements[name]
    if (field?.type === 'checkbox') field.checked = true
    else if (field !== undefined) field.value = value
  }
  form.closest('details').open = true
  const notice = Object.assign(document.createElement('p'), { className: 'notice', textContent: typed, tabIndex: -1 })
  notice.setAttribute('role', 'status')
  form.querySelector('.said').prepend(notice)
  notice.focus()
}

/** By the server's clock, since that of this machine may be wrong: signatures are worth something for two minutes. */
const aheadMs = Number(now) - Date.now()
const epochSeconds = () => Math.floor((Date.now() + aheadMs) / 1_000)

/** The call that each form had when it came: no other one is signed. */
const shownBy = new WeakMap()
function remember() {
  for (const form of document.querySelectorAll('.decision form'))
    if (!shownBy.has(form)) shownBy.set(form, form.elements.shown.value)
}
remember()
document.addEventListener('htmx:afterSwap', remember)

/** Whether it is to be sent now. What cannot be read is not signed: the server says in the form what is wrong. */
async function sign(form) {
  if (shownBy.get(form) !== form.elements.shown.value) throw new Error('the form is not the one that was shown')
  const { shown, operationId, _input, _proof, _opener } = form.elements
  const { operation, approves, isSealed, ...call } = JSON.parse(shown.value)
  const given = Object.fromEntries(new FormData(form))
  _proof.value = ''
  if (unreadOf(call, given).length > 0) return true
  const input = inputOf(call, given)
  const key = await findKey(session)
  if (key === undefined) {
    // Somebody has logged in again, in another tab.
    keepTyped(form)
    location.reload()
    return false
  }
  _input.value = canonical(input)
  const reply = isSealed ? await newReplyKey() : undefined
  if (reply !== undefined) _opener.value = JSON.stringify(reply.opener)
  const signed = { operation, operationId: operationId.value, input, approves, sealTo: reply?.sealTo }
  _proof.value = await signCall(signed, { aud, iat: epochSeconds() }, key)
  return true
}

/** In the form, which stays as it is. */
function say(form, text) {
  form.querySelector('.notice')?.remove()
  const notice = Object.assign(document.createElement('p'), { className: 'notice refused', textContent: text })
  notice.setAttribute('role', 'alert')
  notice.tabIndex = -1
  const place = form.querySelector('.said') ?? form
  place.prepend(notice)
  notice.focus({ preventScroll: true })
  notice.scrollIntoView({ block: 'center' })
  return notice
}

/** Sent once more it acts once, so its button says that it is a second try. */
function sayNotKnown(form) {
  say(form, notKnown).dataset.unknown = ''
  nameTry(form)
}
const nameTry = (form) => {
  if (form.querySelector('[data-unknown]') !== null) form.querySelector('button').textContent = tryAgain
}

// htmx asks before it sends a form.
document.addEventListener('htmx:confirm', async (event) => {
  const { elt: form, issueRequest } = event.detail
  if (form.elements?.shown === undefined) return
  event.preventDefault()
  try {
    if (await sign(form)) issueRequest(true)
  } catch (error) {
    say(form, notSigned)
    throw error
  }
})

// Nobody answered, or something between here and the console did: a page of ours has its place for the form's answer.
for (const name of ['htmx:sendError', 'htmx:timeout', 'htmx:sendAbort'])
  document.addEventListener(name, ({ detail: { elt } }) => elt.matches('.decision form') && sayNotKnown(elt))
document.addEventListener('htmx:beforeSwap', ({ detail }) => {
  const { requestConfig, serverResponse } = detail
  if (/ (id="main"|class="said")/.test(serverResponse) || !requestConfig.elt.matches('.decision form')) return
  detail.shouldSwap = false
  sayNotKnown(requestConfig.elt)
})
// One logs in again, and finds what was typed.
document.addEventListener('htmx:beforeOnLoad', ({ detail: { elt, xhr } }) => {
  const leadsTo = xhr.getResponseHeader('HX-Redirect')
  if (/^\/(login|sign-in)\b/.test(leadsTo) && elt.matches('.decision form')) keepTyped(elt)
})
document.addEventListener('htmx:afterSettle', ({ target }) => {
  const form = target.closest('form')
  if (form !== null) nameTry(form)
})

/** What will be sent, beside its button: the amount as it is read, and the choice by its name. */
function echo(form) {
  const button = form.querySelector('button')
  button.dataset.label ??= button.textContent
  const chosen = form.querySelector('[type=radio]:checked')
  if (form.querySelector('[data-unknown]') === null) button.textContent = chosen?.dataset.button ?? button.dataset.label
  skipUnchosen(form)
  const field = form.querySelector('[data-currency]')
  if (field === null) return
  const isMeant = chosen === null || chosen.value === 'given'
  form.querySelector('.echo').textContent = isMeant ? amountText(field) : ''
}

/** Tab passes by what is filled in beside a choice while another one is made: a day and its time have seven stops. */
function skipUnchosen(form) {
  for (const field of form.querySelectorAll('.beside-option :is(input, select, textarea)')) {
    const { name } = optionBeside(field)
    const chosen = form.querySelector(`[name="${name}"]:checked`)
    field.tabIndex = chosen === null || chosen.value === 'given' ? 0 : -1
  }
}

/** What is filled in beside a choice is that choice. */
const optionBeside = (field) => field.closest('.beside-option')?.previousElementSibling?.querySelector('[type=radio]')

function amountText(field) {
  const { currency, plus, minus, unread } = field.dataset
  const text = field.value.trim()
  if (text === '') return ''
  const amount = amountOf(text, document.documentElement.lang)
  // Where it was refused, that stands beside the field already.
  if (amount === undefined) return field.matches('[aria-invalid]') ? '' : unread
  const [words, size] = amount.startsWith('-') ? [minus, amount.slice(1)] : [plus, amount]
  return words.replace('{amount}', new Intl.NumberFormat(format, { style: 'currency', currency }).format(size))
}

/** Begins a text with some sentences of those that a page has ready. What else stands in it is one's own. */
function begin(field, ready, chosen) {
  const own = ready.reduce((text, sentence) => text.replace(sentence, ''), field.value)
  field.value = [...chosen, own.replaceAll(/ {2,}/g, ' ').trim()].filter((part) => part !== '').join(' ')
}

document.addEventListener('change', ({ target }) => {
  if (target.matches('[data-says]')) {
    const outcomes = [...document.querySelectorAll('[data-says]')]
    const says = (those) => those.map(({ dataset }) => dataset.says)
    const chosen = says(outcomes.filter(({ checked }) => checked))
    for (const field of document.querySelectorAll('.decision [name=reason]')) begin(field, says(outcomes), chosen)
  }
  if (!target.matches('[data-ready]')) return
  const ready = [...target.options].map(({ value }) => value)
  begin(target.parentElement.querySelector('textarea'), ready, [target.value])
})

// What is shown while one has a case goes when that is over.
document.addEventListener('htmx:afterSwap', () => {
  for (const part of document.querySelectorAll('[data-lasts-ms]'))
    setTimeout(() => part.remove(), Number(part.dataset.lastsMs))
})

document.addEventListener('input', ({ target }) => {
  const form = target.closest('.decision form')
  if (form === null) return
  const option = optionBeside(target)
  if (option != null) option.checked = true
  echo(form)
})

/** Rows are chosen by name: their ids stand in the form, where they are read before they are signed. */
const chosenIds = () => document.querySelector('.decision [name=idsGiven]')
const idsIn = ({ value }) => new Set(value.split(/[\s,]+/).filter((id) => id !== ''))
function showChosen() {
  const field = chosenIds()
  if (field === null) return
  const ids = idsIn(field)
  for (const box of document.querySelectorAll('[data-choice]')) box.checked = ids.has(box.value)
}
document.addEventListener('change', ({ target }) => {
  const field = chosenIds()
  if (!target.matches('[data-choice]') || field === null) return
  const ids = idsIn(field)
  if (target.checked) ids.add(target.value)
  else ids.delete(target.value)
  field.value = [...ids].join('\n')
  field.dispatchEvent(new Event('input', { bubbles: true }))
})
document.addEventListener('input', ({ target }) => target === chosenIds() && showChosen())
document.addEventListener('htmx:afterSwap', showChosen)

/** Several forms, each signed and sent by itself. One whose outcome nobody knows is sent again under its own operation id. */
const boxes = () => [...document.querySelectorAll('.list [data-choice]')]
const formOf = ({ value }) => document.getElementById(`pay-${value}`)
const toPay = () => boxes().filter((box) => box.checked && !box.disabled && formOf(box) !== null)

function showRun() {
  const run = document.querySelector('[data-run]')
  const button = run?.querySelector('[data-run-button]')
  if (button == null) return
  const chosen = toPay()
  const sums = new Map()
  for (const box of chosen) {
    const { amount, currency } = formOf(box).dataset
    sums.set(currency, (sums.get(currency) ?? 0n) + BigInt(amount.replace('.', '')))
  }
  const texts = [...sums].map(([currency, minor]) => {
    const digits = String(minor).padStart(3, '0')
    const amount = `${digits.slice(0, -2)}.${digits.slice(-2)}`
    return new Intl.NumberFormat(format, { style: 'currency', currency }).format(amount)
  })
  const label = run.dataset.label.replace('{count}', chosen.length).replace('{sum}', texts.join(' + '))
  button.textContent = chosen.length === 0 ? run.dataset.none : label
  button.disabled = isPaying || chosen.length === 0
  const notPix = run.querySelector('[data-run-not-pix]')
  if (notPix !== null) notPix.hidden = chosen.every((box) => 'pix' in formOf(box).dataset)
}

async function payOne(box) {
  const form = formOf(box)
  if (!(await sign(form))) return 'login'
  const request = { method: 'POST', body: new URLSearchParams(new FormData(form)), redirect: 'manual' }
  const response = await fetch(form.action, { ...request, headers: { Accept: 'application/json' } })
  // It leads to a login, which may be too old by now.
  if (response.type === 'opaqueredirect' || response.status === 401) return 'login'
  return response.ok ? response.json() : { is: 'unknown', text: notKnown }
}

let isPaying = false
async function payChosen(run) {
  if (isPaying) return
  isPaying = true
  const button = run.querySelector('[data-run-button]')
  const said = run.querySelector('[data-run-said]')
  button.disabled = true
  const counts = { done: 0, refused: 0, unknown: 0 }
  for (const box of toPay()) {
    const outcome = await payOne(box).catch(() => ({ is: 'unknown', text: notKnown }))
    if (outcome === 'login') {
      said.textContent = run.dataset.again
      break
    }
    counts[outcome.is] += 1
    const place = box.closest('tr').querySelector('[data-field=outcome]')
    place.textContent = outcome.text
    place.className = `status s-${outcome.is}`
    // One that was refused is another one now: its page says what.
    if (outcome.is !== 'unknown') box.disabled = true
    said.textContent = `✓ ${counts.done} · ✗ ${counts.refused} · ? ${counts.unknown}`
  }
  isPaying = false
  showRun()
}

/** Saves the file for the bank, whose page this is. Whoever marks what stands in it as paid signs its digest too. */
async function saveFile({ href }) {
  const response = await fetch(href, { redirect: 'manual' })
  // Its page says why there is none, or leads to a login.
  if (!response.ok) return location.assign(href)
  const file = await response.blob()
  const digest = await fileDigest(await file.arrayBuffer())
  for (const { elements } of boxes().flatMap((box) => formOf(box) ?? [])) elements.paymentFile.value = digest
  const [, name] = /filename="([^"]+)"/.exec(response.headers.get('Content-Disposition')) ?? []
  Object.assign(document.createElement('a'), { href: URL.createObjectURL(file), download: name }).click()
}

document.addEventListener('click', (event) => {
  const link = event.target.closest('[data-run-file]')
  if (link === null) return
  event.preventDefault()
  saveFile(link)
})
document.addEventListener('change', ({ target }) => {
  if (target.matches('[data-choose-all]'))
    for (const box of boxes().filter((one) => !one.disabled && one.checked !== target.checked)) box.click()
  showRun()
})
document.addEventListener('click', ({ target }) => {
  const button = target.closest('[data-run-button]')
  if (button !== null) payChosen(button.closest('[data-run]'))
})
showRun()
document.addEventListener('htmx:afterSwap', showRun)

const echoAll = () => document.querySelectorAll('.decision form').forEach(echo)
document.addEventListener('htmx:afterSwap', echoAll)
restoreTyped()
echoAll()
showChosen()

const login = document.querySelector('form[action="/login"]')
login?.addEventListener('submit', async (event) => {
  event.preventDefault()
  try {
    const key = await newKey()
    await keepKey(key)
    login.elements.thumbprint.value = key.thumbprint
    login.submit()
  } catch (error) {
    say(login, notSigned)
    throw error
  }
})
if (login?.dataset.atOnce !== undefined) login.requestSubmit()

const delegation = document.querySelector('form[action="/delegation"]')
if (delegation !== null) {
  const { thumbprint, delegate, seconds } = delegation.dataset
  const key = await findKey(thumbprint)
  if (key === undefined) location.replace('/sign-in?why=key')
  else {
    await forgetKeys(thumbprint)
    const iat = epochSeconds()
    delegation.elements.delegation.value = await signDelegation({ aud, delegate, iat, exp: iat + Number(seconds) }, key)
    delegation.submit()
  }
}

const signOut = document.querySelector('form[action="/sign-out"]')
signOut?.addEventListener('submit', async (event) => {
  event.preventDefault()
  forgetTyped()
  await forgetKeys().catch(() => {})
  signOut.submit()
})

// The key may be gone: another profile of the browser, or its storage was cleared.
if (session !== undefined && (await findKey(session).catch(() => {})) === undefined)
  location.replace(`/sign-in?why=key&returnTo=${encodeURIComponent(location.pathname + location.search)}`)
