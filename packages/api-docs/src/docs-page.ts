import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { apiPrefix, httpOperations } from '@backoffice/contracts'
import MiniSearch from 'minisearch'
import { referenceMarkdown } from './reference.ts'
import { renderMarkdown } from './render-markdown.ts'
import { languagePath, sampleDocument, withSamples } from './sample-panels.ts'
import {
  type AssetName,
  assetNames,
  type DocumentFile,
  defaultLanguage,
  docsPath,
  guideFile,
  type Page,
  pages,
  providerAssets,
  type SampleLanguageId,
  sampleLanguageIds,
} from './served.ts'
import { snippetsSection } from './snippets.ts'
import { operators, providers, type Surface } from './surface.ts'

const own = (name: string) => new URL(`../assets/${name}`, import.meta.url)

/** What stands in a file that is not the one of its name in assets/. The parts of the style sheet are one file. */
const sources: Readonly<Partial<Record<AssetName, readonly URL[]>>> = {
  'docs.css': ['docs.css', 'text.css', 'code.css', 'dialogs.css'].map(own),
  'minisearch.js': [new URL(import.meta.resolve('minisearch'))],
}

/** By name: what is served below /docs/assets/. */
export const docsAssets: ReadonlyMap<string, DocumentFile> = new Map(assetNames.map((name) => [name, asset(name)]))

function asset(name: AssetName): DocumentFile {
  const files = sources[name] ?? [own(name)]
  const body = Buffer.from(withVersions(files.map((file) => readFileSync(file, 'utf8')).join('')))
  const contentType = `text/${name.endsWith('.css') ? 'css' : 'javascript'}; charset=utf-8`
  return { contentType, body, version: createHash('sha256').update(body).digest('base64url').slice(0, 12) }
}

/** A script imports the version of another that it was written for, so its own version follows from the other's. */
function withVersions(text: string): string {
  return text.replaceAll(/(?<=\bfrom '\.\/)[\w-]+\.js(?=')/g, (name) => {
    const imported = assetNames.find((candidate) => candidate === name)
    return imported === undefined ? name : `${name}?v=${asset(imported).version}`
  })
}

/** Where an asset is served. During a roll-out a process of another release answers there with its own. */
const assetAddress = (name: AssetName, { docsPath } = operators): string =>
  `${docsPath}/assets/${name}?v=${docsAssets.get(name)?.version}`

interface Options {
  /** The address that clients call, with the /api/v1 prefix; shown in examples. */
  readonly baseUrl: string
}

/** Everything below /docs, by its path there; the main page has none. Each is made when it is asked for. */
export const documentation: ReadonlyMap<string, (options: Options) => DocumentFile> = new Map([
  ['', (options) => page(mainPage(options, defaultLanguage))],
  ...pages.map((entry): Entry => [entry.path, (options) => page(sidePage(options, entry))]),
  ...sampleLanguageIds
    .filter((id) => id !== defaultLanguage)
    .map((id): Entry => [`languages/${id}`, (options) => page(mainPage(options, id))]),
  ...sampleLanguageIds.map(
    (languageId): Entry => [
      `assets/samples/${languageId}.html`,
      ({ baseUrl }) => page(sampleDocument({ languageId, baseUrl })),
    ],
  ),
  ['assets/search.json', (options) => ({ contentType: 'application/json; charset=utf-8', body: search(options) })],
  ...Array.from(docsAssets, ([name, file]): Entry => [`assets/${name}`, () => file]),
])
type Entry = [path: string, make: (options: Options) => DocumentFile]

/** The same of the providers' surface: one page, without tester and search. */
export const providerDocumentation: ReadonlyMap<string, (options: Options) => DocumentFile> = new Map([
  ['', (options) => page(providerPage(options))],
  ...providerAssets.map((name): Entry => [`assets/${name}`, () => docsAssets.get(name) ?? asset(name)]),
])

const page = (html: string): DocumentFile => ({ contentType: 'text/html; charset=utf-8', body: Buffer.from(html) })

const read = (file: string) => readFileSync(new URL(`../../../${file}`, import.meta.url), 'utf8')

/** Guides name the addresses of `npm start`, so what is pasted from their files works. Each is the surface's own on its page. */
const localAddress = /http:\/\/127\.0\.0\.1:808[03]\/(?:api|provider)\/v1/g
const withAddress = (markdown: string, baseUrl: string) =>
  markdown.replaceAll('{{baseUrl}}', baseUrl).replaceAll(localAddress, baseUrl)

const mainContents = new Map<string, string>()

/** Guide and reference, with marks in place of samples: the rest is the same in every language. */
function mainContent({ baseUrl }: Options): string {
  const content = mainContents.get(baseUrl) ?? renderedMain(baseUrl)
  // A process has one address.
  mainContents.set(baseUrl, content)
  return content
}

function renderedMain(baseUrl: string): string {
  const markdown = withAddress(`${read(guideFile)}\n\n${referenceDivider}\n\n${referenceMarkdown()}`, baseUrl)
  return renderMarkdown(markdown, { file: guideFile, codeBeside: true })
}

const referenceDivider =
  '## API reference {#reference}\n\nEach operation with what it takes, what it replies, why it may refuse, and a program that calls it.'

const providerReferenceDivider =
  '## API reference {#reference}\n\nEach operation with what it takes, what it replies, and why it may refuse. [As OpenAPI]({{baseUrl}}/openapi.json); [what has changed]({{baseUrl}}/changelog).'

function providerPage({ baseUrl }: Options): string {
  const surface = providers
  const text = [read(surface.guideFile), snippetsSection(), providerReferenceDivider, referenceMarkdown(surface)]
  const markdown = withAddress(text.join('\n\n'), baseUrl)
  const content = renderMarkdown(markdown, { file: surface.guideFile, codeBeside: true, surface })
  const entries = headings(content)
  const reference = entries.findIndex(({ id }) => id === 'reference')
  const list = [
    contentsList('Guide', entries.slice(0, reference).map(entryItem(''))),
    contentsList('API reference', entries.slice(reference + 1).map(entryItem(''))),
  ]
  const title = `${surface.title} ${surface.version}`
  const values = { title, canonical: surface.docsPath, language: defaultLanguage, content, contents: list.join('\n') }
  return filled({ ...values, kind: 'main' }, surface)
}

const sideContent = ({ baseUrl }: Options, { file }: Page) =>
  renderMarkdown(withAddress(read(file), baseUrl), { file }).replaceAll(
    /(?<= (?:src|href)=")assets\/([^"]+)/g,
    (_, name: AssetName) => assetAddress(name),
  )

function mainPage(options: Options, languageId: SampleLanguageId): string {
  const withoutSamples = mainContent(options)
  const content = withSamples(withoutSamples, { languageId, baseUrl: options.baseUrl })
  const title = `${operators.title} ${operators.version}`
  const canonical = languagePath(defaultLanguage)
  return filled({ title, canonical, language: languageId, content, contents: contents(withoutSamples), kind: 'main' })
}

function sidePage(options: Options, entry: Page): string {
  const content = sideContent(options, entry)
  return filled({
    title: `${entry.title} · ${operators.title}`,
    canonical: `${docsPath}/${entry.path}`,
    language: defaultLanguage,
    content: onThisPage(content) + content,
    contents: contents(mainContent(options), entry),
    kind: 'article',
  })
}

function search(options: Options): Buffer {
  const main = { title: 'Guide and reference', address: docsPath, html: mainContent(options) }
  const beside = pages.map((entry) => ({
    title: entry.title,
    address: `${docsPath}/${entry.path}`,
    html: sideContent(options, entry),
  }))
  return Buffer.from(searchIndex([main, ...beside], docsPath))
}

/** The placeholder of the data stands in quotes, so that the template itself is valid. */
const template = readFileSync(new URL('../assets/docs.html', import.meta.url), 'utf8')

/** Search and tester, which only operators have. */
const toolsOfTemplate = /<!--tools-->\n(.*?)<!--\/tools-->\n/gs

function filled(
  values: Readonly<Record<'title' | 'canonical' | 'language' | 'content' | 'contents' | 'kind', string>>,
  surface: Surface = operators,
) {
  const hasTools = surface === operators
  // Inside a script element only "</" could end the element early, so "<" is written as an escape.
  const data = JSON.stringify(hasTools ? pageData() : { addresses: {} }).replaceAll('<', '\\u003c')
  const brand = hasTools ? 'Back-Office API' : surface.title
  const all: Readonly<Record<string, string>> = {
    ...values,
    data,
    brand,
    version: surface.version,
    docs: surface.docsPath,
  }
  return template
    .replaceAll(toolsOfTemplate, hasTools ? '$1' : '')
    .replaceAll(/"\{\{data\}\}"|\{\{(?:asset (\S+?)|(\w+))\}\}/g, (_, asset, name = 'data') =>
      asset === undefined ? (all[name] ?? '') : assetAddress(asset, surface),
    )
}

/** What the scripts need to know: where files are, and each operation that the tester can send. */
function pageData() {
  const addresses = {
    search: assetAddress('search.js'),
    minisearch: assetAddress('minisearch.js'),
    searchIndex: `${docsPath}/assets/search.json`,
    samples: `${docsPath}/assets/samples`,
  }
  return { apiPrefix, addresses, operations: testerOperations() }
}

/** All operations but the public documents. */
function testerOperations() {
  return httpOperations.flatMap(
    ({ id, summary, http, audience, idempotency, example, hasBody, tag, params, query }) => {
      if (http === undefined || audience === 'public') return []
      return {
        id,
        summary,
        tag,
        method: http.method,
        path: http.path,
        idempotent: idempotency === 'required',
        params: Object.keys(params.properties),
        query: Object.keys(query.properties).map((name) => ({ name, example: example?.query?.[name] ?? '' })),
        body: hasBody ? (example?.body ?? {}) : null,
      }
    },
  )
}

/** More headings than these below one heading would hide the rest of the contents. */
const subheadingsMax = 12

interface Chapter {
  readonly id: string
  readonly text: string
  readonly below: { readonly id: string; readonly text: string }[]
}

/**
 * The contents beside every page: guide, the pages, reference.
 * @param mainHtml the content of the main page, without which its headings are not known
 * @param current the page that the contents stand beside, unless that is the main one
 */
function contents(mainHtml: string, current?: Page): string {
  const entries = headings(mainHtml)
  const reference = entries.findIndex(({ id }) => id === 'reference')
  const beside = pages.map((page) => {
    const marked = page === current ? ' aria-current="page"' : ''
    return `<li><a href="${docsPath}/${page.path}"${marked}>${page.title}</a></li>`
  })
  // On the main page its own sections are links within the page, so that they work wherever it is opened from.
  const base = current === undefined ? '' : docsPath
  const item = entryItem(base)
  return [
    contentsList('Guide', entries.slice(0, reference).map(item)),
    contentsList('More', beside),
    contentsList('API reference', entries.slice(reference + 1).map(item)),
  ].join('\n')
}

const contentsList = (title: string, items: readonly string[]): string => `<p>${title}</p><ul>${items.join('')}</ul>`

/** The chapters of a page that stands beside the main one, for the column that its text leaves free. */
function onThisPage(html: string): string {
  const items = headings(html).map(({ id, text }) => `<li><a href="#${id}">${text}</a></li>`)
  return `<nav class="chapters" aria-labelledby="chapters"><p id="chapters">On this page</p><ul>${items.join('')}</ul></nav>\n`
}

function headings(html: string): Chapter[] {
  const entries: Chapter[] = []
  for (const [, level, id = '', text = ''] of html.matchAll(/<h([23]) id="([^"]+)"><a [^>]*>(.*?)<\/a><\/h[23]>/g)) {
    if (level === '2') entries.push({ id, text, below: [] })
    else entries.at(-1)?.below.push({ id, text })
  }
  return entries
}

const methods = new Map(
  [...httpOperations, ...providers.operations].map(({ id, http }) => [id.toLowerCase(), http?.method]),
)

const entryItem =
  (base: string) =>
  ({ id, text, below }: Chapter): string => {
    const shown = below.length > subheadingsMax ? [] : below
    const inner = shown.map((entry) => `<li><a href="${base}#${entry.id}">${entry.text}${method(entry.id)}</a></li>`)
    return `<li><a href="${base}#${id}">${text}</a>${inner.length > 0 ? `<ul>${inner.join('')}</ul>` : ''}</li>`
  }

function method(id: string): string {
  const name = methods.get(id)
  return name === undefined ? '' : ` <span class="method ${name.toLowerCase()}">${name}</span>`
}

/** What integrators call things that the pages call otherwise, by the address of the section that they look for. */
const alsoCalled: Readonly<Record<string, string>> = {
  '#quickstart': 'sdk library package client postman',
  '#retries': 'retry timeout backoff',
  '#createdeposit': 'pix card boleto payment',
  '#faildeposit': 'refund chargeback',
  '#requestwithdrawal': 'payout cashout pix refund',
  '#limits': 'throttling',
  '/kyc-documents#set-up': 'kyc url identity',
  '/go-live#network': 'ip allowlist whitelist firewall',
  '/sandbox#refusals-you-can-provoke': 'test card magic amounts',
}

interface SearchedPage {
  readonly title: string
  readonly address: string
  readonly html: string
}

/**
 * An index of all sections, as JSON: `options` opens `index` in the browser.
 * Each hit brings the section's title, page, text and address.
 */
function searchIndex(pages: readonly SearchedPage[], root: string): string {
  const options = {
    fields: ['title', 'text', 'alsoCalled'],
    storeFields: ['title', 'page', 'text', 'address'],
    searchOptions: { prefix: true, fuzzy: 0.15, combineWith: 'AND', boost: { title: 4, alsoCalled: 3 } },
  } as const
  const index = new MiniSearch({ ...options, fields: [...options.fields], storeFields: [...options.storeFields] })
  const found = pages.flatMap(sections)
  index.addAll(
    found.map((section, id) => ({ id, ...section, alsoCalled: alsoCalled[section.address.slice(root.length)] ?? '' })),
  )
  return JSON.stringify({ options, index })
}

function sections({ title: page, address, html }: SearchedPage) {
  let chapter = ''
  return html.split('<section>').flatMap((section) => {
    const [whole, id, title] = /<h[1-3] id="([^"]+)">(.*?)<\/h[1-3]>/.exec(section) ?? []
    if (whole === undefined || id === undefined || title === undefined) return []
    const within = whole.startsWith('<h3') ? `${page} › ${chapter}` : page
    if (whole.startsWith('<h2')) chapter = plain(title)
    // Examples and samples would find every operation for every word.
    const prose = section.replace(whole, '').replaceAll(/<figure.*?<\/figure>|<button.*?<\/button>/gs, '')
    return { title: plain(title), page: within, text: plain(prose), address: `${address}#${id}` }
  })
}

const characters: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" }

function plain(html: string): string {
  return html
    .replaceAll('<wbr>', '')
    .replaceAll(/<(?!\/?(?:code|a|strong|em|span)\b)[^>]*>/g, ' ')
    .replaceAll(/<[^>]*>/g, '')
    .replaceAll(/&(amp|lt|gt|quot|#39);/g, (entity, name: string) => characters[name] ?? entity)
    .replaceAll(/\s+/g, ' ')
    .trim()
}
