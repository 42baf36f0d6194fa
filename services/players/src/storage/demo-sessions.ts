import type { Sql } from '@backoffice/service-runtime'
import { sql } from 'kysely'

export interface DemoSession {
  readonly gameId: string
  readonly name: string
  /** Fictitious, in minor units. */
  readonly balance: bigint
  readonly expiresAt: Date
}

/** The demonstration that a token opens, unless it has expired. */
export async function findDemoSession(
  connection: Sql,
  tokenSha256: Buffer,
  now: Date,
): Promise<DemoSession | undefined> {
  const { rows } = await sql<{ gameId: string; name: string; balance: string; expiresAt: Date }>`
    select s.game_id as "gameId", g.name, s.demo_balance as balance, s.expires_at as "expiresAt"
    from game_session s join game g on g.id = s.game_id
    where s.token_sha256 = ${tokenSha256} and s.expires_at > ${now}::timestamptz
  `.execute(connection)
  const row = rows[0]
  return row === undefined ? undefined : { ...row, balance: BigInt(row.balance), expiresAt: new Date(row.expiresAt) }
}

/** Books one spin in one statement. Undefined when the balance does not cover the stake, or the session is gone. */
export async function settleSpin(
  connection: Sql,
  {
    tokenSha256,
    stake,
    win,
    now,
  }: { readonly tokenSha256: Buffer; readonly stake: bigint; readonly win: bigint; readonly now: Date },
): Promise<bigint | undefined> {
  const { rows } = await sql<{ balance: string }>`
    update game_session set demo_balance = demo_balance - ${stake}::bigint + ${win}::bigint
    where token_sha256 = ${tokenSha256} and expires_at > ${now}::timestamptz and demo_balance >= ${stake}::bigint
    returning demo_balance as balance
  `.execute(connection)
  return rows[0] === undefined ? undefined : BigInt(rows[0].balance)
}
