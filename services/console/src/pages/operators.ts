import { type Operation, operations, Rejection, type Reply } from '@backoffice/contracts'
import { lists } from '@backoffice/team-rows'
import type { TSchema } from '@sinclair/typebox'
import type { FastifyReply } from 'fastify'
import { notKnown } from '../identity/person.ts'
import {
  type Cell,
  factsOf,
  id,
  lines,
  link,
  linkElsewhere,
  nothing,
  rowsOf,
  type ShownColumn,
  status,
  text,
  time,
} from '../pieces/cells.ts'
import { drawBrand } from '../pieces/day-pictures.ts'
import { showListed } from '../pieces/list-page.ts'
import {
  addressesCell,
  createDecision,
  lastFour,
  type Operator,
  type OperatorState,
  type OwnedKey,
  operatorDecision,
  operatorDecisions,
  revokeDecision,
} from '../pieces/operator-actions.ts'
import { showCase, showLists } from '../pieces/queue.ts'
import { inParts } from '../pieces/rest.ts'
import {
  type Decision,
  labelOf,
  type Pages,
  pageWithForms,
  type Route,
  type SentForm,
  shownDecision,
  type Visit,
} from '../pieces/visit.ts'
import { agoOf, deliveriesOf, faultOf, healthOf, heldUntil } from './endpoints.ts'
import { placeOf } from './search.ts'

const { createOperator, getOperator, revokeCredential, showHomologation } = operations.gateway
const { showDocumentUrl } = operations.players
const { showWebhook } = operations.webhooks

type Credential = Operator['credentials'][number]
type Endpoint = Reply<typeof showWebhook>

/** The operators: what they may do, and their brand, keys and webhooks of one environment. */
export const operatorPages: Pages = (route) => {
  route.get('/operators', showOperators)
  pageOfNew(route, '/operators', createDecision)
  pageWithForms(route, '/operators/:operator', {
    find: findState,
    pathOf: ({ operator }) => pathOf(operator),
    show: showOperator,
    decisionOf: operatorDecision,
  })
  route.get('/operators/:operator/homologation', showProofs)
  route.get('/operators/:operator/homologation.md', sendProofs)
  pageOfKey(route, '/operators/:operator', {
    find: async ({ person, params }) => {
      const holder = await person.call(getOperator, { name: params.operator ?? '' })
      return { holder, path: pathOf(holder), credentials: holder.credentials }
    },
    field: 'operator',
    schema: credentialSchema,
    revokes: revokeCredential,
  })
}

const pathOf = ({ id: operatorId }: Pick<Operator, 'id'>): string => `/operators/${operatorId}`

const showOperators = (visit: Visit): Promise<FastifyReply> =>
  showListed(visit, {
    list: lists.operators,
    title: 'operators',
    path: '/operators',
    frame: () => ({ create: linkToNew(visit, createOperator, '/operators') }),
  })

/** The link to the form that makes one more. */
export const linkToNew = ({ person, address }: Visit, operation: Operation, path: string) =>
  person.mayCall(operation) ? { href: address(`${path}/new`), label: labelOf(operation) } : undefined

/** The page of that form, of operators as of providers of games. */
export function pageOfNew(route: Route, path: '/operators' | '/providers', find: (visit: Visit) => Decision): void {
  const about = path === '/operators' ? 'operators' : 'providers'
  pageWithForms(route, `${path}/new`, {
    find,
    pathOf: () => `${path}/new`,
    show: (visit, form, sent) =>
      visit.show('form', {
        about: visit.display.t(about),
        list: visit.address(path),
        decision: shownDecision(visit, form, `${path}/new`, sent),
      }),
    decisionOf: (_visit, form, name) => (name === form.name ? form : undefined),
  })
}

async function findState(visit: Visit): Promise<OperatorState> {
  const { params, environment } = visit
  const operator = await visit.person.call(getOperator, { name: params.operator ?? '' })
  const { person } = inParts(visit)
  const of = { operatorId: operator.id, environment }
  const [webhook, documents, homologation] = await Promise.all([
    person.mayCall(showWebhook) ? person.call(showWebhook, of).catch(notKnown) : undefined,
    person.mayCall(showDocumentUrl) ? person.call(showDocumentUrl, of).catch(notKnown) : undefined,
    person.call(showHomologation, { operatorId: operator.id }).catch(notKnown),
  ])
  return { operator, webhook, documents, homologation }
}

async function showOperator(visit: Visit, state: OperatorState, sent?: SentForm): Promise<FastifyReply> {
  const { display, environment, address } = visit
  const { operator, webhook, documents, homologation } = state
  const brand = operator.brands.find((candidate) => candidate.environment === environment)
  const use = operator.storedToday?.find((candidate) => candidate.environment === environment)
  const decisions = operatorDecisions(visit, state)
  const facts = factsOf(getOperator.reply, operator, [
    'status',
    ['brand', () => (brand === undefined ? nothing : lines(text(brand.name), id(brand.id)))],
    ['currency', () => text(brand?.currency)],
    ['timeZone', () => text(brand?.timeZone)],
    'rateLimitPerMinute',
    ['storedMebibytesPerDay', (row) => quota(visit, row.storedMebibytesPerDay, use && use.bytesMax / mebibyte, ' MiB')],
    ['storedRowsPerDay', (row) => quota(visit, row.storedRowsPerDay, use?.rowsMax)],
    ['storedToday', () => text(use && display.t('storedOf', partsOf(use)))],
    ['allowedAddresses', (row) => addressesCell(visit, row)],
    'replayProtection',
    ['template', () => text(documents?.template)],
    [
      'homologation',
      () => (homologation === undefined ? nothing : link(partOf(visit, homologation), address(proofsPath(operator)))),
    ],
    ['refused', () => refusedOf(visit, operator)],
    'createdAt',
    'id',
  ])
  return showCase(visit, {
    path: pathOf(operator),
    title: operator.name,
    about: display.t('operators'),
    list: address('/operators'),
    facts,
    decisions: decisions.length === 0 ? undefined : decisions,
    decisionsTitle: 'actions',
    sent,
    pictures: brand === undefined ? [] : await drawBrand(inParts(visit), brand),
    sections: [
      ...(webhook === undefined ? [] : [{ title: 'webhook' as const, rows: endpointRows(visit, webhook, operator) }]),
      { title: 'keys', rows: keyRows(visit, credentialSchema, pathOf(operator), operator.credentials) },
    ],
  })
}

const refusedOf = ({ display, address }: Visit, { name }: Operator): Cell =>
  link(display.t('refusedRequests'), address(`/requests?operator=${encodeURIComponent(name)}`))

type Homologation = Reply<typeof showHomologation>

const proofsPath = (operator: Pick<Operator, 'id'>): string => `${pathOf(operator)}/homologation`

const partOf = ({ display }: Visit, { proved, checks }: Homologation): string =>
  display.t('homologationCount', { proved, all: checks.length })

/** What the sandbox traffic of an operator has proved, and what it has not. */
async function showProofs(visit: Visit): Promise<FastifyReply> {
  const { display, address } = visit
  const { operator, ...homologation } = await findProofs(visit)
  const { checks, proved: done, webhooksAnswered, isLive } = homologation
  const rows = (proved: boolean, ...columns: readonly ShownColumn<Homologation['checks'][number]>[]) =>
    rowsOf(
      showHomologation.reply.properties.checks.items,
      checks.filter(({ firstAt }) => (firstAt !== null) === proved),
      [['check', ({ check }) => text(display.word('check', check))], ...columns],
    )
  const missing = rows(false, [
    'guide',
    ({ guide }) => linkElsewhere(display.first([`goLive.${guide.split('#')[1]}`]), guide),
  ])
  const proved = rows(true, 'firstAt', ['proof', ({ proof }) => proofOf(visit, proof ?? '')], 'lastAt')
  return showLists(visit, {
    title: 'homologation',
    about: { name: operator.name, href: address(pathOf(operator)) },
    create: { href: address(`${proofsPath(operator)}.md`), label: 'homologationFile' },
    progress: { done, total: checks.length },
    remark: `${partOf(visit, homologation)}. ${display.t(isLive ? 'homologationLive' : 'homologationNeeded')}`,
    missing: webhooksAnswered ? [] : ['webhooks'],
    sections: [
      { title: 'homologationMissing', rows: missing },
      { title: 'homologationProved', rows: proved },
    ],
    path: proofsPath(operator),
  })
}

async function findProofs({ person, params }: Visit) {
  const operator = await person.call(getOperator, { name: params.operator ?? '' })
  return { operator, ...(await person.call(showHomologation, { operatorId: operator.id })) }
}

/** For the operator, who has no page of it. */
async function sendProofs(visit: Visit): Promise<FastifyReply> {
  const { display, now } = visit
  const { operator, ...homologation } = await findProofs(visit)
  const lines = homologation.checks.map(({ check, firstAt, guide }) =>
    firstAt === null
      ? `- [ ] ${display.word('check', check)} ${guide}`
      : `- [x] ${display.word('check', check)} ${display.utc(firstAt)}`,
  )
  const services = display.word('service', 'webhooks')
  const head = [
    `# ${display.t('homologation')}: ${operator.name}`,
    `${partOf(visit, homologation)}, ${display.utc(now.toISOString())}`,
    // What they would prove is not ticked below.
    ...(homologation.webhooksAnswered ? [] : [display.t('missingServices', { services })]),
  ]
  return visit.reply
    .headers({
      'Content-Type': 'text/markdown; charset=utf-8',
      'Content-Disposition': 'attachment; filename="homologation.md"',
    })
    .send(`${[...head, lines.join('\n')].join('\n\n')}\n`)
}

/** A delivery is shown, a key told by its end. */
function proofOf({ address }: Visit, proof: string): Cell {
  if (proof.startsWith('bk_')) return text(lastFour(proof))
  const place = placeOf(proof)
  return place === undefined ? id(proof) : link(proof, address(place))
}

const mebibyte = 1024 * 1024

/** A quota of a day: what was agreed, or the usual one, which the use of today says. */
function quota({ display }: Visit, agreed: number | null | undefined, usual: number | undefined, unit = ''): Cell {
  const shown = agreed ?? usual
  if (shown === undefined) return nothing
  const value = `${display.number(String(Math.floor(shown)))}${unit}`
  return text(agreed == null ? display.t('defaultOf', { value }) : value)
}

/** How much of its quotas an operator has used up, in percent. */
const partsOf = ({ bytes, bytesMax, rows, rowsMax }: NonNullable<Operator['storedToday']>[number]) => ({
  bytes: Math.floor((100 * bytes) / bytesMax),
  rows: Math.floor((100 * rows) / rowsMax),
})

/** Where events go, and whether they arrive. */
const endpointRows = (visit: Visit, webhook: Endpoint, { name }: Pick<Operator, 'name'>) =>
  rowsOf(
    showWebhook.reply,
    [webhook],
    [
      'url',
      ['health', (row) => lines(status(healthOf(row)), text(row.disabledReason))],
      ['failingSince', ({ breaker }) => agoOf(breaker.failingSince)],
      ['latestFault', (row) => faultOf(visit, row)],
      ['retryAt', (row) => heldUntil(visit, row)],
      ['pending', ({ pending }) => lines(text(pending), deliveriesOf(visit, name))],
      ['oldestPendingAt', ({ oldestPendingAt }) => agoOf(oldestPendingAt)],
    ],
  )

const credentialSchema = getOperator.reply.properties.credentials.items

/** A key, whoever holds it. */
interface Key extends Omit<Credential, 'lastUsedAt'> {
  readonly lastUsedAt?: string | null
}

interface PageOfKey {
  readonly find: (visit: Visit) => Promise<{
    readonly holder: OwnedKey['holder']
    readonly path: string
    readonly credentials: readonly Key[]
  }>
  /** What its holder is. */
  readonly field: 'operator' | 'provider'
  readonly schema: TSchema
  readonly revokes: Operation
}

export function pageOfKey(route: Route, ofHolder: string, { find, field, schema, revokes }: PageOfKey): void {
  pageWithForms(route, `${ofHolder}/keys/:key`, {
    find: async (visit) => {
      const { credentials, ...found } = await find(visit)
      const credential = credentials.find(({ key }) => key === visit.params.key)
      if (credential === undefined) throw new Rejection('CREDENTIAL_NOT_FOUND')
      return { ...found, credential }
    },
    pathOf: ({ path, credential }) => keyPath(path, credential),
    environmentOf: ({ credential }) => credential.environment,
    show: (visit, { holder, path, credential }, sent) => {
      const list = visit.address(path)
      return showCase(visit, {
        path: keyPath(path, credential),
        title: lastFour(credential.key),
        about: holder.name,
        list,
        facts: factsOf(schema, credential, [
          ['key', ({ key }) => id(key)],
          [field, () => link(holder.name, list)],
          'environment',
          'createdAt',
          ['lastUsedAt', (one) => lastUse(visit, one)],
          'revokedAt',
        ]),
        decisions: credential.revokedAt === null ? [revokeDecision(visit, revokes, { holder, credential })] : [],
        decisionsTitle: 'actions',
        sent,
      })
    },
    decisionOf: (visit, found, name) => (name === 'revoke' ? revokeDecision(visit, revokes, found) : undefined),
  })
}

const keyPath = (holder: string, { key }: Pick<Key, 'key'>): string => `${holder}/keys/${key}`

/** The keys of a holder, as a table. */
export const keyRows = (visit: Visit, schema: TSchema, path: string, keys: readonly Key[]) =>
  rowsOf(
    schema,
    keys.filter(({ environment }) => environment === visit.environment),
    [['key', ({ key }) => text(lastFour(key))], 'createdAt', ['lastUsedAt', (key) => lastUse(visit, key)], 'revokedAt'],
    (key) => visit.address(keyPath(path, key)),
  )

const lastUse = ({ display }: Visit, { lastUsedAt }: Key): Cell =>
  lastUsedAt === undefined ? nothing : lastUsedAt === null ? text(display.t('neverUsed')) : time(lastUsedAt)
