import { readFileSync } from 'node:fs'
import { errorAnchor, httpOperations, publicErrorCodes, publicErrors } from '@backoffice/contracts'
import MiniSearch, { type Options } from 'minisearch'
import t from 'tap'
import {
  docsAssets,
  documentation,
  guideFile,
  pages,
  providerDocumentation,
  providers,
  signingSnippets,
} from '../src/index.ts'
import { allSampled } from '../src/sample-panels.ts'
import { sampleLanguages, sampleOf } from '../src/samples.ts'
import {
  defaultLanguage,
  docsPath,
  documentPaths,
  providerChangelogFile,
  providerDocuments,
  providerGuideFile,
  servedProviders,
} from '../src/served.ts'

const baseUrl = 'https://backoffice.example.org/api/v1'
/** Each is made once. */
const made = new Map<string, string>()
function read(path: string): string {
  const body = made.get(path) ?? String(documentation.get(path)?.({ baseUrl }).body)
  made.set(path, body)
  return body
}
const idsOf = new Map<string, Set<string | undefined>>()
function ids(path: string) {
  const found = idsOf.get(path) ?? new Set([...read(path).matchAll(/ id="([^"]+)"/g)].map(([, id]) => id))
  idsOf.set(path, found)
  return found
}
const htmlPages = [
  '',
  ...pages.map(({ path }) => path),
  ...sampleLanguages.filter(({ id }) => id !== defaultLanguage).map(({ id }) => `languages/${id}`),
]

t.test('every link on a page leads to something that is served, at a place that is there', async (t) => {
  for (const path of htmlPages) {
    const links = [...read(path).matchAll(/ href="([^"]+)"/g)].map(([, href = '']) => href)
    t.ok(links.length > 30, path)
    const broken = links.filter((href) => {
      if (/^(https:|data:)/.test(href)) return false
      const [address = '', id] = href.replace(/\?v=[\w-]+/, '').split('#')
      const target = address === '' ? path : address.replace(/^\/api\/v1\/docs\/?/, '')
      return !documentation.has(target) || (id !== undefined && !ids(target).has(id))
    })
    t.strictSame(broken, [], `/docs/${path}`)
  }
})

t.test('the guides can be pasted from their files beside npm start, and from their pages', async (t) => {
  const file = (path: string) => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8')
  const [, port] = /defaultPort = (\d+)/.exec(file('local/stack/src/terminal.ts')) ?? []
  const providersUrl = 'https://providers.example.org/provider/v1'
  const providerPage = String(providerDocumentation.get('')?.({ baseUrl: providersUrl }).body)
  for (const [path, local, page, address] of [
    [guideFile, `http://127.0.0.1:${port}/api/v1`, read(''), baseUrl],
    [providerGuideFile, `http://127.0.0.1:${Number(port) + 3}/provider/v1`, providerPage, providersUrl],
  ] as const) {
    const guide = file(path)
    t.match(guide, `\nBASE_URL=${local}`, path)
    t.notMatch(guide, '{{', path)
    t.match(page.replaceAll(/<[^>]*>/g, ''), `BASE_URL=${address}`, path)
    t.notMatch(page, '127.0.0.1:80', path)
  }
})

t.test('the gateway serves what is made here, and nothing else', async (t) => {
  t.strictSame([...documentation.keys()], documentPaths)
})

t.test('the page of the providers is whole: operations, codes, programs, and links that lead somewhere', async (t) => {
  const html = String(providerDocumentation.get('')?.({ baseUrl: 'https://providers.example.org/provider/v1' }).body)
  const names = new Set([...html.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id))
  for (const { id } of providers.operations) t.ok(names.has(id.toLowerCase()), id)
  for (const [code, { status, retryAdvice }] of providers.errors) {
    const entry = html.slice(html.indexOf(`id="${errorAnchor(code as never)}"`)).split('</section>')[0]
    t.match(entry, `HTTP ${status} · ${retryAdvice}`, code)
  }
  const served = new Set(providerDocuments.map(({ path }) => `${servedProviders.prefix}${path}`))
  const links = [...html.matchAll(/ (?:href|src)="([^"]+)"/g)].map(([, href = '']) => href.replace(/\?v=.*/, ''))
  const broken = links.filter((href) =>
    href.startsWith('#') ? !names.has(href.slice(1)) : !served.has(href.replace('https://providers.example.org', '')),
  )
  t.strictSame([...new Set(broken)], ['data:,'])
  t.notMatch(
    html,
    /\{\{\w+\}\}|X-Operator-Key|OPERATOR_KEY|bk_(?:test|live)|id="tester|<!--/,
    'nothing of the operators',
  )
})

t.test('a page and a script name the versions of the files that they load', async (t) => {
  const version = (name: string) => docsAssets.get(name)?.version
  const signing = read('signing')
  t.match(signing, ` href="${docsPath}/assets/signing.css?v=${version('signing.css')}"`)
  t.match(signing, ` src="${docsPath}/assets/signing.js?v=${version('signing.js')}"`)
  const imported = `from './signing-comparison.js?v=${version('signing-comparison.js')}'`
  t.match(String(docsAssets.get('signing.js')?.body), imported)
  for (const path of htmlPages) t.notMatch(read(path), /(?:href|src)="[^"?]+\.(?:js|css)"/, path)
})

t.test('an image of the gateway holds every document that is a page', async (t) => {
  const [dockerfile, ignored] = ['deploy/docker/Dockerfile', '.dockerignore'].map((file) =>
    readFileSync(new URL(`../../../${file}`, import.meta.url), 'utf8'),
  )
  for (const file of [guideFile, providerGuideFile, providerChangelogFile, ...pages.map((page) => page.file)]) {
    t.match(dockerfile, `/app/${file} `, file)
    t.match(ignored, `!${file}\n`, file)
  }
})

const isSigned = (id: string) =>
  httpOperations.some((operation) => operation.id === id && operation.audience !== 'public')
const programs = (languageId: string) =>
  signingSnippets().snippets.filter(({ language }) => language === (languageId === 'curl' ? 'bash' : languageId))
const nodePrograms = Object.fromEntries(programs('node').map((program) => [program.purpose, program]))

t.test('each language has a sample of each operation and program, on the page and for the tabs', async (t) => {
  const plain = (html: string) =>
    html
      .replaceAll(/<[^>]+>/g, '')
      .replaceAll('&lt;', '<')
      .replaceAll('&gt;', '>')
      .replaceAll('&quot;', '"')
      .replaceAll('&#x27;', "'")
      .replaceAll('&amp;', '&')
  for (const { id: languageId } of sampleLanguages) {
    const page = read(languageId === defaultLanguage ? '' : `languages/${languageId}`)
    for (const source of [page, read(`assets/samples/${languageId}.html`)]) {
      const shown = [...source.matchAll(/<code data-sample="([\w-]+)" data-language="(\w+)">(.*?)<\/code><\/pre>/gs)]
      t.strictSame(shown.map(([, id]) => id).sort(), allSampled.map(({ id }) => id).sort(), languageId)
      for (const [, id = '', shownLanguage, code = ''] of shown) {
        const own = programs(languageId).find(({ purpose }) => purpose === id)
        const expected = isSigned(id)
          ? { language: languageId, code: sampleOf(languageId, id, { baseUrl }) }
          : { language: own ? languageId : 'node', code: (own ?? nodePrograms[id])?.code ?? '' }
        t.equal(shownLanguage, expected.language)
        if (plain(code) !== expected.code.trimEnd()) t.fail(`${languageId}: ${id}`)
      }
    }
    t.match(page, `data-language="${languageId}" aria-current="true"`)
  }
})

t.test('the entry of an error, where its replies lead to, says the status and whether to retry', async (t) => {
  const html = read('')
  for (const code of publicErrorCodes) {
    const { status, retryable } = publicErrors[code]
    const entry = html.slice(html.indexOf(`id="${errorAnchor(code)}"`)).split('</section>')[0]
    t.match(entry, `HTTP ${status} · ${retryable ? 'retry with the same key' : 'no retry'}`, code)
  }
})

t.test('a table has a header for each row, and none that is empty', async (t) => {
  for (const path of ['', ...pages.map((page) => page.path)]) {
    const html = read(path)
    t.notMatch(html, /<th[^>]*><\/th>/, path)
    t.notMatch(html, /<tbody>(?:(?!<\/tbody>).)*<tr><td/s, path)
  }
})

t.test(
  'a section is found by the words that stand on it, an operation by its name, the guide before the codes',
  async (t) => {
    const { options, index } = JSON.parse(read('assets/search.json')) as { options: Options; index: never }
    const sections = MiniSearch.loadJS(index, options)
    const found = (text: string) => sections.search(text).map(({ address }) => String(address).replace(docsPath, ''))
    t.match(found('1414.14')[0], '/sandbox#refusals-you-can-provoke')
    t.equal(found('confirm deposit')[0], '#confirmdeposit')
    t.equal(found('retry')[0], '#retries')
    t.strictSame(found('zzzz'), [])
  },
)
