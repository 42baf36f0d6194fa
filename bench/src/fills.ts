import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { Scope } from '@backoffice/contracts'
import type { Subject } from './stack/subject.ts'

/**
 * Stores claims as a busy day leaves them: creations with replies, under random keys.
 * @param expires in SQL; by default none expires while the bench runs
 */
export async function fillClaims(
  subject: Subject,
  count: number,
  expires = `now() + interval '2 hours' + interval '20 hours' * random()`,
): Promise<void> {
  const { operatorId, environment } = subject.scope
  await subject.withSql(async (client) => {
    await client.query(
      `insert into gateway.claim (operator_id, environment, key, fingerprint, operation, operation_id, token, expires_at,
         status, content_type, body, request_id)
       select $1, $2, key, sha256(key::bytea), 'createDeposit', 'opn_' || key, key::uuid,
         ${expires}, 201, 'application/json; charset=utf-8',
         convert_to(repeat('{"id":"dep_","status":"pending"}', 10), 'UTF8'), 'req_' || key
       from generate_series(1, $3::int), lateral (select gen_random_uuid()::text as key where generate_series > 0) k`,
      [operatorId, environment, count],
    )
    await client.query('vacuum analyze gateway.claim')
    await client.query('checkpoint')
  })
}

/** Rows that are past their retention, so that the first purge, a minute after the start, has as much to do as one in use. */
export async function fillOverdue(subject: Subject, count: number): Promise<void> {
  await fillClaims(subject, count, `now() - interval '1 hour'`)
  await subject.withSql(async (client) => {
    await client.query(
      `insert into payments.operation (operation_id, name, fingerprint, reply, environment, created_at)
       select 'opn_' || gen_random_uuid(), 'createDeposit', 'bench', '{"body":{}}', $2, now() - interval '10 days'
       from generate_series(1, $1::int)`,
      [count, subject.scope.environment],
    )
    await client.query(
      `insert into webhooks.inbox (consumer, event_id, received_at)
       select 'bench', 'evt_' || gen_random_uuid(), now() - interval '30 days' from generate_series(1, $1::int)`,
      [count],
    )
  })
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

export function filledPlayer(name: string): string {
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

/** Over so many connections a large ledger is filled: one statement keeps one core busy. */
const fillsAtOnce = 2

/** Fills the ledger with deposits that were confirmed long ago, a hundred of each player. */
export async function fillDeposits(subject: Subject, rows: number): Promise<void> {
  const { brandId, operatorId, currency } = subject.scope
  const fill = (statement: string, part = 0, othersAreDone: () => Promise<unknown> = async () => {}) =>
    subject.withSql(async (client) => {
      await client.query('begin')
      const settings = {
        ...{ 'bench.brand': brandId, 'bench.operator': operatorId, 'bench.currency': currency },
        ...{ 'bench.rows': String(Math.ceil(rows / fillsAtOnce)), 'bench.part': String(part) },
        // No trigger speaks: each would look at each row.
        ...{ work_mem: '256MB', session_replication_role: 'replica' },
      }
      for (const [name, value] of Object.entries(settings))
        await client.query('select set_config($1, $2, true)', [name, value])
      await client.query(statement)
      await othersAreDone()
      await client.query('commit')
    })
  // Each page of a system account's entries is of whole transactions: so there must be some.
  await subject.withSql((client) =>
    client.query('do $$ begin for n in 1..100000 loop perform pg_current_xact_id(); commit; end loop; end $$'),
  )
  // Once for all parts: each would wait until the other has ended.
  await fill(`insert into wallet.account (brand_id, kind, currency, genesis, head, created_at, updated_at)
    values (current_setting('bench.brand'), 'deposits', current_setting('bench.currency'), '', '', now(), now())
    on conflict do nothing`)
  const deposits = readFileSync(new URL('./deposits.sql', import.meta.url), 'utf8')
  // Together: their transactions are of the past, and between two ends the wallet might add up the half.
  let unfinished = fillsAtOnce
  const all = Promise.withResolvers<void>()
  const othersAreDone = () => {
    unfinished -= 1
    if (unfinished === 0) all.resolve()
    return all.promise
  }
  const parts = Array.from({ length: fillsAtOnce }, (_, part) => fill(deposits, part, othersAreDone))
  // Nobody waits for a part that has failed.
  for (const part of parts) part.catch(all.reject)
  await Promise.all([...parts, all.promise])
  await subject.withSql(async (client) => {
    await client.query('vacuum analyze')
    await client.query('checkpoint')
  })
}

/** Deposits of 0.01 that a player has begun today. */
export async function fillDay(subject: Subject, playerId: string, count: number): Promise<void> {
  const { brandId, operatorId, environment, timeZone, currency } = subject.scope
  await subject.withSql(async (client) => {
    await client.query(
      `with made as (
        insert into payments.deposit (id, brand_id, operator_id, environment, time_zone, player_id, external_reference,
          amount, currency, method, status, version, created_at)
        select 'dep_0day' || lpad(n::text, 22, '0'), $1, $2, $3, $4, $5, 'day ' || n, 1, $6, 'pix', 'pending', 1,
          now() - n * interval '1 ms' from generate_series(1, $7::int) n returning id, created_at
      ), told as (
        insert into payments.status_transition (record_id, version, to_status, at, by_kind, operation_id)
        select id, 1, 'pending', created_at, 'operator', id from made
      )
      insert into payments.depositor (player_id, deposited, day, day_total)
      values ($5, $7::int, (now() at time zone $4)::date, $7::int)`,
      [brandId, operatorId, environment, timeZone, playerId, currency, count],
    )
    await client.query('vacuum analyze payments.deposit, payments.status_transition')
  })
}

/** Has an incremental reconciliation begin here, as if a run had just looked at all that was filled. */
export async function settleReconciliation(subject: Subject): Promise<void> {
  await subject.withSql(async (client) => {
    await client.query('update reconciler.checkpoint set below = pg_snapshot_xmin(pg_current_snapshot()), at = now()')
    await client.query(
      `insert into reconciler.account_checkpoint (account_id, entries, balance, hash, below)
       select a.id, s.entries, s.balance, case when a.owner_id is not null then a.head end, c.below
       from reconciler.checkpoint c, wallet.account a cross join lateral (
         select a.seq as entries, a.posted as balance where a.owner_id is not null
         union all select count(*), coalesce(sum(amount), 0) from wallet.entry
         where account_id = a.id and a.owner_id is null having a.owner_id is null
       ) s on conflict (account_id) do update
         set entries = excluded.entries, balance = excluded.balance, hash = excluded.hash, below = excluded.below`,
    )
  })
}

/** Events that were published in the two hours before the last ten minutes. */
export async function fillPublished(subject: Subject, count: number): Promise<void> {
  await subject.withSql(async (client) => {
    await client.query(
      `insert into payments.published_event (published_at, id, message)
       select now() - interval '15 minutes' - interval '2 hours' * n / $1::int, 'evt_0bench' || lpad(n::text, 20, '0'),
         json_build_object('event', json_build_object('id', 'evt_0bench' || lpad(n::text, 20, '0'), 'type', 'deposit.confirmed',
           'data', json_build_object('id', 'dep_0bench' || n, 'filler', repeat('x', 600))))
       from generate_series(1, $1::int) n`,
      [count],
    )
    await client.query('vacuum analyze payments.published_event')
  })
}

/** Deliveries that are due, of endpoints that are disabled until somebody enables them. */
export async function fillBacklog(subject: Subject, scopes: readonly Scope[], count: number): Promise<void> {
  const endpoints = scopes.map(({ operatorId, environment }) => `${operatorId}/${environment}`)
  await subject.withSql(async (client) => {
    await client.query('update webhooks.endpoint set enabled = false where id = any($1)', [endpoints])
    await client.query(
      `insert into webhooks.delivery (id, endpoint_id, event_id, type, brand_id, body, state, event_created_at, received_at,
         next_attempt_at)
       select 'dlv_0bench' || lpad(n::text, 20, '0'), ($1::text[])[1 + n % $2], 'evt_0bench' || lpad(n::text, 20, '0'),
         'deposit.confirmed', $3, convert_to('{"data":"' || repeat('x', 600) || '"}', 'UTF8'), 'pending', at, at, at
       from generate_series(1, $4::int) n cross join lateral (select now() - n * interval '1 ms' as at) made`,
      [endpoints, endpoints.length, subject.scope.brandId, count],
    )
    await client.query('vacuum analyze webhooks.delivery')
    await client.query('checkpoint')
  })
}
