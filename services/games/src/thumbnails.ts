import type { Statements } from '@backoffice/database'
import { thumbnail } from './domain/thumbnail.ts'

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
