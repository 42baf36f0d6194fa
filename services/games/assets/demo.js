// The demonstration game. The server decides every outcome; this page asks for it and shows it. Money comes as decimal
// strings, and stays strings.
import { languageNames, preferredLanguage, symbolNames, words } from './words.js'

const element = (id) => document.getElementById(id)
const token = location.hash.slice(1)
const reels = Array.from(document.querySelectorAll('.reel'))
/** So many minutes before its end the player is told, once each. */
const warningMinutes = [5, 1]
const nothing = '0.00'
/** What ends the session besides its time: the player, or the game, may not play any more. */
const endings = ['excluded', 'overLimit', 'inactive', 'unchecked', 'suspended']
/** An unknown spin is asked for again after each of these, the last one over and over, so many times in all. */
const askAgainMs = [1_000, 2_000, 5_000]
const askAgainMax = 20
const restless = matchMedia('(prefers-reduced-motion: no-preference)')

let language = preferredLanguage(navigator.languages)
let session
let line = [0, 1, 2]
let message = { word: 'loading' }
let clockAheadMs = 0
let counting
let minutesAnnounced
let isTurning = false
let hasEnded = false
let endedBy

const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms))
const say = (word, values = {}) => words[language][word].replace(/\{(\w+)\}/g, (_, name) => values[name])
/** A game of the wallet's money numbers its spins; the others have a fictitious balance. */
const isOfWallet = () => session?.spin !== undefined
/** What is said in other words where the wallet is staked: `openAgain`, or `walletOpenAgain`. */
const sayOfMoney = (word) => say(isOfWallet() ? `wallet${word[0].toUpperCase()}${word.slice(1)}` : word)
/** A string is formatted as it is, and never becomes a floating-point number. Fictitious money has no currency. */
function amount(decimal) {
  const style = isOfWallet() ? { style: 'currency', currency: session.currency } : { minimumFractionDigits: 2 }
  return new Intl.NumberFormat(language, style).format(decimal)
}

async function call(path, body) {
  const response = await fetch(path, {
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      Authorization: `Bearer ${token}`,
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    cache: 'no-store',
  })
  const reply = await response.json()
  if (!response.ok) throw Object.assign(new Error(reply.error), { spin: reply.spin })
  // The time that is left is counted by the server's clock, which a wrong clock of the player's does not change.
  clockAheadMs = Date.parse(reply.now) - Date.now()
  return reply
}

const tag = (name, properties = {}, ...children) => {
  const made = Object.assign(document.createElement(name), properties)
  made.append(...children)
  return made
}

/** A drawn symbol, so that no font has to have it. */
function drawn({ color, path }) {
  const [picture, outline] = ['svg', 'path'].map((name) => document.createElementNS('http://www.w3.org/2000/svg', name))
  picture.setAttribute('viewBox', '0 0 100 100')
  picture.setAttribute('aria-hidden', 'true')
  outline.setAttribute('d', path)
  outline.setAttribute('fill', color)
  outline.setAttribute('fill-rule', 'evenodd')
  picture.append(outline)
  return picture
}

function showWords() {
  document.documentElement.lang = language
  for (const worded of document.querySelectorAll('[data-word]')) worded.textContent = say(worded.dataset.word)
  const other = Object.keys(languageNames).find((name) => name !== language)
  Object.assign(element('language'), { textContent: languageNames[other], lang: other })
  element('name').textContent = session?.name ?? say('untitled')
  element('badge').textContent = session === undefined ? say('untitled') : sayOfMoney('badge')
  element('fairness').textContent = session === undefined ? '' : sayOfMoney('fairness')
  document.title = session === undefined ? say('untitled') : `${session.name} · ${sayOfMoney('demonstration')}`
  showMessage()
  if (hasEnded) showEnd()
  if (session === undefined) return
  for (const shown of document.querySelectorAll('[data-amount]')) shown.textContent = amount(shown.dataset.amount)
  showPays()
  describeReels()
}

function showMessage() {
  const { word, win } = message
  // An empty line keeps its height.
  element('message').textContent = word === undefined ? '\u00a0' : say(word, win && { win: amount(win) })
}

function tell(word, values = {}) {
  message = { word, ...values }
  showMessage()
}

function showBalance(balance) {
  session.balance = balance
  element('balance').dataset.amount = balance
  element('balance').textContent = amount(balance)
}

function showPays() {
  const lines = session.symbols.map((symbol, index) => {
    const pays = [say('threePay', symbol), ...(index === 0 ? [say('twoPay', { pays: session.pairPays })] : [])]
    return tag('li', {}, drawn(symbol), ` ${symbolNames[language][symbol.name]}: ${pays.join(', ')}`)
  })
  element('pays').replaceChildren(...lines)
}

const describeReels = () => {
  const names = line.map((index) => symbolNames[language][session.symbols[index].name])
  element('reels').setAttribute('aria-label', `${say('reels')}: ${names.join(', ')}`)
}

/** Shows the game as the server has just described it. */
function show() {
  const { symbols, colors, stakes, balance } = session
  document.documentElement.style.setProperty('--from', colors.from)
  document.documentElement.style.setProperty('--to', colors.to)
  reels.forEach((reel, index) => {
    reel.replaceChildren(drawn(symbols[line[index]]))
  })
  stakes.forEach(({ value, label }, index) => {
    const input = tag('input', { type: 'radio', name: 'stake', value, checked: index === 0 })
    const text = tag('span')
    text.dataset.amount = label
    element('stakes').append(tag('label', {}, input, text))
  })
  showBalance(balance)
  element('spin').disabled = false
  element('clock').hidden = false
  tell('invitation')
  showWords()
  counting = setInterval(showTimeLeft, 250)
  showTimeLeft()
}

function showTimeLeft() {
  const leftMs = Math.max(0, Date.parse(session.expiresAt) - Date.now() - clockAheadMs)
  const seconds = Math.ceil(leftMs / 1_000)
  const minutes = Math.floor(seconds / 60)
  element('left').textContent = `${minutes}:${String(seconds % 60).padStart(2, '0')}`
  const warning = warningMinutes.findLast((limit) => seconds <= limit * 60)
  element('clock').classList.toggle('late', warning !== undefined)
  if (warning !== minutesAnnounced) {
    minutesAnnounced = warning
    element('notice').textContent = warning === undefined ? '' : say('minutesLeft', { minutes: warning })
  }
  // A spin that is on its way may still be in time: its reply says so.
  if (leftMs === 0 && !isTurning) end()
}

/** The session is over, which nothing on this page can change. */
function end(why) {
  if (hasEnded) return
  hasEnded = true
  endedBy = why
  clearInterval(counting)
  const wasPlaying = isTurning || element('panel').contains(document.activeElement)
  for (const id of ['panel', 'clock']) element(id).hidden = true
  tell()
  element('ended').hidden = false
  showWords()
  if (wasPlaying) element('ended').focus()
}

function showEnd() {
  const balance = session && say('lastBalance', { balance: amount(session.balance) })
  const texts = [endedBy && say(endedBy), balance, endedBy === undefined && sayOfMoney('openAgain')]
  const shown = texts.filter((text) => text).map((text) => tag('p', {}, text))
  element('ended').replaceChildren(tag('h2', {}, say('ended')), ...shown)
}

function explain({ message: error }) {
  if (error === 'expired') end()
  else if (endings.includes(error)) end(error)
  else tell(['balance', 'limited', 'refused'].includes(error) ? error : 'disconnected')
}

/**
 * Asks for a spin. One that stakes the wallet's money may have been booked although no answer came: it is asked for again, the
 * same, until its outcome is known.
 * @returns undefined when it is not known after a while, or was played in another window
 */
async function play(stake) {
  if (!isOfWallet()) return call('/play/spin', { stake })
  const asked = { stake, spin: session.spin }
  for (let count = 0; ; count++) {
    try {
      const outcome = await call('/play/spin', asked)
      session.spin = outcome.spin
      return outcome.isOld && count === 0 ? reopen('elsewhere') : outcome
    } catch (error) {
      const { message: said, spin } = error
      // Without a connection nobody knows what has arrived. What refuses a later copy says nothing about the first.
      const isUnknown =
        said === 'asking' || said === 'internal' || error instanceof TypeError || error instanceof SyntaxError
      const isRepeated = count > 0 && ['limited', 'unavailable'].includes(said)
      if (!isUnknown && !isRepeated) {
        session.spin = spin ?? session.spin
        if (said === 'elsewhere') return reopen(said)
        throw error
      }
      if (count === askAgainMax) return reopen('unknown')
      tell('asking')
      await wait(askAgainMs[Math.min(count, askAgainMs.length - 1)])
    }
  }
}

/** Asks what the balance is now, and which spin is next. */
async function reopen(why) {
  const { balance, spin } = await call('/play/session')
  session.spin = spin
  showBalance(balance)
  tell(why)
}

async function spin() {
  const chosen = document.querySelector('input[name=stake]:checked')
  isTurning = true
  element('spin').disabled = true
  tell()
  for (const reel of reels) {
    reel.classList.remove('won')
    reel.classList.add('turning')
  }
  try {
    const turned = wait(restless.matches ? 500 : 150)
    const outcome = await play(Number(chosen.value))
    await turned
    if (outcome !== undefined) await stop(outcome)
  } catch (error) {
    explain(error)
  } finally {
    isTurning = false
    for (const reel of reels) reel.classList.remove('turning')
    if (!hasEnded) {
      element('spin').disabled = false
      // A disabled button loses the focus. Who has gone elsewhere in the meantime stays there.
      if (document.activeElement === document.body) element('spin').focus()
    }
  }
}

/** The reels stop one after another, and then the player hears what he has won. */
async function stop({ line: drawnLine, win, balance }) {
  line = drawnLine
  for (const [index, reel] of reels.entries()) {
    if (restless.matches) await wait(200)
    reel.classList.remove('turning')
    reel.replaceChildren(drawn(session.symbols[line[index]]))
  }
  // Two of the rarest pay as a pair; otherwise all three are alike.
  const alike = line.every((symbol) => symbol === line[0])
  reels.forEach((reel, index) => {
    reel.classList.toggle('won', win !== nothing && (alike || line[index] === 0))
  })
  describeReels()
  showBalance(balance)
  if (win === nothing) tell('lost')
  else tell('won', { win })
}

element('spin').addEventListener('click', spin)
element('language').addEventListener('click', () => {
  language = element('language').lang
  showWords()
})
async function open() {
  element('again').hidden = true
  element('spin').hidden = false
  tell('loading')
  try {
    session = await call('/play/session')
    show()
  } catch (error) {
    explain(error)
    if (hasEnded) return
    element('spin').hidden = true
    element('again').hidden = false
  }
}

element('again').addEventListener('click', open)
showWords()
await open()
