import { operations, Rejection, type Reply, seenOfWithdrawal } from '@backoffice/contracts'
import type { FastifyReply } from 'fastify'
import { id, lines, money, rowsOf, text } from '../pieces/cells.ts'
import { type CsvRow, cellText, sendCsv } from '../pieces/listed.ts'
import { rowsOnPage, showNotYours } from '../pieces/queue.ts'
import { type Pages, shownDecision, type Visit } from '../pieces/visit.ts'
import { destinationFacts, payDecision, unreserved, withdrawalPath } from './withdrawals.ts'

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
        ...(await findOne(visit, withdrawalId)),
        player: { name: playerName ?? withdrawalId },
      })),
  )
  const forms = found.map(({ withdrawal, fault, player }) => {
    const decision = payDecision(visit, { withdrawal, player })
    const unless = fault === null ? decision.unless : visit.display.word('error', 'NOT_AS_APPROVED')
    // The browser fills in which file was made of it.
    const form = { ...decision, only: ['paymentFile'], unless }
    return { withdrawal, ...shownDecision(visit, form, withdrawalPath(withdrawal)) }
  })
  const rows = rowsOf(
    showWithdrawal.reply,
    found.map(({ withdrawal, player }, index) => ({ ...withdrawal, name: player.name, unless: forms[index]?.unless })),
    [
      ['player', (row) => lines(text(row.name), id(row.playerId))],
      ['amount', (row) => lines(money(row.amount, row.currency), unreserved(row))],
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

/**
 * A withdrawal, and why it is not proven that it is what was approved: whoever answered is not believed, since the bank pays
 * what it is told. Null when it is proven; in the sandbox nobody is paid.
 */
async function findOne({ person, environment, recorded }: Visit, withdrawalId: string) {
  const withdrawal = await person.call(showWithdrawal, { withdrawalId })
  const { approval } = withdrawal
  const says = { withdrawalId, ...seenOfWithdrawal(withdrawal), decision: 'approve' }
  const faultOf = async () =>
    approval ? recorded.faultOfCall(decideWithdrawal, approval, says) : 'nobody of the team has signed it'
  return { withdrawal, fault: environment === 'sandbox' ? null : await faultOf() }
}

/** Those that somebody has chosen, as they were approved. Each read is recorded. */
async function findChosen(visit: Visit): Promise<readonly Withdrawal[]> {
  const ids = [...new Set((visit.query.ids ?? '').split(','))].slice(0, rowsOnPage)
  const found = await Promise.all(ids.map(async (id) => ({ id, ...(await findOne(visit, id)) })))
  for (const { withdrawal } of found)
    if (withdrawal.environment !== visit.environment || withdrawal.status !== 'approved')
      throw new Rejection('WITHDRAWAL_INVALID_STATE', { withdrawalId: withdrawal.id, status: withdrawal.status })
  const [unproven] = found.filter(({ fault }) => fault !== null)
  if (unproven !== undefined)
    throw new Rejection('NOT_AS_APPROVED', { withdrawalId: unproven.id, because: unproven.fault })
  return found.map(({ id, withdrawal }) => ({ ...withdrawal, id }))
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
