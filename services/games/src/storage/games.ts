import type { ReadDb } from '@backoffice/service-runtime/pool'

export interface ShownGame {
  readonly id: string
  readonly name: string
  readonly provider: string
}

/** All games, whether or not they are in any brand's catalogue. */
export const listGames = (db: ReadDb): Promise<ShownGame[]> => db<ShownGame>`select id, name, provider from game`
