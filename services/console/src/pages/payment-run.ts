import { operations, Rejection, type Reply } from '@backoffice/contracts'
import type { FastifyReply } from 'fastify'
import { id, lines, money, rowsOf, text } from '../pieces/cells.ts'
import { type CsvRow, cellText, sendCsv } from '../pieces/listed.ts'
import { rowsOnPage, showNotYours } from '../pieces/queue.ts'
import { type Pages, shownDecision, type Visit } from '../pieces/visit.ts'
import { destinationFacts, payDecision, withdrawalPath } from './withdrawals.ts'

const { withdrawalQueue, showWithdrawal, decideWithdrawal } = operations.payments

type Withdrawal = Reply<typeof showWithdrawal>

const path = '/withdrawals/pay'
const pays = { decision: 'pay' } as const

/**
 * Several withdrawals paid at once: one press of a button, and a signature for each, which is sent to the form of its own page.
 * So what becomes of one changes nothing for the others, and pressed again each is paid once.
 */
export const paymentRunPages: Pages = (route) => {
  route.get(path, showRun)
  route.get(`${path}.csv`, async (visit) => {
    if (!visit.person.mayCall(decideWithdrawal, pays)) throw new Rejection('ROLE_REQUIRED')
    const found = await findChosen(visit)
    return sendCsv(visit, `payments-${visit.environment}`, fileOf(found), (cell) => cell)
  })
}

async function showRun(visit: Visit): Promise<FastifyReply> {
  const { person, environment, address } = visit
  const list = { title: 'paySeveral', path } as const
  if (!person.mayCall(decideWithdrawal, pays)) return showNotYours(visit, list, decideWithdrawal)
  const waiting = await person.call(withdrawalQueue, { environment, status: 'approved', limit: rowsOnPage })
  const found = await Promise.all(
    waiting.data
      .filter(({ settling }) => !settling)
      .map(async ({ id: withdrawalId, playerName }) => ({
        withdrawal: await person.call(showWithdrawal, { withdrawalId }),
        player: { name: playerName ?? withdrawalId },
      })),
  )
  const forms = found.map(({ withdrawal, player }) => ({
    withdrawal,
    ...shownDecision(visit, payDecision(visit, { withdrawal, player }), withdrawalPath(withdrawal)),
  }))
  const rows = rowsOf(
    showWithdrawal.reply,
    found.map(({ withdrawal, player }, index) => ({ ...withdrawal, name: player.name, unless: forms[index]?.unless })),
    [
      ['player', (row) => lines(text(row.name), id(row.playerId))],
      ['amount', ({ amount, currency }) => money(amount, currency)],
      ['destination', (row) => lines(text(row.destination), text(row.method), ...destinationFacts(visit, row, 0))],
      'approvedBy',
      ['outcome', ({ unless }) => text(unless ?? '…')],
      ['operator', (row) => text(row.operatorName ?? row.operatorId)],
    ],
    (row) => address(withdrawalPath(row)),
  )
  return visit.show('payment-run', {
    list: address('/withdrawals?status=approved'),
    file: address(`${path}.csv`),
    isPart: waiting.nextCursor !== null,
    most: rowsOnPage,
    loginAgain: forms.find(({ loginAgain }) => loginAgain !== undefined) && {
      href: `/login?again=yes&returnTo=${encodeURIComponent(address(path))}`,
      isWeak: person.isWeak,
    },
    rows: rows.map((row, index) => ({
      ...row,
      choice: forms[index]?.unless === undefined ? forms[index]?.withdrawal.id : undefined,
    })),
    forms: forms.filter(({ unless, loginAgain }) => unless === undefined && loginAgain === undefined),
  })
}

/** Those that somebody has chosen, as they are now. Each read is recorded. */
async function findChosen({ person, query, environment }: Visit): Promise<readonly Withdrawal[]> {
  const ids = [...new Set((query.ids ?? '').split(','))].slice(0, rowsOnPage)
  const found = await Promise.all(ids.map((withdrawalId) => person.call(showWithdrawal, { withdrawalId })))
  const other = found.find((one) => one.environment !== environment || one.status !== 'approved')
  if (other !== undefined)
    throw new Rejection('WITHDRAWAL_INVALID_STATE', { withdrawalId: other.id, status: other.status })
  return found
}

/** As a bank takes them: the withdrawal's id goes with the payment, and comes back in what the bank reports. */
const titles = ['endToEndId', 'amount', 'currency', 'method', 'destination', 'operator']

async function* fileOf(found: readonly Withdrawal[]): AsyncGenerator<readonly CsvRow[]> {
  yield [titles]
  yield found.map((row) => [
    ...[row.id, row.amount, row.currency, cellText(row.method)],
    destinationText(row.destination),
    cellText(row.operatorName ?? row.operatorId),
  ])
}

/** A telephone is a Pix key that begins with a plus, and must reach the bank as it is. No formula has digits alone. */
const destinationText = (destination: string): string =>
  /^\+\d{8,15}$/.test(destination) ? destination : cellText(destination)
