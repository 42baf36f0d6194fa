import { invalid, operations, Rejection, type Reply, seenOfWithdrawal } from '@backoffice/contracts'
import type { FastifyReply } from 'fastify'
import { id, lines, money, rowsOf, text } from '../pieces/cells.ts'
import { type CsvRow, cellText, sendCsv } from '../pieces/listed.ts'
import { type BatchRecord, batchKeyOf, type PixPayment, pixBatch } from '../pieces/pix-batch.ts'
import { afterOf, showNotYours } from '../pieces/queue.ts'
import { type Pages, shownDecision, type Visit } from '../pieces/visit.ts'
import { agreementIn } from '../settings.ts'
import { destinationFacts, isUnreserved, payDecision, unreserved, withdrawalPath } from './withdrawals.ts'

const { withdrawalQueue, countWithdrawalQueue, showWithdrawal, decideWithdrawal } = operations.payments

type Withdrawal = Reply<typeof showWithdrawal>

const path = '/withdrawals/pay'
const pays = { decision: 'pay' } as const

/**
 * Several withdrawals paid at once: one press of a button, and a signature for each, which is sent to the form of its own page.
 * So what becomes of one changes nothing for the others, and pressed again each is paid once.
 */
export const paymentRunPages: Pages = (route, { config }) => {
  const agreement = agreementIn(config)
  route.get(path, (visit) => showRun(visit, agreement !== undefined))
  route.get(`${path}.csv`, async (visit) => {
    if (!visit.person.mayCall(decideWithdrawal, pays)) throw new Rejection('ROLE_REQUIRED')
    const found = await findChosen(visit)
    return sendCsv(visit, `payments-${visit.environment}`, fileOf(found), (cell) => cell)
  })
  route.get(`${path}.rem`, async (visit) => {
    if (!visit.person.mayCall(decideWithdrawal, pays)) throw new Rejection('ROLE_REQUIRED')
    // In the sandbox nobody is paid.
    if (agreement === undefined || visit.environment === 'sandbox') throw new Rejection('NOT_FOUND')
    const number = Number(visit.query.number)
    if (!/^\d{1,6}$/.test(visit.query.number ?? '') || number === 0)
      throw invalid('query', '/number', 'must be 1 to 999999')
    return sendBatch(
      visit,
      pixBatch({ agreement, number, at: localTime(visit), payments: paymentsOf(await findChosen(visit)) }),
      number,
    )
  })
}

/** At most so many at once: as many as the queue gives. */
const payMost = 200
/** So many are read at the same time. */
const readAtOnce = 25

/** In their order, some at a time. */
async function readEach<Row, Read>(rows: readonly Row[], read: (row: Row) => Promise<Read>): Promise<readonly Read[]> {
  const all: Read[] = []
  for (let at = 0; at < rows.length; at += readAtOnce)
    all.push(...(await Promise.all(rows.slice(at, at + readAtOnce).map(read))))
  return all
}

async function showRun(visit: Visit, hasAgreement: boolean): Promise<FastifyReply> {
  const { person, environment, address } = visit
  const list = { title: 'paySeveral', path } as const
  if (!person.mayCall(decideWithdrawal, pays)) return showNotYours(visit, list, decideWithdrawal)
  const [{ shown, read, isEnd, whyNot }, counted] = await Promise.all([
    findPayable(visit),
    person.call(countWithdrawalQueue, { environment }),
  ])
  const waiting = counted.data.find(({ status }) => status === 'approved')?.waiting ?? 0
  // The queue gave those alone that somebody may pay: the others they have approved themselves.
  const isOwn = isEnd && waiting > read
  const isNone = !shown.some(isPayable)
  const why = [...new Set([...whyNot, ...(isOwn ? [visit.display.t('firstIsYou')] : [])])].join(' ')
  const forms = shown.map(({ form }) => form)
  const rows = rowsOf(
    showWithdrawal.reply,
    shown.map(({ withdrawal, player, form }) => ({ ...withdrawal, name: player.name, unless: form.unless })),
    [
      ['player', (row) => lines(text(row.name), id(row.playerId))],
      ['amount', (row) => lines(money(row.amount, row.currency), unreserved(row))],
      ['destination', (row) => lines(text(row.destination), text(row.method), ...destinationFacts(visit, row, 0))],
      'approvedBy',
      // What holds for all of them is said once, above.
      ...(isNone
        ? []
        : ([['outcome', (row: { readonly unless?: string | undefined }) => text(row.unless ?? '…')]] as const)),
      ['operator', (row) => text(row.operatorName ?? row.operatorId)],
    ],
    (row) => address(withdrawalPath(row)),
  )
  return visit.show('payment-run', {
    list: address('/withdrawals?status=approved'),
    file: address(`${path}.csv`),
    most: payMost,
    none: isNone && waiting > 0 ? `${visit.display.t('payNone', { count: waiting })} ${why}` : undefined,
    others: isNone || why === '' ? undefined : visit.display.t('payOthers', { why }),
    bankFile: hasAgreement && visit.environment === 'production' ? address(`${path}.rem`) : undefined,
    loginAgain: forms.find(({ loginAgain }) => loginAgain !== undefined) && {
      href: `/login?again=yes&returnTo=${encodeURIComponent(address(path))}`,
      isWeak: person.isWeak,
    },
    rows: rows.map((row, index) => ({
      ...row,
      choice: forms[index]?.unless === undefined ? shown[index]?.withdrawal.id : undefined,
    })),
    forms: shown
      .filter(({ form }) => form.unless === undefined && form.loginAgain === undefined)
      .map(({ withdrawal, form }) => ({ ...form, withdrawal, isPix: batchKeyOf(withdrawal) !== undefined })),
  })
}

/** So many pages of the queue are read until there is something on one that somebody can pay. */
const readsMax = 5

/**
 * A page of what waits longest and somebody may pay. One that they can pay nothing of is passed over: for example the ledger
 * reserves nothing for it.
 * @returns with how many were read, whether no more follow, and why those that are not offered without a row of their own are not
 */
async function findPayable(visit: Visit) {
  const { person, environment } = visit
  const asked = { environment, status: 'approved', payable: true, limit: payMost } as const
  const whyNot: string[] = []
  let [after, read]: [string | undefined, number] = [undefined, 0]
  for (let reads = 1; ; reads += 1) {
    const page: Reply<typeof withdrawalQueue> = await person.call(withdrawalQueue, { ...asked, ...afterOf(after) })
    const { data, nextCursor } = page
    read += data.length
    const shown = await readEach(
      data.filter(({ settling }) => !settling),
      (row) => findForm(visit, row),
    )
    const isNone = !shown.some(isPayable)
    if (isNone) whyNot.push(...shown.flatMap(({ form }) => form.unless ?? []))
    if (!isNone || nextCursor === null || reads === readsMax) return { shown, read, isEnd: nextCursor === null, whyNot }
    after = nextCursor
  }
}

type Queued = Reply<typeof withdrawalQueue>['data'][number]

async function findForm(visit: Visit, { id: withdrawalId, playerName }: Queued) {
  const { withdrawal, fault } = await findOne(visit, withdrawalId)
  const player = { name: playerName ?? withdrawalId }
  const decision = payDecision(visit, { withdrawal, player })
  const unless = fault === null ? decision.unless : visit.display.word('error', 'NOT_AS_APPROVED')
  // The browser fills in which file was made of it.
  const form = { ...decision, only: ['paymentFile'], unless }
  return { withdrawal, player, form: shownDecision(visit, form, withdrawalPath(withdrawal)) }
}

const isPayable = ({ form }: Awaited<ReturnType<typeof findForm>>): boolean => form.unless === undefined

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

/** Those that somebody has chosen, as they were approved, and for which money is kept. Each read is recorded. */
async function findChosen(visit: Visit): Promise<readonly Withdrawal[]> {
  const ids = [...new Set((visit.query.ids ?? '').split(','))].slice(0, payMost)
  const found = await readEach(ids, async (id) => ({ id, ...(await findOne(visit, id)) }))
  for (const { withdrawal } of found) {
    const { id: withdrawalId, environment, status, settling } = withdrawal
    // One that somebody is paying is shown as before until the wallet has done its part.
    if (environment !== visit.environment || status !== 'approved' || settling)
      throw new Rejection('WITHDRAWAL_INVALID_STATE', { withdrawalId, status })
    if (isUnreserved(withdrawal)) throw new Rejection('WITHDRAWAL_NOT_RESERVED', { withdrawalId })
  }
  const [unproven] = found.filter(({ fault }) => fault !== null)
  if (unproven !== undefined)
    throw new Rejection('NOT_AS_APPROVED', { withdrawalId: unproven.id, because: unproven.fault })
  return found.map(({ id, withdrawal }) => ({ ...withdrawal, id }))
}

/** @throws {Rejection} for what the batch has no place for */
const paymentsOf = (found: readonly Withdrawal[]): readonly PixPayment[] =>
  found.map((row) => {
    if (batchKeyOf(row) === undefined) throw invalid('query', '/ids', `${row.id} is to no Pix key`)
    // The name is for the eyes of the payee's bank. Whose account it is follows from the key, which the approver has signed.
    if (row.playerName == null) throw new Rejection('SERVICE_UNAVAILABLE')
    return { id: row.id, amount: row.amount, destination: row.destination, payee: row.playerName }
  })

/** The clock of the console's zone. */
const localTime = ({ now, display: { timeZone } }: Visit): string =>
  new Intl.DateTimeFormat('sv', { dateStyle: 'short', timeStyle: 'medium', timeZone }).format(now).replace(' ', 'T')

const sendBatch = ({ reply }: Visit, records: readonly BatchRecord[], number: number): FastifyReply =>
  reply
    .headers({
      'Content-Type': 'text/plain; charset=us-ascii',
      'Content-Disposition': `attachment; filename="pix-${String(number).padStart(6, '0')}.rem"`,
    })
    .send(records.map(({ line }) => `${line}\r\n`).join(''))

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
