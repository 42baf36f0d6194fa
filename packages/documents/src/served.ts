// What the gateway knows of the documents before any is made. This module loads nothing that makes one.
import { apiPrefix } from '@backoffice/contracts'
import { pages } from './pages.ts'

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
