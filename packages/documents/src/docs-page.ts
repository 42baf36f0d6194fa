import { readFileSync } from 'node:fs'
import { apiPrefix, apiVersion, httpOperations } from '@backoffice/contracts'
import { assetAddress, docsAssets } from './docs-assets.ts'
import { contents, onThisPage } from './docs-contents.ts'
import { guideFile, type Page, pages } from './pages.ts'
import { referenceMarkdown } from './reference.ts'
import { renderMarkdown } from './render-markdown.ts'
import { languagePath, sampleDocument, withSamples } from './sample-panels.ts'
import { searchIndex } from './search-index.ts'
import {
  type AssetName,
  type DocumentFile,
  defaultLanguage,
  docsPath,
  type SampleLanguageId,
  sampleLanguageIds,
} from './served.ts'

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

const page = (html: string): DocumentFile => ({ contentType: 'text/html; charset=utf-8', body: Buffer.from(html) })

const read = (file: string) => readFileSync(new URL(`../../../${file}`, import.meta.url), 'utf8')

const withAddress = (markdown: string, baseUrl: string) => markdown.replaceAll('{{baseUrl}}', baseUrl)

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

const sideContent = ({ baseUrl }: Options, { file }: Page) =>
  renderMarkdown(withAddress(read(file), baseUrl), { file }).replaceAll(
    /(?<= (?:src|href)=")assets\/([^"]+)/g,
    (_, name: AssetName) => assetAddress(name),
  )

function mainPage(options: Options, languageId: SampleLanguageId): string {
  const withoutSamples = mainContent(options)
  const content = withSamples(withoutSamples, { languageId, baseUrl: options.baseUrl })
  const title = `Operator Gaming Back-Office API ${apiVersion}`
  const canonical = languagePath(defaultLanguage)
  return filled({ title, canonical, language: languageId, content, contents: contents(withoutSamples), kind: 'main' })
}

function sidePage(options: Options, entry: Page): string {
  const content = sideContent(options, entry)
  return filled({
    title: `${entry.title} · Operator Gaming Back-Office API`,
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

function filled(
  values: Readonly<Record<'title' | 'canonical' | 'language' | 'content' | 'contents' | 'kind', string>>,
) {
  // Inside a script element only "</" could end the element early, so "<" is written as an escape.
  const data = JSON.stringify(pageData()).replaceAll('<', '\\u003c')
  const all: Readonly<Record<string, string>> = { ...values, data, apiVersion, docs: docsPath }
  return template.replaceAll(/"\{\{data\}\}"|\{\{(?:asset (\S+?)|(\w+))\}\}/g, (_, asset, name = 'data') =>
    asset === undefined ? (all[name] ?? '') : assetAddress(asset),
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
