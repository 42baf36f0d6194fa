import type { Statements } from '@backoffice/database'

// The role of this program may read these columns alone, and change the balance alone: a migration of players says so.

/** What a page shows of the demonstration that it plays. */
export interface Demonstration {
  readonly gameId: string
  readonly name: string
  /** Fictitious, in minor units; null where the sandbox's wallet is staked. */
  readonly balance: bigint | null
  /** Whose money is staked; null where the balance is fictitious. */
  readonly staked: StakedSession | null
  readonly expiresAt: Date
}

/** A session of the game that stakes the money of the sandbox's wallets. */
export interface StakedSession {
  readonly id: string
  readonly brandId: string
  readonly playerId: string
  readonly currency: string
}

type Row = Omit<Demonstration, 'staked'> &
  ((Omit<StakedSession, 'id'> & { readonly sessionId: string }) | { readonly sessionId: null })

/** The demonstration that a token stands for, unless it has expired. */
export async function findDemonstration(
  db: Statements,
  tokenSha256: Buffer,
  now: Date,
): Promise<Demonstration | undefined> {
  const [session] = await db<Row>`
    select s.game_id, g.name, s.demo_balance as balance, s.expires_at,
      staked.id as session_id, staked.brand_id, staked.player_id, staked.currency
    from game_session s join game g on g.id = s.game_id
    left join sandbox_wallet_session staked on staked.token_sha256 = s.token_sha256
    where s.token_sha256 = ${tokenSha256} and s.expires_at > ${now}::timestamptz
  `
  if (session === undefined) return undefined
  const { gameId, name, balance, expiresAt } = session
  if (session.sessionId === null) return { gameId, name, balance, expiresAt, staked: null }
  const { brandId, playerId, currency } = session
  return { gameId, name, balance, expiresAt, staked: { id: session.sessionId, brandId, playerId, currency } }
}

/**
 * Books one spin in one statement.
 * @returns undefined when the balance does not cover the stake, or the session has expired
 */
export async function bookSpin(
  db: Statements,
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
