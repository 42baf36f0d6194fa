import { operations, Rejection, type Reply } from '@backoffice/contracts'
import { type Cell, type Fact, lines, money, status, text } from './cells.ts'
import type { Visit } from './visit.ts'

const { showPlayer, listGameSessions, listAudit: listPlayersAudit } = operations.players
const { listEntries, listAudit: listWalletAudit } = operations.wallet
const { listDeposits, listWithdrawals } = operations.payments

type Player = Reply<typeof showPlayer>
type AuditEntry = Reply<typeof listPlayersAudit>['data'][number]

/** How many of each kind are read. */
const eachMax = 50

/** One thing that happened, as a row. */
interface Happening {
  readonly at: string
  readonly kind: 'document' | 'change' | 'deposit' | 'withdrawal' | 'entry' | 'session' | 'action'
  readonly what: Cell
  readonly who?: string
  readonly reason?: string | null
  readonly href?: string
}

/** The latest of one kind, newest first. */
interface Source {
  readonly happenings: readonly Happening[]
  /** Nothing older was left out. */
  readonly isWhole: boolean
}

interface Timeline {
  readonly rows: readonly { readonly href?: string; readonly cells: readonly Fact[] }[]
  /** There is more before this time. */
  readonly since: string | undefined
}

/** All that happened to one player, newest first, as far as somebody may see it. */
export async function timelineOf(visit: Visit, player: Player, operator: string): Promise<Timeline> {
  const sources = await Promise.all([
    documentsOf(player),
    changesOf(visit, player, operator),
    depositsOf(visit, player),
    withdrawalsOf(visit, player),
    entriesOf(visit, player),
    sessionsOf(visit, player),
    actionsOf(visit, player),
  ])
  // Where one kind was cut off, the others end too: a gap would look as if nothing had happened.
  const ends = sources.flatMap(({ isWhole, happenings }) => (isWhole ? [] : (happenings.at(-1)?.at ?? [])))
  const since = ends.toSorted().at(-1)
  const shown = sources
    .flatMap(({ happenings }) => happenings)
    .filter(({ at }) => since === undefined || at >= since)
    .sort((a, b) => b.at.localeCompare(a.at))
  return { rows: shown.map(rowOf), since }
}

const rowOf = ({ at, kind, what, who, reason, href }: Happening) => ({
  ...(href === undefined ? {} : { href }),
  cells: [
    { field: 'at', cell: { kind: 'time' as const, text: at } },
    { field: 'type', cell: status(kind) },
    { field: 'happened', cell: what },
    { field: 'by', cell: text(who) },
    { field: 'reason', cell: text(reason) },
  ],
})

const whole = (happenings: readonly Happening[]): Source => ({ happenings, isWhole: true })

const documentsOf = ({ submissions }: Player): Source =>
  whole(
    submissions.map(({ submittedAt, documentType, reference }) => ({
      at: submittedAt,
      kind: 'document',
      what: lines(text(documentType), text(reference)),
    })),
  )

const changesOf = ({ display }: Visit, { changes, currency, operatorId }: Player, operator: string): Source =>
  whole(
    changes.map(({ at, actor, field, from, to, reason }) => ({
      at,
      kind: 'change',
      what: text(
        `${display.word('field', field)}: ${shownValue(display, from, currency)} → ${shownValue(display, to, currency)}`,
      ),
      who: actor === operatorId ? operator : actor,
      reason,
    })),
  )

/** A status, a time or an amount. The list of changes does not say which. */
function shownValue({ word, time, money: moneyOf }: Visit['display'], value: string | null, currency: string): string {
  if (value === null) return '–'
  if (/^\d{4}-\d\d-\d\dT/.test(value)) return time(value)
  return /^\d+\.\d\d$/.test(value) ? moneyOf(value, currency) : word('value', value)
}

async function depositsOf({ person, address }: Visit, { id: playerId, brandId }: Player): Promise<Source> {
  if (!person.mayCall(listDeposits)) return whole([])
  const { data, nextCursor } = await person.call(listDeposits, { brandId, playerId, limit: eachMax })
  const happenings = data.map(({ id, createdAt, amount, currency, status: value, method, externalReference }) => ({
    at: createdAt,
    kind: 'deposit' as const,
    what: lines(money(amount, currency), status(value), text(`${method} ${externalReference}`)),
    href: address(`/deposits/${id}`),
  }))
  return { happenings, isWhole: nextCursor == null }
}

async function withdrawalsOf({ person, address }: Visit, { id: playerId }: Player): Promise<Source> {
  if (!person.mayCall(listWithdrawals)) return whole([])
  const { data, nextCursor } = await person.call(listWithdrawals, { playerId, limit: eachMax })
  const happenings = data.map(({ id, createdAt, amount, currency, status: value, method, destination, reason }) => ({
    at: createdAt,
    kind: 'withdrawal' as const,
    what: lines(money(amount, currency), status(value), text(`${method} ${destination}`)),
    reason,
    href: address(`/withdrawals/${id}`),
  }))
  return { happenings, isWhole: nextCursor == null }
}

async function entriesOf({ person, address, display }: Visit, { id: playerId }: Player): Promise<Source> {
  if (!person.mayCall(listEntries)) return whole([])
  const { data, nextCursor } = await person.call(listEntries, { playerId, limit: eachMax })
  const happenings = data.map(({ createdAt, type, amount, balanceAfter, currency, transferId, reason }) => ({
    at: createdAt,
    kind: 'entry' as const,
    what: lines(
      money(amount, currency),
      text(display.word('value', type)),
      text(`${display.word('field', 'balanceAfter')}: ${display.money(balanceAfter, currency)}`),
    ),
    reason,
    href: address(`/players/${playerId}/entries/${transferId}`),
  }))
  return { happenings, isWhole: nextCursor == null }
}

async function sessionsOf({ person }: Visit, { id: playerId }: Player): Promise<Source> {
  if (!person.mayCall(listGameSessions)) return whole([])
  const { data, nextCursor } = await person.call(listGameSessions, { playerId, limit: eachMax })
  const happenings = data.map(({ createdAt, gameId, gameName, mode }) => ({
    at: createdAt,
    kind: 'session' as const,
    what: lines(text(gameName ?? gameId), status(mode)),
  }))
  return { happenings, isWhole: nextCursor == null }
}

/** Entries of the audit trail, where the person may read it: neither changes, which are shown already, nor reads. */
async function actionsOf({ person, display, address }: Visit, { id }: Player): Promise<Source> {
  const trails = [listPlayersAudit, listWalletAudit].filter((operation) => person.mayCall(operation))
  const pages = await Promise.all(
    trails.map((operation) =>
      person.call(operation, { subject: id, limit: eachMax }).catch((error) => {
        if (error instanceof Rejection && error.code === 'SERVICE_UNAVAILABLE') return { data: [], nextCursor: null }
        throw error
      }),
    ),
  )
  const happenings = pages
    .flatMap(({ data }) => data)
    .filter((entry) => isAction(entry))
    .map(({ at, actor, operation, outcome, reason }) => ({
      at,
      kind: 'action' as const,
      what: lines(text(display.word('operation', operation)), status(outcome)),
      who: actor,
      reason,
      href: address(`/audit?subject=${id}`),
    }))
  const newestFirst = happenings.sort((a, b) => b.at.localeCompare(a.at))
  return { happenings: newestFirst, isWhole: pages.every(({ nextCursor }) => nextCursor == null) }
}

const corrections: readonly string[] = [operations.wallet.adjustWallet.id, operations.wallet.reverseTransfer.id]

const isAction = ({ operation, outcome, changes }: AuditEntry): boolean =>
  corrections.includes(operation) || (outcome !== 'done' && changes === null)
