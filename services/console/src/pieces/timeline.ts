import { defined, operations, type Reply } from '@backoffice/contracts'
import { whenAway } from '../identity/person.ts'
import { type Cell, lines, link, moment, money, type Row, rowWith, status, text } from './cells.ts'
import type { Visit } from './visit.ts'

const { showPlayer, listGameSessions, listAudit: listPlayersAudit } = operations.players
const { listEntries, listAudit: listWalletAudit } = operations.wallet
const { listDeposits, listWithdrawals } = operations.payments

type Player = Reply<typeof showPlayer>
type AuditEntry = Reply<typeof listPlayersAudit>['data'][number]
type Entry = Reply<typeof listEntries>['data'][number]
type Withdrawal = Reply<typeof listWithdrawals>['data'][number]

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
  /** Of a deposit or withdrawal: its id, which its entries name. */
  readonly id?: string
  readonly entry?: Entry
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
  /** The withdrawals that have reserved something, latest first. */
  readonly reservedBy: readonly Pick<Withdrawal, 'id' | 'amount' | 'currency'>[]
}

/** All that happened to one player, newest first, as far as somebody may see it. */
export async function timelineOf(visit: Visit, player: Player, operator: string): Promise<Timeline> {
  const [withdrawals, ...others] = await Promise.all([
    withdrawalsOf(visit, player, operator),
    documentsOf(player, operator),
    changesOf(visit, player, operator),
    depositsOf(visit, player, operator),
    ...entryTypes.map((type) => entriesOf(visit, player, type)),
    sessionsOf(visit, player, operator),
    actionsOf(visit, player),
  ])
  const sources = [withdrawals, ...others]
  // Where one kind was cut off, the others end too: a gap would look as if nothing had happened.
  const ends = sources.flatMap(({ isWhole, happenings }) => (isWhole ? [] : (happenings.at(-1)?.at ?? [])))
  const since = ends.toSorted().at(-1)
  const shown = withEntriesInside(
    visit,
    sources.flatMap(({ happenings }) => happenings),
  )
    .filter(({ at }) => since === undefined || at >= since)
    .sort((a, b) => b.at.localeCompare(a.at))
  return { rows: shown.map(rowOf), since, reservedBy: withdrawals.reservedBy }
}

/** One row for each money event: the entry is shown inside its deposit or withdrawal, at the time when the money moved. */
function withEntriesInside({ address, display }: Visit, happenings: readonly Happening[]): readonly Happening[] {
  const entries = Map.groupBy(
    happenings.flatMap(({ entry }) => entry ?? []),
    ({ reference }) => reference.id,
  )
  const owners = new Set(happenings.flatMap(({ id }) => id ?? []))
  return happenings
    .filter(({ entry }) => entry === undefined || !owners.has(entry.reference.id))
    .map((happening) => {
      const inside = (happening.id === undefined ? undefined : entries.get(happening.id)) ?? []
      const cells = inside.map((entry) => link(balanceAfter(display, entry), address(entryPath(entry))))
      const at = inside.map(({ createdAt }) => createdAt).reduce((a, b) => (a > b ? a : b), happening.at)
      return { ...happening, at, what: lines(happening.what, ...cells) }
    })
}

const entryPath = ({ playerId, transferId }: Entry): string => `/players/${playerId}/entries/${transferId}`
const balanceAfter = ({ word, money: moneyOf }: Visit['display'], entry: Entry): string =>
  `${word('field', 'balanceAfter')}: ${moneyOf(entry.balanceAfter, entry.currency)}`

const rowOf = ({ at, kind, what, who, reason, href }: Happening): Row => ({
  ...defined({ href }),
  ...rowWith({ at: moment(at), type: status(kind), happened: what, by: text(who), reason: text(reason) }),
})

const whole = (happenings: readonly Happening[]): Source => ({ happenings, isWhole: true })

const documentsOf = ({ submissions }: Player, operator: string): Source =>
  whole(
    submissions.map(({ submittedAt, documentType, reference }) => ({
      at: submittedAt,
      kind: 'document',
      what: lines(text(documentType), text(reference)),
      who: operator,
    })),
  )

const changesOf = ({ display }: Visit, { changes, currency, operatorId }: Player, operator: string): Source =>
  whole(
    changes.map(({ at, effectiveAt, actor, field, from, to, reason }) => ({
      at,
      kind: 'change',
      what: lines(
        text(
          `${display.word('field', field)}: ${[from, to].map((value) => shownValue(display, field, value, currency)).join(' → ')}`,
        ),
        text(effectiveAt && display.t('holdsFrom', { time: display.time(effectiveAt) })),
      ),
      who: actor === operatorId ? operator : actor,
      reason,
    })),
  )

/** A status, a time or an amount, which has a currency where that is known. Lists of changes do not say which. */
export function shownValue(
  { word, time, none, money: moneyOf }: Visit['display'],
  field: string,
  value: string | null,
  currency?: string,
) {
  if (value === null) return none(field)
  if (/^\d{4}-\d\d-\d\dT/.test(value)) return time(value)
  return currency !== undefined && /^\d+\.\d\d$/.test(value) ? moneyOf(value, currency) : word('value', value, field)
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

/** The operator acts by its keys; of the team and of the sandbox the name says who. */
const lastActor = ({ changedBy }: Pick<Withdrawal, 'changedBy'>, operator: string): string =>
  changedBy?.kind === 'operator' ? operator : (changedBy?.name ?? '')

const depositsOf = ({ person, address }: Visit, { id: playerId, brandId }: Player, operator: string): Promise<Source> =>
  latest(
    person.mayCall(listDeposits),
    () => person.call(listDeposits, { brandId, playerId, limit: eachMax }),
    ({ id, createdAt, amount, currency, status: value, method, externalReference, ...row }) => ({
      at: createdAt,
      kind: 'deposit',
      what: lines(money(amount, currency), status(value), text(`${method} ${externalReference}`)),
      who: lastActor(row, operator),
      reason: row.failureReason,
      href: address(`/deposits/${id}`),
      id,
    }),
  )

async function withdrawalsOf(
  { person, address }: Visit,
  { id: playerId }: Player,
  operator: string,
): Promise<Source & Pick<Timeline, 'reservedBy'>> {
  const reservedBy: Timeline['reservedBy'][number][] = []
  const source = await latest(
    person.mayCall(listWithdrawals),
    () => person.call(listWithdrawals, { playerId, limit: eachMax }),
    ({ id, createdAt, amount, currency, status: value, method, destination, reason, ...row }) => {
      if (value === 'under_review' || value === 'approved') reservedBy.push({ id, amount, currency })
      return {
        at: createdAt,
        kind: 'withdrawal',
        what: lines(money(amount, currency), status(value), text(`${method} ${destination}`)),
        who: lastActor(row, operator),
        reason,
        href: address(`/withdrawals/${id}`),
        id,
      }
    },
  )
  return { ...source, reservedBy }
}

/** Each kind has its own latest: play would leave no room for the others. Rounds have a list of their own. */
const entryTypes = ['DEPOSIT', 'WITHDRAWAL', 'ADJUSTMENT', 'REVERSAL'] as const

const entriesOf = (
  { person, address, display }: Visit,
  { id: playerId }: Player,
  type: (typeof entryTypes)[number],
): Promise<Source> =>
  latest(
    person.mayCall(listEntries),
    () => person.call(listEntries, { playerId, type, limit: eachMax }),
    (entry) => ({
      at: entry.createdAt,
      kind: 'entry',
      what: lines(
        money(entry.amount, entry.currency),
        text(display.word('value', entry.type)),
        text(balanceAfter(display, entry)),
      ),
      ...(entry.by !== null && {
        who:
          entry.approvedBy === null
            ? entry.by
            : display.t('withApproval', { by: entry.by, approvedBy: entry.approvedBy }),
      }),
      reason: entry.reason,
      href: address(entryPath(entry)),
      entry,
    }),
  )

const sessionsOf = ({ person }: Visit, { id: playerId }: Player, operator: string): Promise<Source> =>
  latest(
    person.mayCall(listGameSessions),
    () => person.call(listGameSessions, { playerId, limit: eachMax }),
    ({ createdAt, gameId, gameName, mode }) => ({
      at: createdAt,
      kind: 'session',
      what: lines(text(gameName ?? gameId), status(mode)),
      who: operator,
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

/** What was proposed, refused or done, and is no row of its own: a change of the player, or an entry that it made. */
const isAction = ({ outcome, changes }: AuditEntry): boolean => outcome !== 'done' && changes === null
