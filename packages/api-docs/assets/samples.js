// One language for all samples of the page. The other languages are fetched when they are chosen.
const { addresses } = JSON.parse(document.getElementById('page-data').textContent)
const panels = Array.from(document.querySelectorAll('.sample'))
const pageLanguage = document.documentElement.dataset.language
const storedName = 'docs-language'

/** For each language that was shown: the code of every sample. Where it has none, there is that of another. */
const shown = new Map([[pageLanguage, codeOf(document)]])
/** What stands for the key in code: the placeholder, or a key that was filled in before. */
const anyKey = /bk_test_(?:\.\.\.|[\w…]+)/g
/** The reader's key, never the secret: in this tab alone, and gone with it. */
let key
const storedKeyName = 'docs-sandbox-key'

function codeOf(page) {
  return new Map(Array.from(page.querySelectorAll('code[data-sample]'), (code) => [code.dataset.sample, code]))
}

/** As a document and not as text, so that nothing here turns text into elements. */
function fetchDocument(address) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest()
    request.open('GET', address)
    request.responseType = 'document'
    request.onload = () => (request.status === 200 && request.response ? resolve(request.response) : reject())
    request.onerror = reject
    request.send()
  })
}

let wanted
/** @returns whether the language is shown now */
async function choose(language) {
  wanted = language
  if (!shown.has(language)) {
    const page = await fetchDocument(`${addresses.samples}/${language}.html`).catch(() => null)
    if (page === null) return false
    shown.set(language, codeOf(page))
  }
  if (wanted !== language) return true
  for (const panel of panels) {
    const code = shown.get(language).get(panel.dataset.sample)
    const pre = panel.querySelector('pre')
    if (code) pre.replaceChildren(document.adoptNode(code))
    pre.scrollTo(0, 0)
    showTab(panel)
    document.dispatchEvent(new CustomEvent('sample-shown', { detail: pre }))
  }
  fillKey()
  return true
}

/** Marks the tab of the language that the panel has. */
function showTab(panel) {
  const { language } = panel.querySelector('pre > code').dataset
  for (const tab of panel.querySelectorAll('.tabs a')) {
    const chosen = tab.dataset.language === language
    tab.setAttribute('aria-selected', String(chosen))
    tab.tabIndex = chosen ? 0 : -1
  }
}

function fillKey() {
  if (key === undefined) return
  for (const code of document.querySelectorAll('main pre')) {
    const walker = document.createTreeWalker(code, NodeFilter.SHOW_TEXT)
    for (let node = walker.nextNode(); node !== null; node = walker.nextNode())
      if (node.data.includes('bk_test_')) node.data = node.data.replaceAll(anyKey, key)
  }
}

// The tester says which key it was given.
document.addEventListener('sandbox-key', ({ detail }) => {
  key = detail
  fillKey()
  try {
    sessionStorage.setItem(storedKeyName, key)
  } catch {
    // The key then lasts as long as the page.
  }
})

/** The choice of a reader: the block that was chosen at stays where it is, though those above change their height. */
async function chooseAt(tab) {
  const before = tab.getBoundingClientRect().top
  const language = tab.dataset.language
  if (!(await choose(language))) return location.assign(tab.href)
  scrollBy({ top: tab.getBoundingClientRect().top - before, behavior: 'instant' })
  try {
    localStorage.setItem(storedName, language)
  } catch {
    // The choice then lasts as long as the page.
  }
}

for (const panel of panels) {
  const pre = panel.querySelector('pre')
  const list = panel.querySelector('.tabs')
  const tabs = Array.from(list.querySelectorAll('a'))
  pre.id = `sample-${panel.dataset.sample}`
  list.setAttribute('role', 'tablist')
  for (const tab of tabs) {
    tab.parentElement.setAttribute('role', 'presentation')
    tab.setAttribute('role', 'tab')
    tab.setAttribute('aria-controls', pre.id)
    tab.removeAttribute('aria-current')
    tab.addEventListener('click', (event) => {
      if (event.metaKey || event.ctrlKey || event.shiftKey) return
      event.preventDefault()
      chooseAt(tab)
    })
  }
  showTab(panel)
  list.addEventListener('keydown', (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key]
    if (step === undefined) return
    event.preventDefault()
    const next = tabs.at((tabs.indexOf(document.activeElement) + step) % tabs.length)
    next.focus()
    chooseAt(next)
  })
}

function stored(storage, name) {
  try {
    return window[storage].getItem(name)
  } catch {
    return null
  }
}
const storedKey = stored('sessionStorage', storedKeyName)
if (/^bk_test_\w+$/.test(storedKey ?? '')) {
  key = storedKey
  document.getElementById('tester-key').value = key
  fillKey()
}
// A page in a language of its own was asked for by its address.
const remembered = stored('localStorage', storedName)
const known = document.querySelector(`.tabs [data-language="${CSS.escape(remembered ?? '')}"]`)
if (known && pageLanguage === 'curl' && remembered !== pageLanguage) choose(remembered)
