// Makes the key of a login, and signs what a person decides. The server gets signatures, and never the key.

import { findKey, forgetKeys, keepKey } from './keys.js'
import { canonical, inputOf, newKey, newReplyKey, signCall, signDelegation } from './signing.js'

const { session, now, notSigned } = document.body.dataset
const aud = location.origin

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

/** Whether it is signed now. */
async function sign(form) {
  if (shownBy.get(form) !== form.elements.shown.value) throw new Error('the form is not the one that was shown')
  const { shown, operationId, _input, _proof, _opener } = form.elements
  const { operation, approves, isSealed, ...call } = JSON.parse(shown.value)
  const input = inputOf(call, Object.fromEntries(new FormData(form)))
  const key = await findKey(session)
  // Somebody has logged in again, in another tab.
  if (key === undefined) return location.reload()
  _input.value = canonical(input)
  const reply = isSealed ? await newReplyKey() : undefined
  if (reply !== undefined) _opener.value = JSON.stringify(reply.opener)
  const signed = { operation, operationId: operationId.value, input, approves, sealTo: reply?.sealTo }
  _proof.value = await signCall(signed, { aud, iat: epochSeconds() }, key)
  return true
}

function sayNotSigned(form) {
  form.querySelector('.notice')?.remove()
  const notice = Object.assign(document.createElement('p'), { className: 'notice refused', textContent: notSigned })
  notice.setAttribute('role', 'alert')
  form.prepend(notice)
}

// htmx asks before it sends a form.
document.addEventListener('htmx:confirm', async (event) => {
  const { elt: form, issueRequest } = event.detail
  if (form.elements?.shown === undefined) return
  event.preventDefault()
  try {
    if (await sign(form)) issueRequest(true)
  } catch (error) {
    sayNotSigned(form)
    throw error
  }
})

const login = document.querySelector('form[action="/login"]')
login?.addEventListener('submit', async (event) => {
  event.preventDefault()
  try {
    const key = await newKey()
    await keepKey(key)
    login.elements.thumbprint.value = key.thumbprint
    login.submit()
  } catch (error) {
    sayNotSigned(login)
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
  await forgetKeys().catch(() => {})
  signOut.submit()
})

// The key may be gone: another profile of the browser, or its storage was cleared.
if (session !== undefined && (await findKey(session).catch(() => {})) === undefined)
  location.replace(`/sign-in?why=key&returnTo=${encodeURIComponent(location.pathname + location.search)}`)
