import { operations, type Reply } from '@backoffice/contracts'
import { whenAway } from '../identity/person.ts'
import { words as beside, type Cell, lines, link, nothing, text } from './cells.ts'
import type { Visit } from './visit.ts'

const { listEntries } = operations.wallet

/**
 * From this amount on, in the currency of the player, a win is named where a withdrawal is decided: whoever has stolen the
 * keys of a provider can make balance, and not payouts that nobody looked at.
 */
export const largeWin = '1000.00'

const days = 30
/** Of each type. Who has more of them is looked at in the ledger. */
const countedMax = 100
const namedMax = 5

const types = ['WIN', 'JACKPOT', 'PROMOTION'] as const

type Entry = Reply<typeof listEntries>['data'][number]

/** The large wins of a player, latest first, each with its round. Undefined where nobody may say, or the wallet does not. */
export async function largeWinsOf(visit: Visit, playerId: string, currency: string): Promise<Cell | undefined> {
  const { person, now, display, address } = visit
  if (!person.mayCall(listEntries)) return undefined
  const from = new Date(now.getTime() - days * 86_400_000).toISOString()
  const asked = { playerId, from, amountFrom: largeWin, limit: countedMax }
  const pages = await Promise.all(
    types.map((type) => person.call(listEntries, { ...asked, type }).catch(whenAway(undefined))),
  )
  const known = pages.flatMap((page) => page ?? [])
  if (known.length < pages.length) return undefined
  const large = known.flatMap(({ data }) => data).sort((a, b) => b.createdAt.localeCompare(a.createdAt))
  const isPart = known.some(({ nextCursor }) => nextCursor !== null)
  const words = { count: `${large.length}${isPart ? '+' : ''}`, from: display.money(largeWin, currency), days }
  const said = display.t('largeWinsCount', words)
  const named = large.slice(0, namedMax).map((entry) => link(entryText(visit, entry), address(placeOf(entry))))
  return lines(text(said), named.length === 0 ? nothing : beside(...named))
}

const entryText = ({ display }: Visit, { amount, currency, createdAt }: Entry): string =>
  `${display.money(amount, currency)}, ${display.ago(createdAt)}`

/** Its round; the entry of what needs none. */
const placeOf = ({ reference, playerId, transferId }: Entry): string =>
  reference.type === 'round' ? `/rounds/${reference.id}` : `/players/${playerId}/entries/${transferId}`
