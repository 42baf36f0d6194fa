import { newId } from '@backoffice/process'
import type { Test } from 'tap'
import { as, Brand, run } from './brand.ts'

// Whoever holds the rights of one service writes what that service could write. All triggers and rights are in force,
// and the hashes are right: what is found is found by comparing with what another part of the system recorded.

export interface Forgery {
  readonly what: string
  readonly found: readonly string[]
  readonly forge: (brand: Brand) => Promise<unknown>
}

/** Forges all, each in a brand of its own, and shows that each is named by its checks, and by no other. */
export async function eachIsNamed(t: Test, forgeries: readonly Forgery[]): Promise<void> {
  const forged = await Promise.all(forgeries.map(async (forgery) => ({ ...forgery, brand: await Brand.funded() })))
  await Promise.all(forged.map(({ forge, brand }) => forge(brand)))
  const [incremental, full] = [await run(false), await run()]
  for (const { what, found, brand } of forged)
    t.test(`${what}: found by ${found.join(' and ') || 'nothing'}`, async (t) => {
      t.same(brand.foundIn(incremental), found, 'by the incremental run')
      t.same(brand.foundIn(full), found, 'by the full run')
    })
}

export const longAgo = () => new Date(Date.now() - 2 * 24 * 3_600_000)

export const adjustment = {
  kind: 'credit',
  type: 'ADJUSTMENT',
  counterparty: 'adjustments',
  amount: 100_000_000n,
  reference: 'gift',
  reason: 'a gift',
} as const

/** An audit entry that nobody signed. */
export const auditCorrection = (
  operation: string,
  input: Readonly<Record<string, string>>,
  subject: string,
  now = () => new Date(),
) =>
  as(
    'wallet',
    `insert into audit_entry (id, at, actor, operation, operation_id, subject, reason, input, outcome)
    values ($1, $6, 'alice', $2, $1, $3, $4, $5, 'done')`,
    [newId('aud'), operation, subject, input.reason, JSON.stringify(input), now()],
  )

/** An adjustment, with an audit entry that nobody signed and that may say something else. @returns its key */
export async function forgeAudited(
  brand: Brand,
  { playerId = brand.playerId, amount = '1000000.00', now = () => new Date() } = {},
): Promise<string> {
  const { reference, reason } = adjustment
  await auditCorrection('adjustWallet', { playerId, amount, reference, reason }, playerId, now)
  return brand.post(adjustment, now)
}
