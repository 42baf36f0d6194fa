import { operations, Rejection, type Reply } from '@backoffice/contracts'
import type { FastifyReply } from 'fastify'
import {
  type Cell,
  factsOf,
  id,
  link,
  nothing,
  rowSchema,
  type ShownColumn,
  status,
  text,
  time,
} from '../pieces/cells.ts'
import {
  createDecision,
  lastFour,
  type Operator,
  type OperatorState,
  operatorDecision,
  operatorDecisions,
  revokeDecision,
} from '../pieces/operator-actions.ts'
import { afterOf, rowsOnPage, showCase, showList } from '../pieces/queue.ts'
import { decide, type Pages, type SentForm, shownDecision, type Visit } from '../pieces/visit.ts'
import { healthOf } from './endpoints.ts'

const { createOperator, listOperators, getOperator } = operations.gateway
const { showDocumentUrl } = operations.players
const { showWebhook } = operations.webhooks

type Credential = Operator['credentials'][number]
type Endpoint = Reply<typeof showWebhook>

/** The operators: what they may do, and their brand, keys and webhooks of one environment. */
export const operatorPages: Pages = (route) => {
  route.get('/operators', showOperators)
  route.get('/operators/new', (visit) => showForm(visit))
  route.post('/operators/new/create', (visit) =>
    decide(visit, createDecision(visit), '/operators', (sent) => showForm(visit, sent)),
  )
  route.get('/operators/:operator', async (visit) => showOperator(visit, await findState(visit)))
  route.post('/operators/:operator/:verb', async (visit) => {
    const state = await findState(visit)
    const decision = operatorDecision(visit, visit.params.verb ?? '', state)
    if (decision === undefined) throw new Rejection('NOT_FOUND')
    return decide(visit, decision, pathOf(state.operator), (sent) => showOperator(visit, state, sent))
  })
  route.get('/operators/:operator/keys/:key', (visit) => showKey(visit))
  route.post('/operators/:operator/keys/:key/revoke', async (visit) => {
    const { operator, credential } = await findKey(visit)
    const decision = revokeDecision(visit, operator, credential.key)
    return decide(visit, decision, keyPath(operator, credential), (sent) => showKey(visit, sent))
  })
}

const pathOf = ({ id: operatorId }: Pick<Operator, 'id'>): string => `/operators/${operatorId}`
const keyPath = (operator: Operator, { key }: Credential): string => `${pathOf(operator)}/keys/${key}`

async function showOperators(visit: Visit): Promise<FastifyReply> {
  const { person, environment, query, address } = visit
  const { data, nextCursor } = await person.call(listOperators, { limit: rowsOnPage, ...afterOf(query.after) })
  const columns: readonly ShownColumn<Operator>[] = [
    'name',
    'status',
    ['brand', ({ brands }) => text(brands.find((brand) => brand.environment === environment)?.name)],
    'rateLimitPerMinute',
    ['keys', ({ credentials }) => text(credentials.filter((key) => isActive(key, environment)).length)],
    'createdAt',
  ]
  return showList(visit, {
    title: 'operators',
    create: person.mayCall(createOperator)
      ? { href: address('/operators/new'), label: 'operation.createOperator' }
      : undefined,
    rows: data.map((row) => ({
      href: address(pathOf(row)),
      cells: factsOf(rowSchema(listOperators.reply), row, columns),
    })),
    path: '/operators',
    nextCursor,
  })
}

const showForm = (visit: Visit, sent?: SentForm): FastifyReply =>
  visit.show('form', {
    about: visit.display.t('operators'),
    list: visit.address('/operators'),
    decision: shownDecision(visit, createDecision(visit), '/operators/new', sent),
  })

async function findState(visit: Visit): Promise<OperatorState> {
  const { person, params, environment } = visit
  const operator = await person.call(getOperator, { name: params.operator ?? '' })
  const of = { operatorId: operator.id, environment }
  const [webhook, documents] = await Promise.all([
    person.mayCall(showWebhook) ? person.call(showWebhook, of).catch(notKnown) : undefined,
    person.mayCall(showDocumentUrl) ? person.call(showDocumentUrl, of).catch(notKnown) : undefined,
  ])
  return { operator, webhook, documents }
}

/** The page of an operator is shown without what another service does not say. */
function notKnown(error: unknown): undefined {
  if (!(error instanceof Rejection)) throw error
}

async function showOperator(visit: Visit, state: OperatorState, sent?: SentForm): Promise<FastifyReply> {
  const { display, environment, address } = visit
  const { operator, webhook, documents } = state
  const path = pathOf(operator)
  const brand = operator.brands.find((candidate) => candidate.environment === environment)
  const decisions = operatorDecisions(visit, state).map((decision) => shownDecision(visit, decision, path, sent))
  const shown: readonly ShownColumn<Operator>[] = [
    'status',
    ['brand', () => text(brand?.name)],
    ['brandId', () => (brand === undefined ? text(null) : id(brand.id))],
    ['currency', () => text(brand?.currency)],
    ['timeZone', () => text(brand?.timeZone)],
    'rateLimitPerMinute',
    'allowedAddresses',
    'replayProtection',
    ['template', () => text(documents?.template)],
    'createdAt',
    'id',
  ]
  const keys: readonly ShownColumn<Credential>[] = [
    ['key', ({ key }) => text(lastFour(key))],
    'createdAt',
    ['lastUsedAt', (credential) => lastUse(visit, credential)],
    'revokedAt',
  ]
  return showCase(visit, {
    title: operator.name,
    about: display.t('operators'),
    list: address('/operators'),
    facts: factsOf(getOperator.reply, operator, shown),
    decisions: decisions.length === 0 ? undefined : decisions,
    decisionsTitle: 'actions',
    sent,
    sections: [
      ...(webhook === undefined ? [] : [{ title: 'webhook' as const, rows: [endpointRow(visit, webhook)] }]),
      {
        title: 'keys',
        rows: operator.credentials
          .filter((key) => key.environment === environment)
          .map((row) => ({
            href: address(keyPath(operator, row)),
            cells: factsOf(getOperator.reply.properties.credentials.items, row, keys),
          })),
      },
    ],
  })
}

/** Where events go, and whether they arrive. */
function endpointRow({ display }: Visit, webhook: Endpoint) {
  const shown: readonly ShownColumn<Endpoint>[] = [
    'url',
    ['health', (row) => status(healthOf(row))],
    ['failingSince', ({ breaker }) => text(breaker.failingSince && display.time(breaker.failingSince))],
    'pending',
    'oldestPendingAt',
    'disabledReason',
  ]
  return { cells: factsOf(showWebhook.reply, webhook, shown) }
}

async function findKey({
  person,
  params,
}: Visit): Promise<{ readonly operator: Operator; readonly credential: Credential }> {
  const operator = await person.call(getOperator, { name: params.operator ?? '' })
  const credential = operator.credentials.find(({ key }) => key === params.key)
  if (credential === undefined) throw new Rejection('CREDENTIAL_NOT_FOUND')
  return { operator, credential }
}

/** One key, and the form that revokes it. */
async function showKey(visit: Visit, sent?: SentForm): Promise<FastifyReply> {
  const { environment, address } = visit
  const { operator, credential } = await findKey(visit)
  const path = keyPath(operator, credential)
  if (credential.environment !== environment) return visit.reply.redirect(`/${credential.environment}${path}`, 303)
  const decisions =
    credential.revokedAt === null
      ? [shownDecision(visit, revokeDecision(visit, operator, credential.key), path, sent)]
      : []
  const shown: readonly ShownColumn<Credential>[] = [
    ['key', ({ key }) => id(key)],
    ['operator', () => link(operator.name, address(pathOf(operator)))],
    'environment',
    'createdAt',
    ['lastUsedAt', (one) => lastUse(visit, one)],
    'revokedAt',
  ]
  return showCase(visit, {
    title: lastFour(credential.key),
    about: operator.name,
    list: address(pathOf(operator)),
    facts: factsOf(getOperator.reply.properties.credentials.items, credential, shown),
    decisions,
    decisionsTitle: 'actions',
    sent,
  })
}

const isActive = (key: Credential, environment: string): boolean =>
  key.environment === environment && key.revokedAt === null

/** When a key was last used. */
const lastUse = ({ display }: Visit, { lastUsedAt }: Credential): Cell =>
  lastUsedAt === undefined ? nothing : lastUsedAt === null ? text(display.t('neverUsed')) : time(lastUsedAt)
