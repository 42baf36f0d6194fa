import type { Statements } from '@backoffice/database'
import { shapes, themeOf } from './domain/themes.ts'

/** The thumbnails of all games, drawn once: a request for one asks nobody. */
export class Thumbnails {
  readonly #db: Statements
  #drawn: ReadonlyMap<string, string> | undefined

  constructor(db: Statements) {
    this.#db = db
  }

  /** Reads the catalogue and draws it: all games, whether or not they are in any brand's. */
  async load(): Promise<void> {
    const games = await this.#db<Parameters<typeof thumbnail>[0]>`select id, name, provider from game`
    this.#drawn = new Map(games.map((game) => [game.id, thumbnail(game)]))
  }

  /** False until the catalogue was read for the first time. */
  get areDrawn(): boolean {
    return this.#drawn !== undefined
  }

  /** Undefined when there is no such game. */
  of(gameId: string): string | undefined {
    return this.#drawn?.get(gameId)
  }
}

const escapes: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }
const escapeXml = (text: string) => text.replaceAll(/[&<>"]/g, (character) => escapes[character] ?? '')

/** A drawn thumbnail, 4:3: the game's scenery, its three best symbols on a reel, its name. */
function thumbnail(game: { readonly id: string; readonly name: string; readonly provider: string }): string {
  const { symbols, from, to } = themeOf(game.id)
  const reels = symbols.slice(0, 3).map(([shape, color], reel) => {
    const x = 62 + reel * 96
    return `<rect x="${x}" y="86" width="84" height="84" rx="14" fill="#fff" fill-opacity=".94"/>
<path transform="translate(${x + 15} 101) scale(.54)" d="${shapes[shape]}" fill="${color}" fill-rule="evenodd"/>`
  })
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 400 300" role="img" aria-label="${escapeXml(game.name)}">
<defs><linearGradient id="g" x1="0" y1="0" x2="1" y2="1"><stop offset="0" stop-color="${from}"/><stop offset="1" stop-color="${to}"/></linearGradient>
<radialGradient id="l" cx=".5" cy=".1" r=".9"><stop offset="0" stop-color="#fff" stop-opacity=".35"/><stop offset="1" stop-color="#fff" stop-opacity="0"/></radialGradient></defs>
<rect width="400" height="300" fill="url(#g)"/><rect width="400" height="300" fill="url(#l)"/>
<rect x="46" y="70" width="308" height="116" rx="20" fill="#000" fill-opacity=".28"/>
${reels.join('\n')}
<text x="200" y="236" font-family="system-ui, sans-serif" font-size="34" font-weight="700" fill="#fff" text-anchor="middle">${escapeXml(game.name)}</text>
<text x="200" y="266" font-family="system-ui, sans-serif" font-size="17" fill="#fff" fill-opacity=".75" text-anchor="middle">${escapeXml(game.provider)}</text>
</svg>
`
}
