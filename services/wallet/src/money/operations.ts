import { type Environment, fromMinorUnits, moneyDays, operations } from '@backoffice/contracts'
import { handle, type ReadDb, sql } from '@backoffice/service-runtime'

export const listMoneyDays = handle(operations.wallet.listMoneyDays, async ({ input }, { db, now }) => {
  const { environment, brandId } = input
  const days = await listDays(db, { environment, brandId, now })
  const shown = (amount: string) => fromMinorUnits(BigInt(amount))
  return { data: days.map((day) => ({ ...day, deposited: shown(day.deposited), withdrawn: shown(day.withdrawn) })) }
})

interface MoneyDay {
  readonly day: string
  readonly currency: string
  readonly deposits: number
  /** Sums are text: those of all brands may be larger than a bigint. */
  readonly deposited: string
  readonly withdrawals: number
  readonly withdrawn: string
}

/** The last days of an environment, or of one brand of it: a row for each brand, currency, type and day is read. */
function listDays(
  db: ReadDb,
  {
    environment,
    brandId,
    now,
  }: { readonly environment: Environment; readonly brandId: string | undefined; readonly now: Date },
): Promise<MoneyDay[]> {
  const whose = brandId === undefined ? sql`true` : sql`brand_id = ${brandId}`
  return db<MoneyDay>`
    select day, currency, coalesce(sum(transfers) filter (where type = 'DEPOSIT'), 0)::int as deposits,
      coalesce(sum(amount) filter (where type = 'DEPOSIT'), 0)::text as deposited,
      coalesce(sum(transfers) filter (where type = 'WITHDRAWAL'), 0)::int as withdrawals,
      coalesce(sum(amount) filter (where type = 'WITHDRAWAL'), 0)::text as withdrawn
    from money_day
    -- A brand east of us is a day ahead.
    where ${whose} and environment = ${environment} and day > (${now}::timestamptz at time zone 'UTC')::date - ${moneyDays}::int
    group by day, currency order by day, currency
  `
}
