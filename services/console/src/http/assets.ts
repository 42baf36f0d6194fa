import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { FastifyInstance } from 'fastify'

const own = (name: string) => new URL(`../../assets/${name}`, import.meta.url)

const files = {
  'console.css': { contentType: 'text/css; charset=utf-8', file: own('console.css') },
  'console.js': { contentType: 'text/javascript; charset=utf-8', file: own('console.js') },
  'icon.svg': { contentType: 'image/svg+xml', file: own('icon.svg') },
  'htmx.js': {
    contentType: 'text/javascript; charset=utf-8',
    file: new URL(import.meta.resolve('htmx.org/dist/htmx.min.js')),
  },
} as const
type AssetName = keyof typeof files

const maxAgeSeconds = 365 * 86_400

const assets = Object.entries(files).map(([name, { contentType, file }]) => {
  const body = readFileSync(fileURLToPath(file))
  const version = createHash('sha256').update(body).digest('base64url').slice(0, 12)
  return { name, contentType, body, version }
})
const addresses = new Map(assets.map(({ name, version }) => [name, `/assets/${version}/${name}`]))

/** Where a file is served. A changed file has another address, so that browsers may keep each for good. */
export const assetAddress = (name: AssetName): string => addresses.get(name) ?? ''

export function registerAssets(app: FastifyInstance): void {
  for (const { name, contentType, body } of assets)
    app.get(assetAddress(name as AssetName), (_request, reply) =>
      reply
        .headers({ 'Content-Type': contentType, 'Cache-Control': `public, max-age=${maxAgeSeconds}, immutable` })
        .send(body),
    )
}
