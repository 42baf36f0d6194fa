// What the pages do besides being pages: keys, live counts, and where the focus goes. Everything can be read without it,
// with more clicks. What is decided is signed: forms.js.

const rows = () => [...document.querySelectorAll('[data-row]')]
/** What a row is about. It may have other links, such as a document's. */
const linkOf = (row) => (row.matches('a') ? row : row.querySelector('.open a'))
/** What was compared, or chosen, is marked on the way: the keys of the page work there too. */
const isTyping = ({ target }) =>
  target instanceof Element && target.closest('input:not([data-says], [data-choice]), textarea, select') !== null

/** The row that j and k have come to has the focus on its link, so that Enter opens it and a reader says it. */
function move(step) {
  const all = rows()
  const now = all.findIndex((row) => row.contains(document.activeElement))
  const next = all[Math.min(Math.max(now + step, 0), all.length - 1)]
  if (next === undefined) return
  linkOf(next)?.focus()
  next.scrollIntoView({ block: 'nearest' })
}

/** Goes to its first field, or to its button. One more key is needed to do it, unless it only shows. */
function openDecision(decision) {
  decision.open = true
  decision.querySelector('textarea, select:not([data-ready]), input:not([type=hidden]), form button, a.button')?.focus()
  if ('atOnce' in decision.dataset) decision.querySelector('form')?.requestSubmit()
}

function openByKey(key) {
  const decision = document.querySelector(`details[data-key="${CSS.escape(key)}"]`)
  if (decision !== null) openDecision(decision)
  return decision !== null
}

/** By mouse as by key. A finger would call up a keyboard that hides the effect; who tabs there hears the effect next. */
document.addEventListener('click', (event) => {
  const decision = event.target instanceof Element ? event.target.closest('.decision > summary')?.parentElement : null
  if (decision == null || decision.open || event.pointerType !== 'mouse') return
  event.preventDefault()
  openDecision(decision)
})

/** From where it is said what is wrong, to the form that asks for something else. */
document.addEventListener('click', (event) => {
  const link = event.target instanceof Element ? event.target.closest('[data-opens]') : null
  if (link !== null && openByKey(link.dataset.opens)) event.preventDefault()
})

const lateMs = 4_000

/**
 * A document that its server does not send. Of one that is refused no browser tells a page: what to do then stands there
 * always.
 */
function watchDocument() {
  const [frame, late] = [document.querySelector('.document iframe'), document.querySelector('[data-late]')]
  if (frame === null) return
  const say = (isLate) => {
    late.hidden = !isLate
    late.parentElement.classList.toggle('late', isLate)
  }
  frame.addEventListener('load', () => say(false))
  // It is not asked for before it is in sight.
  const seen = new IntersectionObserver((all) => {
    if (!all.some(({ isIntersecting }) => isIntersecting)) return
    seen.disconnect()
    setTimeout(() => say(performance.getEntriesByName(frame.src).length === 0), lateMs)
  })
  seen.observe(frame)
}
watchDocument()

const help = () => document.querySelector('#help')

document.addEventListener('keydown', (event) => {
  if (help()?.open === true) return
  // Where a field has the focus too: people have it from other programs.
  if ((event.ctrlKey || event.metaKey) && event.key === 'k') {
    event.preventDefault()
    document.querySelector('#search')?.focus()
  }
  if (event.ctrlKey || event.metaKey || event.altKey) return
  if (event.key === 'Escape' && isTyping(event)) event.target.blur()
  if (isTyping(event)) return
  if (event.key === 'j') move(1)
  else if (event.key === 'k') move(-1)
  else if (event.key === 'x') document.activeElement?.closest('[data-row]')?.querySelector('[data-choice]')?.click()
  else if (event.key === '/') document.querySelector('#search')?.focus()
  else if (event.key === 'n') document.querySelector('[data-next]')?.click()
  else if (event.key === '?') help()?.showModal()
  else if (event.key === 'Escape') document.querySelector('[data-back]')?.click()
  else if (event.key.length !== 1 || !openByKey(event.key)) return
  event.preventDefault()
})

/** A click anywhere in a row opens it. */
document.addEventListener('click', (event) => {
  const row = event.target instanceof Element ? event.target.closest('tr[data-row]') : null
  if (row === null || event.target.closest('a, button, .choose') !== null || String(getSelection()) !== '') return
  linkOf(row)?.click()
})

/** Browsers write the days of fields in an order of their own: beside the field, the day stands in words. */
function sayDay(field) {
  const place = field.parentElement.querySelector('output.in-words')
  if (place === null) return
  const { format } = document.body.dataset
  const time = new Date(`${field.value.length > 10 ? field.value : `${field.value}T12:00`}Z`)
  const clock = field.type === 'datetime-local' ? { timeStyle: 'short' } : {}
  const words = () => time.toLocaleString(format, { dateStyle: 'full', ...clock, timeZone: 'UTC' })
  place.textContent = Number.isNaN(time.getTime()) ? '' : words()
}
document.addEventListener(
  'input',
  ({ target }) => target.matches('[type=date], [type=datetime-local]') && sayDay(target),
)

/** What is shown once is copied with a click, rather than marked by hand with a letter left out. */
document.addEventListener('click', async ({ target }) => {
  const button = target instanceof Element ? target.closest('[data-copy]') : null
  if (button === null) return
  await navigator.clipboard.writeText(button.dataset.copy)
  button.textContent = button.dataset.copied
})

/** Something that goes on says how far it is. When it has ended, its page has the result. */
function follow() {
  const running = document.querySelector('[data-progress]')
  if (running === null) return
  const source = new EventSource(running.dataset.progress)
  const bar = running.querySelector('progress')
  source.addEventListener('progress', ({ data }) => {
    const { name, done, total } = JSON.parse(data)
    running.querySelector('[data-check]').textContent = name
    if (total > 0) Object.assign(bar, { max: total, value: done })
    else bar.removeAttribute('value')
  })
  source.addEventListener('ended', () => {
    source.close()
    location.assign(running.dataset.page)
  })
  addEventListener('pagehide', () => source.close())
}
follow()

/** The rest of a page, which was shown before all its services had answered. */
const isRest = ({ requestConfig }) => requestConfig.elt.matches('[data-rest]')
document.addEventListener('htmx:beforeSwap', ({ detail }) => {
  if (!isRest(detail)) return
  // Whoever works in the page already goes on in it, and loads the whole by the link.
  const isInUse = document.querySelector('#page :focus, #page :is(.decision, .folded, .figures)[open]') !== null
  if (isInUse || detail.xhr.status !== 200 || !/ id="page"/.test(detail.serverResponse)) detail.shouldSwap = false
})

/** What became of a form, or why a page cannot be shown: a screen reader reads what has the focus. */
function focusOutcome(place) {
  const said = place.querySelector('[data-outcome]') ?? place
  said.setAttribute('tabindex', '-1')
  said.focus({ preventScroll: true })
  said.scrollIntoView({ block: said === place ? 'start' : 'center' })
}
document.addEventListener('htmx:afterSettle', ({ target, detail }) => {
  if (!isRest(detail)) focusOutcome(target)
  follow()
  watchDocument()
})
const fault = document.querySelector('#main .refused[data-outcome]')
if (fault !== null) focusOutcome(fault.parentElement)

const live = document.body.dataset.live
if (live !== undefined) {
  const source = new EventSource(live)
  source.addEventListener('counts', ({ data }) => {
    for (const [name, count] of Object.entries(JSON.parse(data)))
      for (const place of document.querySelectorAll(`[data-count="${CSS.escape(name)}"]`))
        place.textContent = count === 0 && place.closest('.pages') !== null ? '' : count
  })
  addEventListener('pagehide', () => source.close())
}
