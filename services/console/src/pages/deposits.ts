import { defined, depositStatuses, type Input, operations, type Reply } from '@backoffice/contracts'
import type { FastifyReply } from 'fastify'
import { factsOf, id, link, rowsOf, text } from '../pieces/cells.ts'
import { choice, filterOf, operatorGiven, periodFields, periodOf, textField, valuesOf } from '../pieces/filters.ts'
import { csvRows, historyOf, lately, operatorName, rowsPerRead, sendCsv, settledStatus } from '../pieces/listed.ts'
import { beforeOf, type Place, rowsOnPage, showCase, showList, showNotYours } from '../pieces/queue.ts'
import { type Pages, pageWithForms, type Visit } from '../pieces/visit.ts'

const { listDeposits, showDeposit } = operations.payments
const { listEntries } = operations.wallet

type Deposit = Reply<typeof showDeposit>
type Filter = Omit<Input<typeof listDeposits>, 'limit' | 'before'>

const pathOf = ({ id: depositId }: Pick<Deposit, 'id'>): string => `/deposits/${depositId}`

/** The deposits of all operators, newest first. They are created and confirmed by operators, so nothing is decided here. */
export const depositPages: Pages = (route) => {
  route.get('/deposits', showDeposits)
  route.get('/deposits.csv', async (visit) => {
    const { filter } = await readFilter(visit)
    const read = (cursor: string | undefined) => readDeposits(visit, filter, { cursor, limit: rowsPerRead })
    return sendCsv(visit, `deposits-${visit.environment}`, csvRows(csvColumns, read))
  })
  pageWithForms(route, '/deposits/:depositId', {
    find: ({ person, params }) => person.call(showDeposit, { depositId: params.depositId ?? '' }),
    pathOf,
    environmentOf: ({ environment }) => environment,
    show: showPage,
  })
}

const csvColumns = [
  ...(['id', 'createdAt', 'operatorName', 'operatorId', 'brandId', 'environment', 'playerId'] as const),
  ...(['amount', 'currency', 'method', 'externalReference', 'status'] as const),
  ...(['confirmedAt', 'failedAt', 'failureReason'] as const),
]

async function showDeposits(visit: Visit): Promise<FastifyReply> {
  const { query, address, person } = visit
  const list = { title: 'deposits', path: '/deposits' } as const
  if (!person.mayCall(listDeposits)) return showNotYours(visit, list, listDeposits)
  const { operatorField, filter } = await readFilter(visit)
  const { data, nextCursor } = await readDeposits(visit, filter, { cursor: query.after, limit: rowsOnPage })
  const fields = [
    operatorField,
    choice('state', depositStatuses),
    textField('method'),
    textField('player', 'ply_…'),
    ...periodFields,
  ]
  const rows = rowsOf(
    listDeposits.reply,
    data,
    [
      'externalReference',
      'amount',
      ['status', (row) => settledStatus(visit, row)],
      ['player', ({ playerId }) => id(playerId)],
      'createdAt',
      ['operator', (row) => text(row.operatorName ?? row.operatorId)],
      'method',
    ],
    (row) => address(pathOf(row)),
  )
  return showList(visit, {
    ...list,
    filter: filterOf(visit, { list: 'deposits', path: list.path, fields }),
    csv: '/deposits.csv',
    remark: filter && lately(visit, { owner: filter.brandId ?? filter.playerId, from: filter.from }),
    rows,
    nextCursor,
  })
}

/** Without a filter where the operator that was asked for is not known: nothing can be listed then. */
async function readFilter(visit: Visit) {
  const { field: operatorField, brand, isUnknown } = await operatorGiven(visit)
  const { state, method, player } = valuesOf(visit, ['state', 'method', 'player'])
  const status = depositStatuses.find((known) => known === state)
  const given = defined({ brandId: brand?.id, playerId: player, status, method })
  const filter: Filter = { environment: visit.environment, ...given, ...periodOf(visit) }
  return { operatorField, filter: isUnknown ? undefined : filter }
}

const readDeposits = async ({ person }: Visit, filter: Filter | undefined, { cursor, limit }: Place) =>
  filter === undefined
    ? { data: [], nextCursor: null }
    : person.call(listDeposits, { ...filter, limit, ...beforeOf(cursor) })

async function showPage(visit: Visit, deposit: Deposit): Promise<FastifyReply> {
  const { display, address } = visit
  const [operator, entry] = await Promise.all([operatorName(visit, deposit.operatorId), entryOf(visit, deposit)])
  return showCase(visit, {
    path: pathOf(deposit),
    title: display.money(deposit.amount, deposit.currency),
    about: display.t('deposits'),
    list: address('/deposits'),
    facts: factsOf(showDeposit.reply, deposit, [
      'status',
      'method',
      'externalReference',
      ['player', ({ playerId }) => link(playerId, address(`/players/${playerId}`))],
      ['operator', ({ operatorId }) => link(operator, address(`/operators/${operatorId}`))],
      'createdAt',
      'confirmedAt',
      [
        'ledgerEntry',
        ({ playerId }) => (entry ? link(entry, address(`/players/${playerId}/entries/${entry}`)) : text(null)),
      ],
      'failedAt',
      'failureReason',
      ['id', (row) => id(row.id)],
    ]),
    remark: deposit.settling ? display.t('settling') : undefined,
    history: historyOf(deposit.transitions, operator),
  })
}

/** The transfer that credited it, where it can be taken back. Undefined too while the wallet does not answer. */
async function entryOf({ person }: Visit, { id: reference, playerId, status }: Deposit): Promise<string | undefined> {
  if (status !== 'confirmed' || !person.mayCall(listEntries)) return undefined
  const found = await person.call(listEntries, { playerId, reference, limit: 1 }).catch(() => undefined)
  return found?.data[0]?.transferId
}
