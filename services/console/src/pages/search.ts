import { isCpf, operations, Rejection, type Reply } from '@backoffice/contracts'
import { lists } from '@backoffice/team-rows'
import type { FastifyReply } from 'fastify'
import { leaveNotice } from '../identity/cookies.ts'
import { whenAway } from '../identity/person.ts'
import { directoryOf } from '../pieces/directory.ts'
import { listRows } from '../pieces/list-page.ts'
import { rowsOnPage, showList, showLists } from '../pieces/queue.ts'
import {
  type Decision,
  fieldsGiven,
  type Pages,
  perform,
  refuse,
  type SentForm,
  shownDecision,
  type Visit,
} from '../pieces/visit.ts'
import { depositCells } from './deposits.ts'
import { keyUseSection, keyUses, requestPath } from './requests.ts'
import { playsPath, roundRows, roundsOf } from './rounds.ts'

/** Where a record is shown, by the prefix of its id. */
const places: ReadonlyMap<string, string> = new Map([
  ['wdr', 'withdrawals'],
  ['dep', 'deposits'],
  ['ply', 'players'],
  ['op', 'operators'],
  ['prv', 'providers'],
  ['rnd', 'rounds'],
  ['prp', 'proposals'],
  ['dlv', 'deliveries'],
  ['evt', 'deliveries'],
])

/** The page of the record with this id. */
export function placeOf(id: string): string | undefined {
  const [, prefix = ''] = /^([a-z]+)_[\w-]+$/.exec(id) ?? []
  const place = places.get(prefix)
  return place === undefined ? undefined : `/${place}/${id}`
}

/** Longer than an id or a name. */
const textLengthMax = 80
const textOf = (given: string | undefined): string => given?.trim().slice(0, textLengthMax) ?? ''

const { searchPlayers } = operations.players
const { getOperator, getProvider, listOperators } = operations.gateway
const { listEntries } = operations.wallet
const { listDeposits } = operations.payments
type Found = Reply<typeof searchPlayers>['data'][number]
type Operator = Reply<typeof getOperator>
type Deposit = Reply<typeof listDeposits>['data'][number]

export const searchPages: Pages = (route) => {
  // The field in the header. What was typed may be a name or a CPF: an address would take it into the history of the
  // browser and the logs of proxies. So it is sent with POST and answered here, without a redirect.
  route.post('/search', async (visit) => {
    const pasted = fieldsGiven(visit.request).q ?? ''
    if (keyShape.test(pasted) || secretShape.test(pasted)) return showKey(visit, pasted)
    const text = textOf(pasted)
    const place = placeOf(text)
    if (place !== undefined) return visit.reply.redirect(visit.address(place), 303)
    if (/^req_\w+$/.test(text)) return visit.reply.redirect(visit.address(requestPath(text)), 303)
    const entry = await entryPath(visit, text)
    if (entry !== undefined) return visit.reply.redirect(visit.address(entry), 303)
    const secret = secretIn(text)
    if (secret !== undefined) return showForm(visit, secret)
    const [players, operators, deposits, keys, rounds] = await Promise.all([
      playersNamed(visit, text),
      operatorsNamed(visit, text),
      depositsReferenced(visit, text),
      keyUses(visit, text).catch(whenAway([])),
      roundsOf(visit, text).catch(whenAway([])),
    ])
    // Many have a name. What an operator calls a player by is as good as an id.
    const named = players.filter(({ externalId }) => externalId !== text)
    const called = players.filter(({ externalId }) => externalId === text)
    const pages = [...operators, ...deposits, ...rounds, ...called].flatMap(({ id }) => placeOf(id) ?? [])
    const [only, ...others] = pages
    if (only !== undefined && others.length + named.length + keys.length === 0)
      return visit.reply.redirect(visit.address(only), 303)
    if (pages.length + named.length + keys.length > 0)
      return showFound(visit, { players, operators, deposits, keys, rounds })
    const plays = await playsPath(visit, text)
    if (plays !== undefined) return visit.reply.redirect(visit.address(plays), 303)
    const said = visit.display.t('searchNothing', { text })
    const data = { environment: visit.environment, said, bySecret: visit.address(formPath) }
    return visit.reply.code(404).page('search', data, { request: visit.request })
  })
  // Where the browser goes when somebody opens the address of a search once more.
  route.get('/search', (visit) => visit.reply.redirect(visit.address(formPath), 303))

  route.get(formPath, (visit) => showForm(visit))
  route.post(`${formPath}/find`, async (visit) => {
    const decision = secretSearch(visit)
    const outcome = await perform(visit, decision, formPath)
    if (outcome === undefined) return visit.reply
    if ('reply' in outcome) return showFound(visit, { players: (outcome.reply as Reply<typeof searchPlayers>).data })
    return refuse(visit, decision, outcome, (sent) => showForm(visit, {}, sent))
  })
}

/** A key of an operator or a provider, anywhere in what somebody copied: a line of a log, a header, `key:secret`. */
const keyShape = /(?<![A-Za-z0-9])(bk|gp)_(?:live|test)_[A-Za-z0-9]{1,56}(?![A-Za-z0-9])/
/** A secret of requests or of webhooks, or the beginning of one. */
const secretShape = /(?<![A-Za-z0-9])(?:sk_[0-9a-f]|whsec_[\w-])[\w-]{15}/

/** The page of a key, where it is revoked. Nothing but the key leaves here, and a secret beside it is not shown again. */
async function showKey(visit: Visit, pasted: string): Promise<FastifyReply> {
  const { person, display, request, reply, address } = visit
  const [key, kind] = keyShape.exec(pasted) ?? []
  const read = kind === 'gp' ? getProvider : getOperator
  const holder = key === undefined ? undefined : await person.call(read, { name: key }).catch(unlessUnknown)
  if (key === undefined || holder === undefined) {
    const said = key === undefined ? display.t('searchSecretAlone') : display.t('searchNothing', { text: key })
    return reply.code(404).page('search', { environment: visit.environment, said }, { request })
  }
  if (secretShape.test(pasted)) leaveNotice(request, { kind: 'waits', text: display.t('searchSecretPasted') })
  const isListed = ('keys' in holder ? holder.keys : holder.credentials).some((one) => one.key === key)
  return reply.redirect(address(`${placeOf(holder.id)}${isListed ? `/keys/${key}` : ''}`), 303)
}

/** While the gateway is away, nobody is told that a key is unknown. */
function unlessUnknown(error: unknown): undefined {
  if (!(error instanceof Rejection) || !/^(OPERATOR|PROVIDER)_NOT_FOUND$/.test(error.code)) throw error
}

interface AllFound {
  readonly players: readonly Found[]
  readonly operators?: readonly Operator[]
  readonly deposits?: readonly Deposit[]
  readonly keys?: Awaited<ReturnType<typeof keyUses>>
  readonly rounds?: Awaited<ReturnType<typeof roundsOf>>
}

async function showFound(visit: Visit, found: AllFound): Promise<FastifyReply> {
  const { players, operators = [], deposits = [], keys = [], rounds = [] } = found
  const rows = listRows(visit, lists.foundPlayers, players)
  const list = { title: 'players', empty: 'searchNobody', path: '/search' } as const
  if (operators.length + deposits.length + keys.length + rounds.length === 0) return showList(visit, { ...list, rows })
  const all = [
    keyUseSection(visit, keys, placeOf),
    {
      title: 'deposits',
      rows: listRows(visit, lists.deposits, deposits, await depositCells(visit, deposits)),
    },
    {
      title: 'rounds',
      rows: rounds.length === 0 ? [] : await roundRows(visit, await directoryOf(visit), rounds),
    },
    { title: 'operators', rows: listRows(visit, lists.operators, operators) },
    { title: 'players', rows },
  ] as const
  const sections = all.filter((section) => section.rows.length > 0)
  return showLists(visit, { ...list, title: 'searchLabel', sections })
}

/** How many operators are looked through for a part of a name. A whole name is found among all. */
const lookedThroughMax = 200
const operatorNameLengthMax = 64

/** By a name, or a part of one. */
async function operatorsNamed({ person }: Visit, text: string): Promise<readonly Operator[]> {
  if (text.length < nameLengthMin || text.length > operatorNameLengthMax) return []
  const [whole, { data }] = await Promise.all([
    person.call(getOperator, { name: text }).catch(nobody),
    person
      .call(listOperators, { limit: lookedThroughMax })
      .catch(nobody)
      .then((page) => page ?? { data: [] }),
  ])
  const part = text.toLowerCase()
  const named = data.filter(({ name }) => name.toLowerCase().includes(part))
  return [...new Map([...(whole === undefined ? [] : [whole]), ...named].map((one) => [one.id, one])).values()]
}

/** The page of a ledger entry, by the id of its transfer, or of the item that the operator sees. */
async function entryPath({ person }: Visit, text: string): Promise<string | undefined> {
  if (!/^(trf|led)_\w+$/.test(text) || !person.mayCall(listEntries)) return undefined
  const found = await person.call(listEntries, { transferId: text, limit: 1 }).catch((error: unknown) => {
    if (!(error instanceof Rejection) || error.code !== 'TRANSFER_NOT_FOUND') throw error
  })
  const [entry] = found?.data ?? []
  return entry && `/players/${entry.playerId}/entries/${entry.transferId}`
}

/** By what an operator calls a deposit. Several operators may call theirs the same. */
async function depositsReferenced({ person, environment }: Visit, text: string): Promise<readonly Deposit[]> {
  if (text === '' || !person.mayCall(listDeposits)) return []
  const asked = { environment, externalReference: text, limit: rowsOnPage }
  return (await person.call(listDeposits, asked).catch(whenAway({ data: [] }))).data
}

/** While the gateway, which knows the operators, is away, players are found. */
function nobody(error: unknown): undefined {
  if (!(error instanceof Rejection) || !['OPERATOR_NOT_FOUND', 'SERVICE_UNAVAILABLE'].includes(error.code)) throw error
}

/** Shorter texts are no words of a name. */
const nameLengthMin = 2

/** By a name, or by the operator's own id. */
async function playersNamed({ person, environment }: Visit, text: string): Promise<readonly Found[]> {
  if (text.length < nameLengthMin || !person.mayCall(searchPlayers)) return []
  const given = { environment, limit: rowsOnPage }
  const pages = await Promise.all([
    person.call(searchPlayers, { ...given, externalId: text }),
    person.call(searchPlayers, { ...given, name: text }),
  ])
  return [...new Map(pages.flatMap(({ data }) => data).map((player) => [player.id, player])).values()]
}

const formPath = '/search/players'

type Secret = Readonly<Partial<Record<'cpf' | 'email' | 'phone', string>>>

/** A number as people write a CPF or a telephone, perhaps with a mistake. The digits in an operator's own id follow letters. */
const longNumber = /(?<![\p{L}\d][_-]?)[+(]*\d(?:[^\p{L}\d]{0,3}\d){9,14}(?![_-]?[\p{L}\d])/u

/** What is searched for only with a reason. The form that asks for it has a field for each, so a wrong guess does no harm. */
function secretIn(text: string): Secret | undefined {
  if (text.includes('@')) return { email: text }
  const [number] = longNumber.exec(text) ?? []
  if (number === undefined) return undefined
  const digits = number.replace(/\D/g, '')
  return isCpf(digits) || !isLikeTelephone(number, digits)
    ? { cpf: isCpf(number) ? number : digits }
    : { phone: number.startsWith('+') ? `+${digits}` : digits }
}

/** In Brazil a mobile number has as many digits as a CPF, the third of them a 9. A CPF is written in groups of three. */
const isLikeTelephone = (number: string, digits: string) =>
  /^[+(]/.test(number) || digits.length !== 11 || (digits[2] === '9' && !/^\d{3}\D\d{3}/.test(number))

function showForm(visit: Visit, secret: Secret = {}, sent?: SentForm): FastifyReply {
  const decision = shownDecision(visit, secretSearch(visit, secret), formPath, sent)
  return visit.show('form', { decision, list: visit.address(''), about: visit.display.t('home') })
}

/** By CPF, e-mail or telephone: the service wants a reason and records it, as for the command line. */
const secretSearch = ({ display, environment }: Visit, secret: Secret = {}): Decision => ({
  name: 'find',
  label: 'searchSecret',
  operation: searchPlayers,
  fixed: { environment, limit: rowsOnPage },
  // An operator's own id may be a long number too.
  only: ['cpf', 'email', 'phone', 'externalId', 'reason'],
  initial: secret,
  required: ['reason'],
  ask: display.t('searchSecretAsk'),
})
