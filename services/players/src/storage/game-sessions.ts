import type { GameSession } from '@backoffice/contracts'
import { type Db, rowsOf } from '@backoffice/service-runtime'

export interface GameSessionRecord {
  readonly id: string
  readonly playerId: string
  readonly brandId: string
  readonly gameId: string
  readonly mode: GameSession['mode']
  /** Of a demonstration without its token; otherwise `sha256:` and the digest of the provider's URL. */
  readonly gameUrl: string
  readonly createdAt: Date
  readonly expiresAt: Date
  /** Of a demonstration, as its fictitious balance in minor units. */
  readonly tokenSha256: Buffer | null
  readonly demoBalance: bigint | null
}

const columns = `
  id text, player_id text, brand_id text, game_id text, mode text, game_url text, created_at timestamptz,
  expires_at timestamptz, token_sha256 bytea, demo_balance bigint
`

export async function insertSessions(db: Db, sessions: readonly GameSessionRecord[]): Promise<void> {
  await db`
    insert into game_session ${rowsOf('new', sessions, columns)}
    -- The foreign key locks the players' rows: in id order, as all who lock them do.
    order by player_id
  `
}
