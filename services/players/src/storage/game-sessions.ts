import type { GameSession } from '@backoffice/contracts'
import { type Db, type ReadDb, rowsOf } from '@backoffice/service-runtime'

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

/** What a page shows of the demonstration that it plays. */
export interface DemoSession {
  readonly gameId: string
  readonly name: string
  /** Fictitious, in minor units. */
  readonly balance: bigint
  readonly expiresAt: Date
}

/** The demonstration that a token stands for, unless it has expired. */
export async function findDemoSession(db: ReadDb, tokenSha256: Buffer, now: Date): Promise<DemoSession | undefined> {
  const [session] = await db<DemoSession>`
    select s.game_id, g.name, s.demo_balance as balance, s.expires_at
    from game_session s join game g on g.id = s.game_id
    where s.token_sha256 = ${tokenSha256} and s.expires_at > ${now}::timestamptz
  `
  return session
}

/**
 * Books one spin in one statement.
 * @returns undefined when the balance does not cover the stake, or the session has expired
 */
export async function bookSpin(
  db: Db,
  spin: { readonly tokenSha256: Buffer; readonly stake: bigint; readonly win: bigint; readonly now: Date },
): Promise<bigint | undefined> {
  const { tokenSha256, stake, win, now } = spin
  const [booked] = await db<{ balance: bigint }>`
    update game_session set demo_balance = demo_balance - ${stake}::bigint + ${win}::bigint
    where token_sha256 = ${tokenSha256} and expires_at > ${now}::timestamptz and demo_balance >= ${stake}::bigint
    returning demo_balance as balance
  `
  return booked?.balance
}
