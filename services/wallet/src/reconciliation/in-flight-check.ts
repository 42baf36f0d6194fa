import type { InFlight } from '@backoffice/contracts'
import { sql } from '@backoffice/service-runtime'
import { type Check, countByBrand, inFlightSecondsMax, listedMax } from './check.ts'

interface Row extends InFlight {
  readonly brandId: string | null
  readonly total: bigint
  readonly overdue: bigint
}

/** Effects that one service has committed and another has not finished. After too long they are differences. */
export const inFlight: Check = {
  name: 'inFlight',
  async run({ db, at }) {
    const aged = waitingAt(at)
    const rows = await db<Row>`
      ${aged}
      select service, name, subject, brand_id, age_seconds, count(*) over () as total,
        count(*) filter (where age_seconds > ${inFlightSecondsMax}) over () as overdue
      from aged order by age_seconds desc limit ${listedMax}
    `
    const total = Number(rows[0]?.total ?? 0)
    const ofBrands = await countByBrand(
      db,
      sql`${aged} select brand_id from aged where age_seconds > ${inFlightSecondsMax}`,
    )
    const overdue = rows.filter(({ ageSeconds }) => ageSeconds > inFlightSecondsMax)
    return {
      compared: total,
      differences: overdue.map(({ brandId, service, name, subject, ageSeconds }) => ({
        brandId,
        subject,
        expected: `done within ${inFlightSecondsMax} s`,
        actual: `waiting for ${ageSeconds} s`,
        explanation: `${name} of ${service} has not been finished.`,
      })),
      differencesTotal: Number(rows[0]?.overdue ?? 0),
      inFlight: rows.map(({ service, name, subject, ageSeconds }) => ({ service, name, subject, ageSeconds })),
      inFlightTotal: total,
      ofBrands,
    }
  },
}

/** What is in flight, as `aged`: how long it has been. */
const waitingAt = (at: Date) => sql`
  with waiting as (
    select 'payments' as service, name, aggregate as subject, created_at,
        coalesce(message #>> '{scope,brandId}', message #>> '{event,brandId}') as brand_id
      from payments.outbox where done_at is null
    union all
    select 'wallet', name, aggregate, created_at, message -> 'scope' ->> 'brandId' from wallet.outbox where done_at is null
    union all
    -- Only commands: what else the service tells is not about money, and no concern of the reconciler's.
    select 'players', o.name, o.aggregate, o.created_at, p.brand_id
      from players.outbox o left join players.player p on p.id = o.aggregate where o.done_at is null and o.kind = 'command'
    union all
    select 'payments', 'intent', id, created_at, brand_id from payments.withdrawal where status = 'intent'
  ), aged as (
    select service, name, subject, brand_id,
      greatest(0, extract(epoch from ${at}::timestamptz - created_at))::integer as age_seconds
    from waiting
  )
`
