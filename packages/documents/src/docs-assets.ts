import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { docsPath } from './render-markdown.ts'

export interface DocumentFile {
  readonly contentType: string
  readonly body: Buffer
  /** Of an asset: changes with its content. At an address that names it, a browser may keep the file for good. */
  readonly version?: string
}

const styles = 'text/css; charset=utf-8'
const script = 'text/javascript; charset=utf-8'
const own = (name: string) => new URL(`../assets/${name}`, import.meta.url)

/** The page's own files, by name: what is served below /docs/assets/. The parts of the style sheet are one file. */
const sources = {
  'docs.css': { contentType: styles, files: [own('docs.css'), own('text.css'), own('code.css'), own('dialogs.css')] },
  'theme.js': { contentType: script, files: [own('theme.js')] },
  'page.js': { contentType: script, files: [own('page.js')] },
  'samples.js': { contentType: script, files: [own('samples.js')] },
  'tester.js': { contentType: script, files: [own('tester.js')] },
  'search.js': { contentType: script, files: [own('search.js')] },
  'signing.css': { contentType: styles, files: [own('signing.css')] },
  'signing.js': { contentType: script, files: [own('signing.js')] },
  'signing-comparison.js': { contentType: script, files: [own('signing-comparison.js')] },
  'minisearch.js': { contentType: script, files: [new URL(import.meta.resolve('minisearch'))] },
} as const
export type AssetName = keyof typeof sources

export const docsAssets: ReadonlyMap<string, DocumentFile> = new Map(
  Object.entries(sources).map(([name, { contentType, files }]) => {
    const body = Buffer.concat(files.map((file) => readFileSync(file)))
    return [name, { contentType, body, version: createHash('sha256').update(body).digest('base64url').slice(0, 12) }]
  }),
)

/** Where an asset is served. During a roll-out a process of another release answers there with its own. */
export const assetAddress = (name: AssetName): string => `${docsPath}/assets/${name}?v=${docsAssets.get(name)?.version}`
