import type { Statements } from '@backoffice/database'

// The role of this program may read these columns alone, and change the balance alone: a migration of players says so.

/** What a page shows of the demonstration that it plays. */
export interface Demonstration {
  readonly gameId: string
  readonly name: string
  /** Fictitious, in minor units. */
  readonly balance: bigint
  readonly expiresAt: Date
}

/** The demonstration that a token stands for, unless it has expired. */
export async function findDemonstration(
  db: Statements,
  tokenSha256: Buffer,
  now: Date,
): Promise<Demonstration | undefined> {
  const [session] = await db<Demonstration>`
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
