import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { type AssetName, assetNames, type DocumentFile, docsPath } from './served.ts'

const styles = 'text/css; charset=utf-8'
const script = 'text/javascript; charset=utf-8'
const own = (name: string) => new URL(`../assets/${name}`, import.meta.url)

/** What stands in each file. The parts of the style sheet are one file. */
const sources: Readonly<Record<AssetName, { readonly contentType: string; readonly files: readonly URL[] }>> = {
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
}

/** By name: what is served below /docs/assets/. */
export const docsAssets: ReadonlyMap<string, DocumentFile> = new Map(assetNames.map((name) => [name, asset(name)]))

function asset(name: AssetName): DocumentFile {
  const { contentType, files } = sources[name]
  const body = Buffer.from(withVersions(files.map((file) => readFileSync(file, 'utf8')).join('')))
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
export const assetAddress = (name: AssetName): string => `${docsPath}/assets/${name}?v=${docsAssets.get(name)?.version}`
