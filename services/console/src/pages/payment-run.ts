import { batchKeyOf, defined, filedMax, operations, Rejection, type Reply, seenOf } from '@backoffice/contracts'
import { faultOfApproval, faultOfPaymentFile } from '@backoffice/team-access/identity'
import type { FastifyReply } from 'fastify'
import { id, lines, money, rowsOf, text } from '../pieces/cells.ts'
import { type CsvRow, cellText, sendCsv } from '../pieces/listed.ts'
import { type BatchRecord, type PixPayment, pixBatch } from '../pieces/pix-batch.ts'
import { refusalWithoutForm, showNotYours } from '../pieces/queue.ts'
import { type Decision, type Pages, pageWithForms, type SentForm, shownDecision, type Visit } from '../pieces/visit.ts'
import { agreementIn, type BankAgreement, nameOfAgreement } from '../settings.ts'
import {
  destinationFacts,
  isUnreserved,
  payDecision,
  paymentFilePath,
  paymentRun,
  unreserved,
  withdrawalPath,
} from './withdrawals.ts'

const { withdrawalQueue, showWithdrawal, decideWithdrawal, makePaymentFile, showPaymentFile, discardPaymentFile } =
  operations.payments

type Withdrawal = Reply<typeof showWithdrawal>
type PaymentFile = Reply<typeof showPaymentFile>

const pays = { decision: 'pay' } as const

/**
 * Several withdrawals paid at once: one press of a button, and a signature for each, which is sent to the form of its own page.
 * So what becomes of one changes nothing for the others, and pressed again each is paid once. Those in a file for the bank have
 * a page of that file, and are chosen for no other.
 */
export const paymentRunPages: Pages = (route, { config }) => {
  const agreement = agreementIn(config)
  pageWithForms<PaymentFile | undefined>(route, paymentRun, {
    find: findFile,
    pathOf: fileOrAll,
    show: (visit, file, sent) => showRun(visit, { file, sent, agreement }),
    decisionOf: (visit, file, name) =>
      [file === undefined ? makeOf(visit, agreement) : discardOf(visit, file)].find((one) => one?.name === name),
  })
  route.get(`${paymentRun}/download`, async (visit) => {
    if (!visit.person.mayCall(makePaymentFile)) throw new Rejection('ROLE_REQUIRED')
    const file = await findFile(visit)
    if (file === undefined) throw new Rejection('PAYMENT_FILE_NOT_FOUND')
    return download(visit, file, agreement)
  })
}

/** The one that the address names. */
async function findFile({ person, environment, query }: Visit): Promise<PaymentFile | undefined> {
  if (query.file === undefined) return undefined
  const file = await person.call(showPaymentFile, { fileId: query.file })
  if (file.environment !== environment) throw new Rejection('PAYMENT_FILE_NOT_FOUND')
  return file
}

/** A bank gets all of a file or nothing: it is written only as long as all of it waits. */
const isWhole = ({ discardedAt, waiting, withdrawals }: PaymentFile): boolean =>
  discardedAt === null && waiting === withdrawals.length

const downloadPath = ({ id: fileId }: Pick<PaymentFile, 'id'>): string => `${paymentRun}/download?file=${fileId}`
const fileOrAll = (file: Pick<PaymentFile, 'id'> | undefined): string =>
  file === undefined ? paymentRun : paymentFilePath(file.id)

/** So many are read at the same time. */
const readAtOnce = 25

/** In their order, some at a time. */
async function readEach<Row, Read>(rows: readonly Row[], read: (row: Row) => Promise<Read>): Promise<readonly Read[]> {
  const all: Read[] = []
  for (let at = 0; at < rows.length; at += readAtOnce)
    all.push(...(await Promise.all(rows.slice(at, at + readAtOnce).map(read))))
  return all
}

interface Run {
  /** What it is of; undefined: of all that are in none. */
  readonly file: PaymentFile | undefined
  readonly sent: SentForm | undefined
  readonly agreement: BankAgreement | undefined
}

async function showRun(visit: Visit, { file, sent, agreement }: Run): Promise<FastifyReply> {
  const { person, address, display } = visit
  const path = fileOrAll(file)
  if (!person.mayCall(decideWithdrawal, pays))
    return showNotYours(visit, { title: 'paySeveral', path }, decideWithdrawal)
  const { payable, waiting, whyNot } = file === undefined ? await findWaiting(visit) : await findWaitingIn(visit, file)
  const isNone = !payable.some(isPayable)
  const why = [...new Set(whyNot)].join(' ')
  const make = isNone ? undefined : makeOf(visit, agreement)
  const isOver = file !== undefined && payable.length === 0
  const decision = file === undefined ? make : isOver ? undefined : discardOf(visit, file)
  const fault = file === undefined ? null : await faultOfPaymentFile(visit.recorded, file)
  const shown = decision && shownDecision(visit, decision, path, sent)
  return visit.show('payment-run', {
    list: address('/withdrawals?status=approved'),
    file: file && {
      said: saidOf(visit, file),
      unproven: fault === null ? undefined : display.word('error', 'NOT_AS_APPROVED'),
      href: fault === null && isWhole(file) && address(downloadPath(file)),
    },
    isOver,
    most: filedMax,
    none: isNone && waiting > 0 ? `${display.t('payNone', { count: waiting })} ${why}` : undefined,
    others: isNone || why === '' ? undefined : display.t('payOthers', { why }),
    isBatch: file === undefined && takesBatch(visit, agreement),
    decision: shown,
    lost: refusalWithoutForm(visit, shown === undefined ? [] : [shown], sent),
    loginAgain: payable.find(({ loginAgain }) => loginAgain !== undefined) && {
      href: `/login?again=yes&returnTo=${encodeURIComponent(address(path))}`,
      isWeak: person.isWeak,
    },
    rows: isOver ? rowsFiled(visit, file) : rowsShown(visit, payable, isNone),
    forms: payable
      .filter(({ unless, loginAgain }) => unless === undefined && loginAgain === undefined)
      .map((form) => ({ ...form, isPix: batchKeyOf(form.withdrawal) !== undefined })),
  })
}

type Payable = Awaited<ReturnType<typeof findPayable>>

const isPayable = ({ unless }: Payable): boolean => unless === undefined

const readPayable = async (visit: Visit, rows: readonly Pick<Withdrawal, 'id'>[]): Promise<readonly Payable[]> =>
  (await readEach(rows, (row) => findPayable(visit, row.id))).filter(({ withdrawal }) => !withdrawal.settling)

/** What waits for its payment. */
interface Waiting {
  readonly payable: readonly Payable[]
  readonly waiting: number
  /** Of those that cannot be paid, and are not shown or are all that there is. */
  readonly whyNot: readonly string[]
}

async function findWaitingIn(visit: Visit, { discardedAt, withdrawals }: PaymentFile): Promise<Waiting> {
  const waiting = discardedAt === null ? withdrawals.filter(({ status }) => status === 'approved') : []
  const payable = await readPayable(visit, waiting)
  const whyNot = payable.some(isPayable) ? [] : payable.flatMap(({ unless }) => unless ?? [])
  return { payable, waiting: payable.length, whyNot }
}

/** So many pages of the queue are read until there is something on one that somebody can pay. */
const readsMax = 5

/**
 * A page of what is in no file, waits longest, and somebody may pay. One that they can pay nothing of is passed over: for
 * example the ledger reserves nothing for it.
 */
async function findWaiting(visit: Visit): Promise<Waiting> {
  const { person, environment, display } = visit
  const asked = { environment, status: 'approved', withoutFile: true, limit: filedMax } as const
  const passed: Payable[] = []
  let after: string | undefined
  for (let reads = 1; ; reads += 1) {
    const from = { ...asked, payable: true, ...defined({ after }) }
    const page: Reply<typeof withdrawalQueue> = await person.call(withdrawalQueue, from)
    const payable = await readPayable(visit, page.data)
    if (payable.some(isPayable) || page.nextCursor === null || reads === readsMax) {
      const oldest = (await person.call(withdrawalQueue, asked)).data.filter(({ settling }) => !settling)
      const seen = new Set([...passed, ...payable].map(({ withdrawal }) => withdrawal.id))
      // The queue gave those alone that somebody may pay: the others they have approved themselves.
      const isOwn = page.nextCursor === null && oldest.some(({ id: withdrawalId }) => !seen.has(withdrawalId))
      const unpaid = payable.some(isPayable) ? passed : [...passed, ...payable]
      const whyNot = [...unpaid.flatMap(({ unless }) => unless ?? []), ...(isOwn ? [display.t('firstIsYou')] : [])]
      return { payable, waiting: Math.max(oldest.length, seen.size), whyNot }
    }
    passed.push(...payable)
    after = page.nextCursor
  }
}

/** With the form that says that it is paid. */
async function findPayable(visit: Visit, withdrawalId: string) {
  const { withdrawal, fault } = await findOne(visit, withdrawalId)
  const name = withdrawal.playerName ?? withdrawalId
  const decision = payDecision(visit, { withdrawal, player: { name } })
  const unless = fault === null ? decision.unless : visit.display.word('error', 'NOT_AS_APPROVED')
  // The browser fills in which file was made of it.
  const form = { ...decision, only: ['paymentFile'], unless }
  return { withdrawal, playerName: name, ...shownDecision(visit, form, withdrawalPath(withdrawal)) }
}

/** @param isNone what holds for all of them is said once, above */
function rowsShown(visit: Visit, payable: readonly Payable[], isNone: boolean) {
  const rows = rowsOf(
    showWithdrawal.reply,
    payable.map(({ withdrawal, playerName, unless }) => ({ ...withdrawal, name: playerName, unless })),
    [
      ['player', (row) => lines(text(row.name), id(row.playerId))],
      ['amount', (row) => lines(money(row.amount, row.currency), unreserved(row))],
      ['destination', (row) => lines(text(row.destination), text(row.method), ...destinationFacts(visit, row, 0))],
      'approvedBy',
      ...(isNone
        ? []
        : ([['outcome', (row: { readonly unless?: string | undefined }) => text(row.unless ?? '…')]] as const)),
      ['operator', (row) => text(row.operatorName ?? row.operatorId)],
    ],
    (row) => visit.address(withdrawalPath(row)),
  )
  const choiceOf = ({ unless, withdrawal }: Payable) => (unless === undefined ? withdrawal.id : undefined)
  return rows.map((row, index) => ({ ...row, choice: payable[index] && choiceOf(payable[index]) }))
}

/** What was in it, once none of it waits. */
const rowsFiled = ({ address }: Visit, { withdrawals }: PaymentFile) =>
  rowsOf(showPaymentFile.reply.properties.withdrawals.items, withdrawals, ['id', 'amount', 'status'], (row) =>
    address(withdrawalPath(row)),
  )

/** In the sandbox nobody is paid. */
const takesBatch = ({ environment }: Visit, agreement: BankAgreement | undefined): agreement is BankAgreement =>
  agreement !== undefined && environment === 'production'

/** What it is, who made it, and what became of it. */
function saidOf({ display }: Visit, file: PaymentFile): string {
  const { batchNumber, madeBy, madeAt, discardedBy, discardedAt, discardReason, waiting } = file
  const kind = batchNumber === null ? display.t('payFileCsv') : display.t('payFileBatch', { number: batchNumber })
  const made = display.t('payFileMade', { kind, who: madeBy, ago: display.ago(madeAt) })
  if (discardedAt === null) return `${made} ${display.t('payFileWaiting', { count: waiting })}`
  const why = { who: discardedBy ?? '', ago: display.ago(discardedAt), why: discardReason ?? '' }
  return `${made} ${display.t('payFileDiscarded', why)}`
}

/** Its rows are chosen in the list. */
const makeOf = (visit: Visit, agreement: BankAgreement | undefined): Decision => ({
  name: 'file',
  operation: makePaymentFile,
  fixed: takesBatch(visit, agreement) ? { agreement: nameOfAgreement(agreement) } : {},
  only: takesBatch(visit, agreement) ? ['ids', 'batchNumber'] : ['ids'],
  options: { ids: [{ name: 'given', label: visit.display.t('payFileChosen') }] },
  ask: visit.display.t('makeFileAsk'),
  leadsTo: (reply) => paymentFilePath((reply as Reply<typeof makePaymentFile>).fileId),
})

const discardOf = ({ display }: Visit, file: PaymentFile): Decision | undefined =>
  file.discardedAt !== null || file.waiting === 0
    ? undefined
    : {
        name: 'discard',
        operation: discardPaymentFile,
        fixed: { fileId: file.id, seen: seenOf(discardPaymentFile, file) },
        ask: display.t('discardFileAsk', { count: file.waiting }),
        tone: 'bad',
        leadsTo: () => paymentRun,
      }

/**
 * A withdrawal, and why it is not proven that it is what was approved: whoever answered is not believed, since the bank pays
 * what it is told. Null when it is proven; in the sandbox nobody is paid.
 */
async function findOne({ person, environment, recorded }: Visit, withdrawalId: string) {
  const withdrawal = await person.call(showWithdrawal, { withdrawalId })
  // Approved was the one that was asked for, whatever the reply calls it.
  const fault = environment === 'sandbox' ? null : await faultOfApproval(recorded, { ...withdrawal, id: withdrawalId })
  return { withdrawal, fault }
}

/** The same bytes each time, as long as all of it waits for its payment and the agreement with the bank is the same. */
async function download(visit: Visit, file: PaymentFile, agreement: BankAgreement | undefined): Promise<FastifyReply> {
  if (file.discardedAt !== null) throw new Rejection('PAYMENT_FILE_DISCARDED')
  const because = await faultOfPaymentFile(visit.recorded, file)
  if (because !== null) throw new Rejection('NOT_AS_APPROVED', { because })
  const number = file.batchNumber
  if (number === null) return sendCsv(visit, file.id, fileOf(await findFiled(visit, file)), (cell) => cell)
  // The numbers of another agreement are others.
  if (!takesBatch(visit, agreement) || (file.agreement ?? nameOfAgreement(agreement)) !== nameOfAgreement(agreement))
    throw new Rejection('NOT_FOUND')
  const payments = paymentsOf(await findFiled(visit, file))
  return sendBatch(visit, pixBatch({ agreement, number, at: localTime(visit, file.madeAt), payments }), number)
}

/** As they were approved, and for which money is kept. Each read is recorded. */
async function findFiled(visit: Visit, file: PaymentFile): Promise<readonly Withdrawal[]> {
  const ids = [...new Set(file.withdrawals.map(({ id: withdrawalId }) => withdrawalId))]
  const found = await readEach(ids, async (id) => ({ id, ...(await findOne(visit, id)) }))
  for (const { withdrawal } of found) {
    const { id: withdrawalId, environment, status, settling, paymentFile } = withdrawal
    // One that somebody is paying is shown as before until the wallet has done its part.
    if (environment !== visit.environment || status !== 'approved' || settling || paymentFile?.id !== file.id)
      throw new Rejection('WITHDRAWAL_INVALID_STATE', { withdrawalId, status })
    if (isUnreserved(withdrawal)) throw new Rejection('WITHDRAWAL_NOT_RESERVED', { withdrawalId })
  }
  const [unproven] = found.filter(({ fault }) => fault !== null)
  if (unproven !== undefined)
    throw new Rejection('NOT_AS_APPROVED', { withdrawalId: unproven.id, because: unproven.fault })
  return found.map(({ id, withdrawal }) => ({ ...withdrawal, id }))
}

const paymentsOf = (found: readonly Withdrawal[]): readonly PixPayment[] =>
  found.map((row) => {
    // The name is for the eyes of the payee's bank. Whose account it is follows from the key, which the approver has signed.
    if (row.playerName == null) throw new Rejection('SERVICE_UNAVAILABLE')
    return { id: row.id, amount: row.amount, destination: row.destination, payee: row.playerName }
  })

/** The clock of the console's zone. */
const localTime = ({ display: { timeZone } }: Visit, at: string): string =>
  new Intl.DateTimeFormat('sv', { dateStyle: 'short', timeStyle: 'medium', timeZone })
    .format(new Date(at))
    .replace(' ', 'T')

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
