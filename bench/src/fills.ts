import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { Scope } from '@backoffice/contracts'
import type { Subject } from './stack/subject.ts'

/** The id of the n-th player (from 1) whose account is opened here: a valid id that can be computed. */
export const playerOf = (account: number): string => `ply_0bench${String(account).padStart(20, '0')}`

/** Opens accounts as the wallet would, all at once. Existing accounts stay as they are. */
export async function openAccounts(subject: Subject, count: number): Promise<void> {
  await subject.withSql(async (client) => {
    await client.query(
      `insert into wallet.account (brand_id, owner_id, kind, currency, genesis, head, created_at, updated_at)
       select $1, 'ply_0bench' || lpad(n::text, 20, '0'), 'player', $2, g.start, g.start, now(), now()
       from generate_series(1, $3::int) n
       cross join lateral (select sha256((n || gen_random_uuid()::text)::bytea) as start) g
       on conflict do nothing`,
      [subject.scope.brandId, subject.scope.currency, count],
    )
    await client.query('analyze wallet.account')
  })
}

/**
 * Stores claims as a busy day leaves them: creations with replies, under random keys. None expires while the bench runs.
 */
export async function fillClaims(subject: Subject, count: number): Promise<void> {
  const { operatorId, environment } = subject.scope
  await subject.withSql(async (client) => {
    await client.query(
      `insert into gateway.claim (operator_id, environment, key, fingerprint, operation, operation_id, token, expires_at,
         status, content_type, body, request_id)
       select $1, $2, key, sha256(key::bytea), 'createDeposit', 'opn_' || key, key::uuid,
         now() + interval '2 hours' + interval '20 hours' * random(), 201, 'application/json; charset=utf-8',
         convert_to(repeat('{"id":"dep_","status":"pending"}', 10), 'UTF8'), 'req_' || key
       from generate_series(1, $3::int), lateral (select gen_random_uuid()::text as key where generate_series > 0) k`,
      [operatorId, environment, count],
    )
    await client.query('vacuum analyze gateway.claim')
    await client.query('checkpoint')
  })
}

/**
 * Records the deposits of credits that were sent to the wallet alone. Reconciliation expects a confirmed deposit with its
 * history for each credit and would report those that are missing. They are of long ago: their events are not kept, so
 * that it expects none.
 */
export async function recordDeposits(subject: Subject): Promise<void> {
  const { brandId, operatorId, environment, timeZone } = subject.scope
  await subject.withSql((client) =>
    client.query(
      `with recorded as (
       insert into payments.deposit (id, brand_id, operator_id, environment, time_zone, player_id, external_reference,
         amount, currency, method, status, version, created_at, confirmed_at)
       select t.reference, t.brand_id, $2, $3, $4, a.owner_id, t.reference, t.amount, a.currency, 'bench', 'confirmed', 2,
         t.created_at - interval '1 year', t.created_at - interval '1 year'
       from wallet.transfer t join wallet.account a on a.id = t.credit_account
       where t.brand_id = $1 and t.type = 'DEPOSIT' and t.outcome = 'posted'
         and not exists (select from payments.deposit d where d.id = t.reference)
       returning id, confirmed_at
       )
       insert into payments.status_transition (record_id, version, from_status, to_status, at, by_kind, by_name, operation_id)
       select id, version, from_status, to_status, confirmed_at, 'operator', $2, id
       from recorded cross join (values (1, null, 'pending'), (2, 'pending', 'confirmed')) as step (version, from_status, to_status)`,
      [brandId, operatorId, environment, timeZone],
    ),
  )
}

const atOnce = 4

/** Operators with one endpoint each: an operator has only one in each environment, so many endpoints need many operators. */
export async function openEndpoints({ team }: Subject, count: number, url: string): Promise<readonly Scope[]> {
  const scopes: Scope[] = []
  let begun = 0
  const open = async () => {
    while (begun < count) {
      begun += 1
      const scope = await team.createOperator(`bench ${randomUUID().slice(0, 13)}`)
      await team.setWebhookUrl(scope, url)
      scopes.push(scope)
    }
  }
  await Promise.all(Array.from({ length: atOnce }, open))
  return scopes
}

/** The account with a tenth of all entries, and the one with a thousandth. */
export const filledPlayers = { large: filledPlayer('large'), small: filledPlayer('small') } as const

function filledPlayer(name: string): string {
  return `ply_0filled${name.padStart(19, '0')}`
}

/** Fills the ledger with SQL as the superuser, because it would take hours through the wallet. */
export async function fillLedger(subject: Subject, rows: number): Promise<void> {
  const { brandId, currency } = subject.scope
  await subject.withSql(async (client) => {
    await client.query('begin')
    const settings = {
      'bench.brand': brandId,
      'bench.currency': currency,
      'bench.rows': String(rows),
      work_mem: '256MB',
    }
    for (const [name, value] of Object.entries(settings))
      await client.query('select set_config($1, $2, true)', [name, value])
    await client.query(readFileSync(new URL('./ledger.sql', import.meta.url), 'utf8'))
    await client.query('commit')
    await client.query('vacuum analyze wallet.transfer, wallet.entry, wallet.account, wallet.audit_entry')
    await client.query('checkpoint')
  })
}
