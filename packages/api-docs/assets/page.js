// What makes the page more comfortable to read. Without this script it is whole, too.
const element = (id) => document.getElementById(id)
const { addresses } = JSON.parse(element('page-data').textContent)
const systemIsDark = matchMedia('(prefers-color-scheme: dark)')
const root = document.documentElement

/** Stores the choice for the next visit, where the browser allows it. */
function keep(name, value) {
  try {
    if (value === null) localStorage.removeItem(name)
    else localStorage.setItem(name, value)
  } catch {
    // The choice then lasts as long as the page.
  }
}

/** What is stored as JSON, or this in its place. */
function stored(name, otherwise) {
  try {
    return JSON.parse(localStorage.getItem(name)) ?? otherwise
  } catch {
    return otherwise
  }
}

// --- dark or light ---

const isDark = () => (root.dataset.theme ?? (systemIsDark.matches ? 'dark' : 'light')) === 'dark'
const showTheme = () => element('theme').setAttribute('aria-pressed', String(isDark()))
element('theme').addEventListener('click', () => {
  const dark = !isDark()
  // Who chooses what the system says follows the system again.
  const follows = dark === systemIsDark.matches
  if (follows) delete root.dataset.theme
  else root.dataset.theme = dark ? 'dark' : 'light'
  keep('docs-theme', follows ? null : root.dataset.theme)
  showTheme()
})
systemIsDark.addEventListener('change', showTheme)
showTheme()

// --- contents ---

const contents = element('contents')
contents.addEventListener('click', (event) => {
  if (event.target.closest('a') && contents.matches(':popover-open')) contents.hidePopover()
})

const links = new Map(
  Array.from(document.querySelectorAll(':is(#contents, .chapters) a[href^="#"]'), (link) => [
    link.getAttribute('href').slice(1),
    link,
  ]),
)
const sections = Array.from(document.querySelectorAll('main > section'))
/** The heading in the contents that a section stands under: its own, or the nearest before it that is listed. */
const listed = new Map()
let nearest
for (const section of sections) {
  nearest = links.get(section.querySelector('h2, h3')?.id) ?? nearest
  listed.set(section, nearest)
}
const inView = new Set()
let marked
function markCurrent() {
  const link = listed.get(sections.find((section) => inView.has(section)))
  if (link === marked) return
  marked?.removeAttribute('aria-current')
  link?.setAttribute('aria-current', 'location')
  marked = link
  if (!contents.contains(link ?? null) || contents.scrollHeight <= contents.clientHeight) return
  const [outer, inner] = [contents.getBoundingClientRect(), link.getBoundingClientRect()]
  if (inner.top < outer.top + 40 || inner.bottom > outer.bottom - 40)
    contents.scrollTop += inner.top - outer.top - outer.height / 3
}
// A section is current while it reaches into the strip below the header.
const observer = new IntersectionObserver(
  (entries) => {
    for (const { target, isIntersecting } of entries) {
      if (isIntersecting) inView.add(target)
      else inView.delete(target)
    }
    markCurrent()
  },
  { rootMargin: '-90px 0px -75% 0px' },
)
for (const section of sections) observer.observe(section)

// --- code and tables ---

for (const caption of document.querySelectorAll('.panel > figcaption')) {
  if (navigator.clipboard === undefined) break
  const button = document.createElement('button')
  button.type = 'button'
  button.className = 'copy'
  button.textContent = 'Copy'
  button.setAttribute('aria-label', `Copy ${caption.textContent}`)
  button.addEventListener('click', () => copy(button, caption.parentElement.querySelector('pre').textContent))
  caption.append(button)
}

const copiedShownMs = 2000
async function copy(button, text) {
  const name = button.getAttribute('aria-label')
  button.textContent = await navigator.clipboard.writeText(text).then(
    () => 'Copied',
    () => 'Not allowed',
  )
  button.removeAttribute('aria-label')
  setTimeout(() => {
    button.textContent = 'Copy'
    button.setAttribute('aria-label', name)
  }, copiedShownMs)
}

/** What scrolls can be scrolled by keyboard; what does not is no stop on the way. */
function reachable(scroller) {
  const scrolls = scroller.scrollWidth > scroller.clientWidth + 1 || scroller.scrollHeight > scroller.clientHeight + 1
  if (scrolls === (scroller.tabIndex === 0)) return
  if (scrolls) {
    scroller.tabIndex = 0
    scroller.setAttribute('role', 'group')
    scroller.ariaLabel = scroller.parentElement.querySelector('figcaption')?.firstChild.textContent ?? 'Table'
  } else for (const name of ['tabindex', 'role', 'aria-label']) scroller.removeAttribute(name)
}
const resized = new ResizeObserver((entries) => {
  for (const { target } of entries) reachable(target.closest('.panel > pre, .table') ?? target)
})
for (const scroller of document.querySelectorAll('.panel > pre, .table')) {
  resized.observe(scroller)
  // The code or table inside may change while the box around it keeps its size.
  resized.observe(scroller.firstElementChild)
}
document.addEventListener('sample-shown', ({ detail }) => reachable(detail))

// --- checklists ---

const boxes = new Map(
  Array.from(document.querySelectorAll('.checklist input'), (box) => [box.parentElement.textContent, box]),
)
/** What was ticked, by its text: a check that changes is to be made anew. */
const ticked = () => Array.from(boxes.keys()).filter((text) => boxes.get(text).checked)
for (const text of [stored('docs-checked', [])].flat()) {
  const box = boxes.get(text)
  if (box) box.checked = true
}
for (const box of boxes.values())
  box.addEventListener('change', () => {
    const texts = ticked()
    keep('docs-checked', texts.length > 0 ? JSON.stringify(texts) : null)
  })

// --- search, which is loaded when it is first opened ---

let search
async function openSearch() {
  search ??= import(addresses.search).then(({ createSearch }) => createSearch(addresses))
  await search.then(
    (dialog) => dialog.open(),
    () => {
      search = undefined
      // Some browsers do not load a script again that could not be loaded once.
      element('search-note').textContent = 'The search could not be loaded. Reload this page to try again.'
      if (!element('search').open) element('search').showModal()
    },
  )
}
// The providers' page has neither search nor tester.
element('search-open')?.addEventListener('click', openSearch)
document.addEventListener('keydown', (event) => {
  const typing = event.target.closest?.('input, textarea, select, [contenteditable]')
  const shortcut = (event.key === 'k' && (event.metaKey || event.ctrlKey)) || (event.key === '/' && !typing)
  if (!shortcut || element('search') === null || element('tester').open) return
  event.preventDefault()
  openSearch()
})
