import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { type AssetName, assetNames, type DocumentFile, docsPath } from './served.ts'

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
export const assetAddress = (name: AssetName): string => `${docsPath}/assets/${name}?v=${docsAssets.get(name)?.version}`
