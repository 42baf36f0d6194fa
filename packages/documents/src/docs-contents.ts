import { httpOperations } from '@backoffice/contracts'
import { type Page, pages } from './pages.ts'
import { docsPath } from './served.ts'

/** More headings than these below one heading would hide the rest of the contents. */
const subheadingsMax = 12

interface Entry {
  readonly id: string
  readonly text: string
  readonly below: { readonly id: string; readonly text: string }[]
}

/**
 * The contents beside every page: guide, the pages, reference.
 * @param mainHtml the content of the main page, without which its headings are not known
 * @param current the page that the contents stand beside, unless that is the main one
 */
export function contents(mainHtml: string, current?: Page): string {
  const entries = headings(mainHtml)
  const reference = entries.findIndex(({ id }) => id === 'reference')
  const beside = pages.map((page) => {
    const marked = page === current ? ' aria-current="page"' : ''
    return `<li><a href="${docsPath}/${page.path}"${marked}>${page.title}</a></li>`
  })
  // On the main page its own sections are links within the page, so that they work wherever it is opened from.
  const base = current === undefined ? '' : docsPath
  const list = (title: string, items: readonly string[]) => `<p>${title}</p><ul>${items.join('')}</ul>`
  const item = entryItem(base)
  return [
    list('Guide', entries.slice(0, reference).map(item)),
    list('More', beside),
    list('API reference', entries.slice(reference + 1).map(item)),
  ].join('\n')
}

/** The chapters of a page that stands beside the main one, for the column that its text leaves free. */
export function onThisPage(html: string): string {
  const items = headings(html).map(({ id, text }) => `<li><a href="#${id}">${text}</a></li>`)
  return `<nav class="chapters" aria-labelledby="chapters"><p id="chapters">On this page</p><ul>${items.join('')}</ul></nav>\n`
}

function headings(html: string): Entry[] {
  const entries: Entry[] = []
  for (const [, level, id = '', text = ''] of html.matchAll(/<h([23]) id="([^"]+)"><a [^>]*>(.*?)<\/a><\/h[23]>/g)) {
    if (level === '2') entries.push({ id, text, below: [] })
    else entries.at(-1)?.below.push({ id, text })
  }
  return entries
}

const methods = new Map(httpOperations.map(({ id, http }) => [id.toLowerCase(), http?.method]))

const entryItem =
  (base: string) =>
  ({ id, text, below }: Entry): string => {
    const shown = below.length > subheadingsMax ? [] : below
    const inner = shown.map((entry) => `<li><a href="${base}#${entry.id}">${entry.text}${method(entry.id)}</a></li>`)
    return `<li><a href="${base}#${id}">${text}</a>${inner.length > 0 ? `<ul>${inner.join('')}</ul>` : ''}</li>`
  }

function method(id: string): string {
  const name = methods.get(id)
  return name === undefined ? '' : ` <span class="method ${name.toLowerCase()}">${name}</span>`
}
