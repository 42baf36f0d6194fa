import { depositStatuses, type Input, operations, type Reply } from '@backoffice/contracts'
import type { FastifyReply } from 'fastify'
import { factsOf, id, lines, link, money, rowSchema, type ShownColumn, text } from '../pieces/cells.ts'
import { notYours } from '../pieces/counts.ts'
import { choice, filterOf, operatorGiven, periodFields, periodOf, textField, valuesOf } from '../pieces/filters.ts'
import { csvRows, historyOf, lately, operatorName, rowsPerRead, sendCsv, settledStatus } from '../pieces/listed.ts'
import { beforeOf, rowsOnPage, showCase, showList, showLists } from '../pieces/queue.ts'
import type { Pages, Visit } from '../pieces/visit.ts'

const { listDeposits, showDeposit } = operations.payments

type Deposit = Reply<typeof listDeposits>['data'][number]
type Filter = Omit<Input<typeof listDeposits>, 'limit' | 'before'>

/** The deposits of all operators, newest first. They are created and confirmed by operators, so nothing is decided here. */
export const depositPages: Pages = (route) => {
  route.get('/deposits', showDeposits)
  route.get('/deposits.csv', async (visit) => {
    const { filter } = await readFilter(visit)
    const read = async (cursor: string | undefined) =>
      filter === undefined ? { data: [] } : readDeposits(visit, filter, { cursor, limit: rowsPerRead })
    return sendCsv(visit, `deposits-${visit.environment}`, csvRows(csvColumns, read))
  })
  route.get('/deposits/:depositId', showPage)
}

const csvColumns = [
  ...(['id', 'createdAt', 'operatorName', 'operatorId', 'brandId', 'environment', 'playerId'] as const),
  ...(['amount', 'currency', 'method', 'externalReference', 'status'] as const),
  ...(['confirmedAt', 'failedAt', 'failureReason'] as const),
]

async function showDeposits(visit: Visit): Promise<FastifyReply> {
  const { query, address } = visit
  const list = { title: 'deposits' as const, path: '/deposits' }
  if (!visit.person.mayCall(listDeposits)) return showLists(visit, { ...list, ...notYours(visit, listDeposits) })
  const { operatorField, filter } = await readFilter(visit)
  const { data, nextCursor } =
    filter === undefined
      ? { data: [], nextCursor: null }
      : await readDeposits(visit, filter, { cursor: query.after, limit: rowsOnPage })
  const columns: readonly ShownColumn<Deposit>[] = [
    'createdAt',
    ['operator', (row) => text(row.operatorName ?? row.operatorId)],
    ['player', ({ playerId }) => id(playerId)],
    ['amount', ({ amount, currency }) => money(amount, currency)],
    ['status', (row) => settledStatus(visit, row)],
    ['method', ({ method, externalReference }) => lines(text(method), text(externalReference))],
  ]
  const fields = [
    operatorField,
    choice('state', depositStatuses),
    textField('method'),
    textField('player', 'ply_…'),
    ...periodFields,
  ]
  return showList(visit, {
    ...list,
    filter: filterOf(visit, { list: 'deposits', path: list.path, fields }),
    csv: '/deposits.csv',
    remark: filter && lately(visit, { owner: filter.brandId ?? filter.playerId, from: filter.from }),
    rows: data.map((row) => ({
      href: address(`/deposits/${row.id}`),
      cells: factsOf(rowSchema(listDeposits.reply), row, columns),
    })),
    nextCursor,
  })
}

/** Without a filter where the operator that was asked for is not known: nothing can be listed then. */
async function readFilter(visit: Visit) {
  const { query, display, now, environment } = visit
  const { field: operatorField, operator, isUnknown } = await operatorGiven(visit)
  const { state, method, player } = valuesOf(visit, ['state', 'method', 'player'])
  const status = depositStatuses.find((known) => known === state)
  // A brand is an operator in one environment.
  const brand = operator?.brands.find((candidate) => candidate.environment === environment)
  const filter: Filter = {
    environment,
    ...(brand === undefined ? {} : { brandId: brand.id }),
    ...(player === undefined ? {} : { playerId: player }),
    ...(status === undefined ? {} : { status }),
    ...(method === undefined ? {} : { method }),
    ...periodOf({ query, timeZone: display.timeZone, now }),
  }
  return { operatorField, filter: isUnknown ? undefined : filter }
}

interface Place {
  readonly cursor: string | undefined
  readonly limit: number
}

const readDeposits = ({ person }: Visit, filter: Filter, { cursor, limit }: Place) =>
  person.call(listDeposits, { ...filter, limit, ...beforeOf(cursor) })

async function showPage(visit: Visit): Promise<FastifyReply> {
  const { person, params, environment, display, address } = visit
  const deposit = await person.call(showDeposit, { depositId: params.depositId ?? '' })
  const path = `/deposits/${deposit.id}`
  if (deposit.environment !== environment) return visit.reply.redirect(`/${deposit.environment}${path}`, 303)
  const operator = await operatorName(visit, deposit.operatorId)
  const shown: readonly ShownColumn<typeof deposit>[] = [
    'status',
    'method',
    'externalReference',
    ['player', ({ playerId }) => link(playerId, address(`/players/${playerId}`))],
    ['operator', ({ operatorId }) => link(operator, address(`/operators/${operatorId}`))],
    'createdAt',
    'confirmedAt',
    'failedAt',
    'failureReason',
    ['id', (row) => id(row.id)],
  ]
  return showCase(visit, {
    title: display.money(deposit.amount, deposit.currency),
    about: display.t('deposits'),
    list: address('/deposits'),
    facts: factsOf(showDeposit.reply, deposit, shown),
    remark: deposit.settling ? display.t('settling') : undefined,
    history: historyOf(deposit.transitions, operator),
  })
}
