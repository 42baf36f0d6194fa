import { operations, type Reply } from '@backoffice/contracts'
import { lists } from '@backoffice/team-rows'
import type { FastifyReply } from 'fastify'
import { factsOf, id, lines, link, text } from '../pieces/cells.ts'
import { playerCells } from '../pieces/directory.ts'
import { addCsv, type Cells, lately, showListed } from '../pieces/list-page.ts'
import { historyOf, operatorName, settledStatus } from '../pieces/listed.ts'
import { showCase } from '../pieces/queue.ts'
import { type Pages, pageWithForms, type Visit } from '../pieces/visit.ts'

const { showDeposit, listDeposits, sumDeposits } = operations.payments
const { listEntries } = operations.wallet

type Deposit = Reply<typeof showDeposit>

const pathOf = ({ id: depositId }: Pick<Deposit, 'id'>): string => `/deposits/${depositId}`

/** The deposits of all operators, newest first. They are created and confirmed by operators, so nothing is decided here. */
export const depositPages: Pages = (route) => {
  route.get('/deposits', (visit) =>
    showListed(visit, {
      list: lists.deposits,
      title: 'deposits',
      path: '/deposits',
      cells: depositCells,
      sums: sumDeposits,
      frame: (_visit, asked) => ({ csv: '/deposits.csv', remark: asked && lately(visit, asked) }),
    }),
  )
  addCsv(route, '/deposits', lists.deposits, csvColumns)
  pageWithForms(route, '/deposits/:depositId', {
    find: ({ person, params }) => person.call(showDeposit, { depositId: params.depositId ?? '' }),
    pathOf,
    environmentOf: ({ environment }) => environment,
    show: showPage,
  })
}

type Listed = Reply<typeof listDeposits>['data'][number]

export async function depositCells(visit: Visit, rows: readonly Listed[]): Promise<Cells<Listed>> {
  const player = await playerCells(visit, rows)
  return { player, status: (row) => settledStatus(visit, row) }
}

const csvColumns = [
  ...(['id', 'createdAt', 'operatorName', 'operatorId', 'brandId', 'environment', 'playerId'] as const),
  ...(['amount', 'currency', 'method', 'externalReference', 'status'] as const),
  ...(['confirmedAt', 'failedAt', 'failureReason'] as const),
]

async function showPage(visit: Visit, deposit: Deposit): Promise<FastifyReply> {
  const { display, address } = visit
  const [operator, entry, player] = await Promise.all([
    operatorName(visit, deposit.operatorId),
    entryOf(visit, deposit),
    playerCells(visit, [deposit]),
  ])
  return showCase(visit, {
    path: pathOf(deposit),
    title: display.money(deposit.amount, deposit.currency),
    about: display.t('deposits'),
    list: address('/deposits'),
    facts: factsOf(showDeposit.reply, deposit, [
      'status',
      'method',
      'externalReference',
      ['player', (row) => lines(player(row), id(row.playerId))],
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
