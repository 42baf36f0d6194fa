// Search over all pages. Loaded, with the index, when it is first opened.
const element = (id) => document.getElementById(id)
const resultsMax = 12
/** Characters around the first hit that a result shows. */
const excerptBefore = 40
const excerptLength = 140

export async function createSearch(addresses) {
  const [{ default: MiniSearch }, response] = await Promise.all([
    import(addresses.minisearch),
    fetch(addresses.searchIndex),
  ])
  const { options, index } = await response.json()
  const sections = MiniSearch.loadJS(index, options)
  const [dialog, input, list, note] = ['search', 'search-text', 'search-results', 'search-note'].map(element)
  let active = -1

  function show() {
    const hits = input.value.trim() === '' ? [] : sections.search(input.value).slice(0, resultsMax)
    list.replaceChildren(...hits.map(result))
    input.setAttribute('aria-expanded', String(hits.length > 0))
    note.textContent =
      input.value.trim() !== '' && hits.length === 0 ? `Nothing found for “${input.value.trim()}”.` : ''
    activate(hits.length > 0 ? 0 : -1)
  }

  function activate(position) {
    list.children[active]?.setAttribute('aria-selected', 'false')
    active = position
    const option = list.children[active]
    option?.setAttribute('aria-selected', 'true')
    option?.scrollIntoView({ block: 'nearest' })
    if (option) input.setAttribute('aria-activedescendant', option.id)
    else input.removeAttribute('aria-activedescendant')
  }

  function go(option) {
    if (!option) return
    dialog.close()
    location.assign(option.dataset.address)
  }

  input.addEventListener('input', show)
  input.addEventListener('keydown', (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step !== undefined && list.children.length > 0) {
      event.preventDefault()
      activate((active + step + list.children.length) % list.children.length)
    } else if (event.key === 'Enter') {
      event.preventDefault()
      go(list.children[active])
    }
  })
  list.addEventListener('click', (event) => go(event.target.closest('[role="option"]')))
  dialog.addEventListener('click', (event) => event.target === dialog && dialog.close())

  return {
    open() {
      if (!dialog.open) dialog.showModal()
      input.select()
    },
  }
}

function result({ title, page, text, address, terms }, position) {
  const item = document.createElement('div')
  item.id = `search-result-${position}`
  item.role = 'option'
  item.ariaSelected = 'false'
  item.dataset.address = address
  item.append(
    line('strong', marked(title, terms)),
    line('span', [page]),
    line('p', marked(excerpt(text, terms), terms)),
  )
  return item
}

function line(name, children) {
  const made = document.createElement(name)
  made.append(...children)
  return made
}

/** Of regular expressions. Not every browser has RegExp.escape, and with the flag u nothing else may be escaped. */
const syntax = /[\\^$.*+?()[\]{}|/]/g
const pattern = (terms) => new RegExp(`(${terms.map((term) => term.replace(syntax, '\\$&')).join('|')})`, 'giu')

function excerpt(text, terms) {
  const start = Math.max(0, text.search(pattern(terms)) - excerptBefore)
  const from = start === 0 ? 0 : text.indexOf(' ', start) + 1
  const shown = text.slice(from, from + excerptLength)
  return `${from > 0 ? '… ' : ''}${shown}${from + excerptLength < text.length ? ' …' : ''}`
}

/** The text with what was found in `<mark>`. Splitting by a group keeps the hits, at the odd places. */
function marked(text, terms) {
  return text.split(pattern(terms)).map((part, place) => (place % 2 === 0 ? part : line('mark', [part])))
}
