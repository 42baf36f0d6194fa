import { defined, operations, type Reply } from '@backoffice/contracts'
import { whenAway } from './away.ts'
import { type Cell, lines, money, type Row, rowWith, status, text, time } from './cells.ts'
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
  readonly rows: readonly Row[]
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

const rowOf = ({ at, kind, what, who, reason, href }: Happening): Row => ({
  ...defined({ href }),
  ...rowWith({ at: time(at), type: status(kind), happened: what, by: text(who), reason: text(reason) }),
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

/** The latest of a list, where the person may read it. */
async function latest<Listed>(
  isAllowed: boolean,
  list: () => Promise<{ readonly data: readonly Listed[]; readonly nextCursor?: string | null }>,
  happened: (row: Listed) => Happening,
): Promise<Source> {
  if (!isAllowed) return whole([])
  const { data, nextCursor } = await list()
  return { happenings: data.map(happened), isWhole: nextCursor == null }
}

const depositsOf = ({ person, address }: Visit, { id: playerId, brandId }: Player): Promise<Source> =>
  latest(
    person.mayCall(listDeposits),
    () => person.call(listDeposits, { brandId, playerId, limit: eachMax }),
    ({ id, createdAt, amount, currency, status: value, method, externalReference }) => ({
      at: createdAt,
      kind: 'deposit',
      what: lines(money(amount, currency), status(value), text(`${method} ${externalReference}`)),
      href: address(`/deposits/${id}`),
    }),
  )

const withdrawalsOf = ({ person, address }: Visit, { id: playerId }: Player): Promise<Source> =>
  latest(
    person.mayCall(listWithdrawals),
    () => person.call(listWithdrawals, { playerId, limit: eachMax }),
    ({ id, createdAt, amount, currency, status: value, method, destination, reason }) => ({
      at: createdAt,
      kind: 'withdrawal',
      what: lines(money(amount, currency), status(value), text(`${method} ${destination}`)),
      reason,
      href: address(`/withdrawals/${id}`),
    }),
  )

const entriesOf = ({ person, address, display }: Visit, { id: playerId }: Player): Promise<Source> =>
  latest(
    person.mayCall(listEntries),
    () => person.call(listEntries, { playerId, limit: eachMax }),
    ({ createdAt, type, amount, balanceAfter, currency, transferId, by, approvedBy, reason }) => ({
      at: createdAt,
      kind: 'entry',
      what: lines(
        money(amount, currency),
        text(display.word('value', type)),
        text(`${display.word('field', 'balanceAfter')}: ${display.money(balanceAfter, currency)}`),
      ),
      ...(by !== null && { who: approvedBy === null ? by : display.t('withApproval', { by, approvedBy }) }),
      reason,
      href: address(`/players/${playerId}/entries/${transferId}`),
    }),
  )

const sessionsOf = ({ person }: Visit, { id: playerId }: Player): Promise<Source> =>
  latest(
    person.mayCall(listGameSessions),
    () => person.call(listGameSessions, { playerId, limit: eachMax }),
    ({ createdAt, gameId, gameName, mode }) => ({
      at: createdAt,
      kind: 'session',
      what: lines(text(gameName ?? gameId), status(mode)),
    }),
  )

/** Entries of the audit trail, where the person may read it: neither changes, which are shown already, nor reads. */
async function actionsOf({ person, display, address }: Visit, { id }: Player): Promise<Source> {
  const trails = [listPlayersAudit, listWalletAudit].filter((operation) => person.mayCall(operation))
  const pages = await Promise.all(
    trails.map((operation) =>
      person.call(operation, { subject: id, limit: eachMax }).catch(whenAway({ data: [], nextCursor: null })),
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
