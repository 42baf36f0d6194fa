import { readFileSync } from 'node:fs'
import { apiPrefix, apiVersion, httpOperations } from '@backoffice/contracts'
import { Marked } from 'marked'
import customHeadingId from 'marked-custom-heading-id'
import { gfmHeadingId } from 'marked-gfm-heading-id'
import { referenceMarkdown } from './reference.ts'

/** What the documentation page may load and call: itself, and nothing from elsewhere. */
export const docsContentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
].join('; ')

const styles = 'text/css; charset=utf-8'
const script = 'text/javascript; charset=utf-8'
const assetTypes = {
  'docs.css': styles,
  'tester.js': script,
  'signing.css': styles,
  'signing.js': script,
  'signing-comparison.js': script,
} as const

/** The pages beside the main one, by their paths below /docs/. */
export const docsPages = { signing: 'docs/signing.md', 'go-live': 'docs/go-live.md' } as const

/** The page's own files, by name: what is served below /docs/assets/. */
export const docsAssets: Readonly<Record<string, { readonly contentType: string; readonly body: Buffer }>> =
  Object.fromEntries(
    Object.entries(assetTypes).map(([name, contentType]) => [
      name,
      { contentType, body: readFileSync(new URL(`../assets/${name}`, import.meta.url)) },
    ]),
  )

/**
 * The documentation page: guide, reference derived from the contracts, and the interactive tester. Or a page beside it.
 * @param baseUrl the address that clients call, with the /api/v1 prefix; shown in the guide's examples
 */
export function docsPage({
  baseUrl,
  path,
}: {
  readonly baseUrl: string
  readonly path?: keyof typeof docsPages
}): string {
  const file = path === undefined ? 'docs/guide.md' : docsPages[path]
  const text = readFileSync(new URL(`../../../${file}`, import.meta.url), 'utf8')
    .replaceAll('{{baseUrl}}', baseUrl)
    // Links between documents lead from page to page; what is no page here is a place on the main one.
    .replaceAll(/\]\(([a-z-]+)\.md(?=[#)])/g, (_, name) => `](${apiPrefix}/docs${name in docsPages ? `/${name}` : ''}`)
  const marked = new Marked(gfmHeadingId(), customHeadingId())
  const content = marked.parse(path === undefined ? `${text}\n\n${referenceMarkdown()}` : text, { async: false })
  const contents = tableOfContents(content)
  // Inside a script element only "</" could end the element early, so "<" is written as an escape.
  const operations = JSON.stringify(testerOperations()).replaceAll('<', '\\u003c')
  const values: Readonly<Record<string, string>> = {
    content,
    contents,
    operations,
    apiVersion,
    assets: `${apiPrefix}/docs/assets`,
  }
  return template.replaceAll(
    /"\{\{operations\}\}"|\{\{(\w+)\}\}/g,
    (_, name: string | undefined) => values[name ?? 'operations'] ?? '',
  )
}

/** The placeholder of the operations stands in quotes, so that the template itself is valid. */
const template = readFileSync(new URL('../assets/docs.html', import.meta.url), 'utf8')

/** The contents beside the page: each section, with its operations below it. */
function tableOfContents(html: string): string {
  const headings = [...html.matchAll(/<h([23]) id="([^"]+)">(.*?)<\/h[23]>/g)]
  const links = headings.map(([, level, id, text]) => `<li class="level-${level}"><a href="#${id}">${text}</a></li>`)
  return `<ul>${links.join('')}</ul>`
}

/** What the tester needs of each operation that it can send: all but the public documents. */
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
