import type { InFlight } from '@backoffice/contracts'
import { type Check, inFlightSecondsMax, listedMax } from './check.ts'

interface Row extends InFlight {
  readonly brandId: string | null
  readonly total: string
  readonly overdue: string
}

/** What has been committed in one place and not yet in the other. It is a difference once it has lasted too long. */
export const inFlight: Check = {
  name: 'inFlight',
  async run({ client, at }) {
    const { rows } = await client.query<Row>(
      `with waiting as (
        select 'payments' as service, name, aggregate as subject, created_at, message -> 'scope' ->> 'brandId' as brand_id
          from payments.outbox where done_at is null
        union all
        select 'wallet', name, aggregate, created_at, message -> 'scope' ->> 'brandId' from wallet.outbox where done_at is null
        union all
        select 'payments', 'intent', id, created_at, brand_id from payments.withdrawal where status = 'intent'
      ), aged as (
        select service, name, subject, brand_id, greatest(0, extract(epoch from $1::timestamptz - created_at))::int as age from waiting
      )
      select service, name, subject, brand_id as "brandId", age as "ageSeconds", count(*) over () as total,
        count(*) filter (where age > ${inFlightSecondsMax}) over () as overdue
      from aged order by age desc limit ${listedMax}`,
      [at],
    )
    const overdue = rows.filter(({ ageSeconds }) => ageSeconds > inFlightSecondsMax)
    return {
      compared: Number(rows[0]?.total ?? 0),
      differences: overdue.map(({ brandId, service, name, subject, ageSeconds }) => ({
        brandId,
        subject,
        expected: `done within ${inFlightSecondsMax} s`,
        actual: `waiting for ${ageSeconds} s`,
        explanation: `${name} of ${service} has not been finished.`,
      })),
      differencesTotal: Number(rows[0]?.overdue ?? 0),
      inFlight: rows.map(({ service, name, subject, ageSeconds }) => ({ service, name, subject, ageSeconds })),
      inFlightTotal: Number(rows[0]?.total ?? 0),
    }
  },
}
