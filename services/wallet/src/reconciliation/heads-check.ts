import type { Difference } from '@backoffice/contracts'
import { unnest } from '@backoffice/service-runtime'
import type { Head } from '../storage/heads.ts'
import { type Check, listedMax } from './check.ts'

const batchMax = 2_000

/**
 * Compares exported heads with the chains. An end that was cut off leaves no other trace.
 * @param heads read before the snapshot was taken, so that none is newer than the snapshot
 */
export const exportedHeads = (heads: readonly Head[]): Check => ({
  name: 'exportedHeads',
  async run({ db }, progress) {
    const differences: Omit<Difference, 'check'>[] = []
    let differencesTotal = 0
    const ofBrands = new Map<string | null, number>()
    for (let begin = 0; begin < heads.length; begin += batchMax) {
      const batch = heads.slice(begin, begin + batchMax)
      const rows = await db<Head & { readonly actual: string | null }>`
        select h.account_id, h.seq, h.hash, h.brand_id, h.player_id, encode(e.hash, 'hex') as actual
        from ${unnest('h', batch, 'account_id text, seq text, hash text, brand_id text, player_id text')}
        left join wallet.entry e on e.account_id = h.account_id::bigint and e.seq = h.seq::bigint
        where encode(e.hash, 'hex') is distinct from h.hash
      `
      differencesTotal += rows.length
      for (const { brandId } of rows) ofBrands.set(brandId, (ofBrands.get(brandId) ?? 0) + 1)
      differences.push(...rows.slice(0, listedMax - differences.length).map(differenceOf))
      progress(begin + batch.length, heads.length)
    }
    return { compared: heads.length, differences, differencesTotal, ofBrands }
  },
})

const differenceOf = (head: Head & { readonly actual: string | null }): Omit<Difference, 'check'> => ({
  brandId: head.brandId,
  subject: `${head.playerId} entry ${head.seq}`,
  expected: head.hash,
  actual: head.actual ?? 'nothing',
  explanation: 'An exported head is no longer in the chain: its end was cut off or written anew.',
})
