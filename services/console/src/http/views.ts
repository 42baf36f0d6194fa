import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { type Environment, freshLoginMinutes, sumRowsMax, visible } from '@backoffice/contracts'
import { ServedFile } from '@backoffice/process'
import view from '@fastify/view'
import { Eta } from 'eta'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { ConsoleContext } from '../context.ts'
import { takeNotice } from '../identity/cookies.ts'
import { displayOf, isIdText, pageSizes } from '../pieces/cells.ts'
import { menuFor } from '../pieces/counts.ts'
import { tableOf } from '../pieces/listed.ts'

/** Production first: it is what counts. */
const environmentNames: readonly Environment[] = ['production', 'sandbox']
/** A record belongs to one environment, so from its page the switch leads to the list. */
const listAddress = (environment: Environment, here: string): string =>
  `/${environment}/${/^\/\w+\/([\w-]+)/.exec(here)?.[1] ?? ''}`.replace(/\/$|\/search$/, '')

/** Longer texts take the whole width of a narrow screen. */
const shortTextMax = 18

const views = fileURLToPath(new URL('../../views', import.meta.url))

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}
/** All text in pages goes through here: operators and players wrote parts of it. */
const escapeText = (value: unknown): string =>
  visible(String(value ?? ''), '\n\r\t').replace(/[&<>"']/g, (character) => entities[character] ?? '')

declare module 'fastify' {
  interface FastifyReply {
    /** Sends a page of `views`. */
    page(name: string, data: object, options: { readonly request: FastifyRequest }): FastifyReply
  }
}

/** Server-rendered pages. */
export async function registerViews(app: FastifyInstance, context: ConsoleContext): Promise<void> {
  const eta = new Eta({ views, autoEscape: true, escapeFunction: escapeText })
  // Each template is compiled once. Without `production` the plugin would have it compiled for each page.
  await app.register(view, { engine: { eta }, root: views, production: true })
  app.decorateReply(
    'page',
    function page(this: FastifyReply, name: string, data: object, { request }: { readonly request: FastifyRequest }) {
      // What every page gets.
      const frame = {
        ...displayOf(request, context),
        person: request.person,
        menu: request.person === undefined ? [] : menuFor(request.person),
        notice: takeNotice(request),
        csrfToken: this.generateCsrf(),
        now: context.clock.now().getTime(),
        // Where a form was sent to is no page.
        here: request.method === 'GET' ? request.url : request.url.replace(/\/\w+$/, ''),
        // The same list in each environment.
        environments: environmentNames.map((name) => ({ name, href: listAddress(name, request.url) })),
        asset: assetAddress,
        tableOf,
        pageSizes,
        freshLoginMinutes,
        shortTextMax,
        sumRowsMax,
        isId: isIdText,
      }
      return this.view(name, { ...frame, ...data })
    },
  )
}

const own = (name: string) => new URL(`../../assets/${name}`, import.meta.url)

const script = 'text/javascript; charset=utf-8'

const files = {
  'console.css': { contentType: 'text/css; charset=utf-8', file: own('console.css') },
  'console.js': { contentType: script, file: own('console.js') },
  'forms.js': { contentType: script, file: own('forms.js') },
  'signing.js': { contentType: script, file: own('signing.js') },
  'icon.svg': { contentType: 'image/svg+xml', file: own('icon.svg') },
  'htmx.js': { contentType: script, file: new URL(import.meta.resolve('htmx.org/dist/htmx.min.js')) },
} as const
type AssetName = keyof typeof files

const kept = `public, max-age=${365 * 86_400}, immutable`

const assets = Object.entries(files).map(([name, { contentType, file }]) => {
  const body = readFileSync(fileURLToPath(file))
  return { name: name as AssetName, body, served: new ServedFile({ contentType, body }) }
})
// One for all: a module asks for others beside itself.
const version = assets
  .reduce((hash, { body }) => hash.update(body), createHash('sha256'))
  .digest('base64url')
  .slice(0, 12)

/** Where a file is served. When one has changed, all have other addresses, so that browsers may keep each for good. */
const assetAddress = (name: AssetName): string => `/assets/${version}/${name}`

/** Pages are not compressed: they hold tokens and people's data beside what a link may put there, and lengths would tell. */
export function registerAssets(app: FastifyInstance): void {
  for (const { name, served } of assets)
    app.get(assetAddress(name), (request, reply) => served.send(request, reply, kept))
}
