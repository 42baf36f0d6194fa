// What the gateway knows of the documents before any is made. This module loads nothing that makes one.
import { apiPrefix, httpOperations, providerApiPrefix } from '@backoffice/contracts'

/** A page of the documentation that stands beside the main one, at /docs/<path>. */
export interface Page {
  readonly path: string
  /** In the contents. */
  readonly title: string
  /** From the root of the repository. The images of the gateway hold exactly these files. */
  readonly file: string
}

/** The guide opens the main page, and the reference follows it there. */
export const guideFile = 'docs/guide.md'

/** Every document that is a page, in the order of the contents. Links between them lead from page to page. */
export const pages: readonly Page[] = [
  { path: 'sandbox', title: 'The sandbox', file: 'docs/sandbox.md' },
  { path: 'signing', title: 'Compare signatures', file: 'docs/signing.md' },
  { path: 'webhooks', title: 'Receiving webhooks', file: 'docs/webhooks.md' },
  { path: 'kyc-documents', title: 'KYC documents', file: 'docs/kyc-documents.md' },
  { path: 'go-live', title: 'Go live', file: 'docs/go-live.md' },
  { path: 'changelog', title: 'Changelog', file: 'CHANGELOG.md' },
]

export const docsPath = `${apiPrefix}/docs`

/** The name of the OpenAPI document that is asked for with `?samples=false`. */
export const withoutSamples = 'getOpenApi without samples'

export interface DocumentFile {
  readonly contentType: string
  readonly body: Uint8Array
  /** Of an asset: changes with its content. At an address that names it, a browser may keep the file for good. */
  readonly version?: string
}

/** The page's own files. */
export const assetNames = [
  'docs.css',
  'theme.js',
  'page.js',
  'samples.js',
  'tester.js',
  'search.js',
  'signing.css',
  'signing.js',
  'signing-comparison.js',
  'minisearch.js',
] as const
export type AssetName = (typeof assetNames)[number]

/** In the order in which a page offers them. */
export const sampleLanguageIds = ['curl', 'node', 'client', 'python', 'php', 'ruby', 'go', 'java', 'csharp'] as const
export type SampleLanguageId = (typeof sampleLanguageIds)[number]

/** The language of the main page; each other one has a page of its own, for browsers without JavaScript. */
export const defaultLanguage = 'curl'

/** Everything below /docs, by its path there; the main page has none. */
export const documentPaths: readonly string[] = [
  '',
  ...pages.map(({ path }) => path),
  ...sampleLanguageIds.filter((id) => id !== defaultLanguage).map((id) => `languages/${id}`),
  ...sampleLanguageIds.map((id) => `assets/samples/${id}.html`),
  'assets/search.json',
  ...assetNames.map((name) => `assets/${name}`),
]

/** A document and where it is served: below the prefix of its surface, with GET and without credentials. */
export interface ServedDocument {
  /** What it is made by: an operation's id, or the path of what is no operation. */
  readonly name: string
  readonly path: string
  readonly operation?: string
}

/** One of the two APIs, as far as it is known before any document is made. */
export interface ServedSurface {
  readonly name: 'operators' | 'providers'
  readonly prefix: string
  readonly docsPath: string
  readonly guideFile: string
  readonly pages: readonly Page[]
  readonly documents: readonly ServedDocument[]
}

/** The public operations, and what stands below /docs: further pages, and the files of the pages. */
export const operatorDocuments: readonly ServedDocument[] = [
  ...httpOperations.flatMap(({ audience, http, id }) =>
    audience !== 'public' || http === undefined ? [] : [{ name: id, path: http.path, operation: id }],
  ),
  // The main page is one of the operations.
  ...documentPaths.filter((path) => path !== '').map((path) => ({ name: `/docs/${path}`, path: `/docs/${path}` })),
]

/** The files of the providers' one page, which has no tester and no search. */
export const providerAssets: readonly AssetName[] = ['docs.css', 'theme.js', 'page.js']

/** They have no credentials either, and no operation: the providers' table has what moves money. */
export const providerDocuments: readonly ServedDocument[] = [
  '/openapi.json',
  '/docs',
  '/test-vectors.json',
  '/changelog',
  ...providerAssets.map((name) => `/docs/assets/${name}`),
].map((path) => ({ name: `providers${path}`, path }))

export const servedOperators: ServedSurface = {
  name: 'operators',
  prefix: apiPrefix,
  ...{ docsPath, guideFile, pages },
  documents: operatorDocuments,
}

export const providerGuideFile = 'docs/providers.md'
export const providerChangelogFile = 'docs/providers-changelog.md'

export const servedProviders: ServedSurface = {
  name: 'providers',
  prefix: providerApiPrefix,
  docsPath: `${providerApiPrefix}/docs`,
  guideFile: providerGuideFile,
  pages: [],
  documents: providerDocuments,
}

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
