// The demonstration game. The server decides every outcome; this page asks for it and shows it.
const element = (id) => document.getElementById(id)
const token = location.hash.slice(1)
const reels = Array.from(document.querySelectorAll('.reel'))
const turnMs = matchMedia('(prefers-reduced-motion: reduce)').matches ? 150 : 700
const pays = ['three: ×200, two: ×8', 'three: ×65', 'three: ×27', 'three: ×13', 'three: ×6']
let session

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
  if (!response.ok) throw new Error(reply.error)
  return reply
}

const explanations = {
  expired: 'This session has expired. Open the game again.',
  balance: 'The balance does not cover this stake.',
}

function explain(error) {
  element('message').textContent = explanations[error.message] ?? 'No connection. Try again.'
  if (error.message === 'expired') element('spin').disabled = true
}

const svg = (name) => document.createElementNS('http://www.w3.org/2000/svg', name)

/** A drawn symbol, so that no font has to have it. */
function drawn({ color, path }) {
  const picture = svg('svg')
  const outline = svg('path')
  picture.setAttribute('viewBox', '0 0 100 100')
  picture.setAttribute('aria-hidden', 'true')
  outline.setAttribute('d', path)
  outline.setAttribute('fill', color)
  outline.setAttribute('fill-rule', 'evenodd')
  picture.append(outline)
  return picture
}

function showStakes(stakes) {
  stakes.forEach(({ value, label }, index) => {
    const choice = document.createElement('label')
    const input = document.createElement('input')
    const text = document.createElement('span')
    Object.assign(input, { type: 'radio', name: 'stake', value, checked: index === 0 })
    text.textContent = label
    choice.append(input, text)
    element('stakes').append(choice)
  })
}

function show({ name, symbols, colors, stakes, balance }) {
  document.title = `${name} · demonstration`
  document.documentElement.style.setProperty('--from', colors.from)
  document.documentElement.style.setProperty('--to', colors.to)
  element('name').textContent = name
  element('balance').textContent = balance
  reels.forEach((reel, index) => {
    reel.replaceChildren(drawn(symbols[index]))
  })
  showStakes(stakes)
  symbols.forEach((symbol, index) => {
    const line = document.createElement('li')
    line.append(drawn(symbol), ` ${symbol.name}, ${pays[index]}`)
    element('pays').append(line)
  })
  element('spin').disabled = false
  element('message').textContent = 'Choose a stake and spin.'
}

async function spin() {
  const stake = Number(document.querySelector('input[name=stake]:checked').value)
  element('spin').disabled = true
  element('message').textContent = ' '
  for (const reel of reels) {
    reel.classList.remove('won')
    reel.classList.add('turning')
  }
  try {
    const [outcome] = await Promise.all([
      call('/play/spin', { stake }),
      new Promise((resolve) => setTimeout(resolve, turnMs)),
    ])
    stop(outcome)
  } catch (error) {
    explain(error)
  } finally {
    for (const reel of reels) reel.classList.remove('turning')
    if (!element('message').textContent.includes('expired')) element('spin').disabled = false
    element('spin').focus()
  }
}

function stop({ line, win, balance }) {
  const won = Number(win) > 0
  reels.forEach((reel, index) => {
    reel.replaceChildren(drawn(session.symbols[line[index]]))
    // Two of the rarest pay as a pair; otherwise all three are alike.
    const alike = line.every((symbol) => symbol === line[0])
    if (won && (alike || line[index] === 0)) reel.classList.add('won')
  })
  element('reels').setAttribute('aria-label', line.map((symbol) => session.symbols[symbol].name).join(', '))
  element('balance').textContent = balance
  element('message').textContent = won ? `You win ${win}!` : 'No win this time.'
}

element('spin').addEventListener('click', spin)
try {
  session = await call('/play/session')
  show(session)
} catch (error) {
  element('name').textContent = 'Demonstration game'
  explain(error)
}
