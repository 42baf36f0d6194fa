import { residentServices, type ServiceName } from '@backoffice/contracts'
import type { Pool } from 'pg'

/** Tables that a refused request may write to, and why that is no effect. */
const bookkeeping: Readonly<Record<string, string>> = {
  'gateway.claim': 'the refusal is stored under the Idempotency-Key',
  'gateway.rate_window': 'a refused request counts as well',
  'gateway.daily_use': 'so does what it would have stored',
  'gateway.credential_use': 'the key was used, whatever came of it',
  'gateway.homologation_proof': 'a refusal proves something, too',
  'gateway.rate_refusal': 'a refused request is one of its minute',
  'gateway.refused_request': 'it is kept that it was refused',
  'gateway.refused_today': 'and counted',
  'wallet.held_win': 'it is kept that the win waits, and nothing is paid',
  'payments.depositor': "a row without content, to be locked before the day's deposits are summed",
}
/** The same, in every service. */
const bookkeepingOfAll: Readonly<Record<string, string>> = {
  operation: 'the refusal is stored under the operation id',
  inbox: 'written some time after the request whose event it is about',
  stream_seen: 'written some time after an event was sent',
  published_event: 'written when an event has left, some time after the request',
}
/** These follow from events, or are counted, some time after the request. */
const later = new Set([
  ...['webhooks.delivery', 'webhooks.lease', 'webhooks.attempt', 'webhooks.judged_event'],
  ...['webhooks.delivery_hour', 'webhooks.delivery_position'],
  ...['wallet.system_checkpoint', 'wallet.play_day', 'wallet.money_day', 'wallet.money_position'],
])

/** Rows that stand for a refusal. */
const refusals: Readonly<Record<string, string>> = {
  'payments.withdrawal': "new.status not in ('intent', 'refused', 'abandoned')",
  'wallet.hold': "new.state <> 'refused'",
  // The house account of a provider is opened before it is decided; it has no balance of its own.
  'wallet.account': "new.party = ''",
  'wallet.play': "new.outcome <> 'refused'",
}

/** Sees every row that is written to the services' tables, by triggers. A table that is new is watched, too. */
export class Effects {
  readonly #admin: Pool

  private constructor(admin: Pool) {
    this.#admin = admin
  }

  static async watch(admin: Pool, schemas: readonly ServiceName[] = residentServices): Promise<Effects> {
    await admin.query(`
      create schema watched;
      create table watched.effect (place text, row text);
      create function watched.note() returns trigger language plpgsql security definer as $$
        begin
          insert into watched.effect values (tg_table_schema || '.' || tg_table_name, tg_op || ' ' || coalesce(new, old)::text);
          return null;
        end
      $$
    `)
    const { rows } = await admin.query<{ schema: string; name: string }>(
      `select table_schema as schema, table_name as name from information_schema.tables
      where table_schema = any($1) and table_type = 'BASE TABLE'
        and not (select relispartition from pg_class where oid = format('%I.%I', table_schema, table_name)::regclass)`,
      [schemas],
    )
    for (const { schema, name } of rows) {
      const place = `${schema}.${name}`
      if (place in bookkeeping || name in bookkeepingOfAll || later.has(place)) continue
      // What has left is taken out of the outbox, an event some time after the request that sent it.
      const writes = name === 'outbox' ? 'insert' : 'insert or update'
      const only = refusals[place] === undefined ? '' : `when (${refusals[place]})`
      await admin.query(
        `create trigger watched after ${writes} on ${place} for each row ${only} execute function watched.note()`,
      )
      if (name === 'outbox') continue
      await admin.query(
        `create trigger watched_deletes after delete on ${place} for each row execute function watched.note()`,
      )
    }
    return new Effects(admin)
  }

  /** What was written since the last call. */
  async take(): Promise<string[]> {
    const { rows } = await this.#admin.query<{ place: string; row: string }>(
      'delete from watched.effect returning place, row',
    )
    return rows.map(({ place, row }) => `${place}: ${row}`)
  }
}
