import type { GameSession } from '@backoffice/contracts'
import type { Db, ReadDb } from '@backoffice/service-runtime'

export interface GameSessionRecord {
  readonly id: string
  readonly playerId: string
  readonly brandId: string
  readonly gameId: string
  readonly mode: GameSession['mode']
  /** Without the token of a demonstration. */
  readonly gameUrl: string
  readonly createdAt: Date
  readonly expiresAt: Date
  /** Of a demonstration, as its fictitious balance in minor units. */
  readonly tokenSha256: Buffer | null
  readonly demoBalance: bigint | null
}

export async function insertSessions(db: Db, sessions: readonly GameSessionRecord[]): Promise<void> {
  await db`
    insert into game_session (id, player_id, brand_id, game_id, mode, game_url, created_at, expires_at, token_sha256, demo_balance)
    select * from unnest(
      ${sessions.map(({ id }) => id)}::text[], ${sessions.map(({ playerId }) => playerId)}::text[],
      ${sessions.map(({ brandId }) => brandId)}::text[], ${sessions.map(({ gameId }) => gameId)}::text[],
      ${sessions.map(({ mode }) => mode)}::text[], ${sessions.map(({ gameUrl }) => gameUrl)}::text[],
      ${sessions.map(({ createdAt }) => createdAt)}::timestamptz[],
      ${sessions.map(({ expiresAt }) => expiresAt)}::timestamptz[],
      ${sessions.map(({ tokenSha256 }) => tokenSha256)}::bytea[],
      ${sessions.map(({ demoBalance }) => demoBalance)}::bigint[]
    ) as new (id, player_id, brand_id, game_id, mode, game_url, created_at, expires_at, token_sha256, demo_balance)
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

/** The demonstration that a token opens, unless it has expired. */
export async function findDemoSession(db: ReadDb, tokenSha256: Buffer, now: Date): Promise<DemoSession | undefined> {
  const [session] = await db<DemoSession>`
    select s.game_id, g.name, s.demo_balance as balance, s.expires_at
    from game_session s join game g on g.id = s.game_id
    where s.token_sha256 = ${tokenSha256} and s.expires_at > ${now}::timestamptz
  `
  return session
}

/** Books one spin in one statement. Undefined when the balance does not cover the stake, or the session is gone. */
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
