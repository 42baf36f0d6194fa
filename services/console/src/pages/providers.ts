import { operations, Rejection } from '@backoffice/contracts'
import { lists } from '@backoffice/team-rows'
import type { FastifyReply } from 'fastify'
import { type Cell, factsOf, id, link, money, nothing, rowWith, text, time } from '../pieces/cells.ts'
import { directoryOf } from '../pieces/directory.ts'
import { showListed } from '../pieces/list-page.ts'
import { addressesCell, lastFour } from '../pieces/operator-actions.ts'
import {
  createDecision,
  type FoundGrant,
  type FoundKey,
  type FoundProvider,
  type Grant,
  isVerb,
  type Key,
  maxWinOf,
  type Provider,
  providerDecision,
  providerDecisions,
  providerPath,
  regrantDecision,
  revokeDecision,
  winLimitDecision,
} from '../pieces/provider-actions.ts'
import { showCase, type Tab } from '../pieces/queue.ts'
import { type Decision, type Pages, pageWithForms, type SentForm, shownDecision, type Visit } from '../pieces/visit.ts'

const { createProvider, getProvider } = operations.gateway
const { listWinLimits, listRounds } = operations.wallet

/** Providers of games: keys, limits, and the brands that they were granted, each with what one win may be. */
export const providerPages: Pages = (route) => {
  route.get('/providers', showProviders)
  pageWithForms(route, '/providers/new', {
    find: createDecision,
    pathOf: () => '/providers/new',
    show: showForm,
    decisionOf: (_visit, form, name) => (name === form.name ? form : undefined),
  })
  pageWithForms(route, '/providers/:provider', {
    find: findProvider,
    pathOf: ({ provider }) => providerPath(provider),
    show: showProvider,
    decisionOf: (visit, found, name) => (isVerb(name) ? providerDecision(visit, found, name) : undefined),
  })
  pageWithForms(route, '/providers/:provider/brands/:brand', {
    find: findGrant,
    pathOf: grantPath,
    environmentOf: ({ grant }) => grant.environment,
    show: showGrant,
    decisionOf: (visit, found, name) =>
      name === 'grant' || name === 'suspendGrant'
        ? regrantDecision(visit, found)
        : name === 'winLimit'
          ? winLimitDecision(visit, found)
          : undefined,
  })
  pageWithForms(route, '/providers/:provider/keys/:key', {
    find: findKey,
    pathOf: keyPath,
    environmentOf: ({ key }) => key.environment,
    show: showKey,
    decisionOf: (visit, found, name) => (name === 'revoke' ? revokeDecision(visit, found) : undefined),
  })
}

const keyPath = ({ provider, key }: FoundKey): string => `${providerPath(provider)}/keys/${key.key}`
const grantPath = ({ provider, grant }: FoundGrant): string => `${providerPath(provider)}/brands/${grant.brandId}`

/** The pages about whose games are played. */
export const providerTabs = ({ address }: Visit, shown: 'providers' | 'games'): readonly Tab[] =>
  (['providers', 'games'] as const).map((name) => ({
    label: name,
    href: address(`/${name}`),
    current: name === shown,
  }))

const showProviders = (visit: Visit): Promise<FastifyReply> =>
  showListed(visit, {
    list: lists.providers,
    title: 'providers',
    path: '/providers',
    frame: ({ person, address }) => ({
      tabs: providerTabs(visit, 'providers'),
      create: person.mayCall(createProvider)
        ? { href: address('/providers/new'), label: 'operation.createProvider' }
        : undefined,
    }),
  })

const showForm = (visit: Visit, form: Decision, sent?: SentForm): FastifyReply =>
  visit.show('form', {
    about: visit.display.t('providers'),
    list: visit.address('/providers'),
    decision: shownDecision(visit, form, '/providers/new', sent),
  })

async function findProvider(visit: Visit): Promise<FoundProvider> {
  const { person, params } = visit
  const [provider, directory, limits] = await Promise.all([
    person.call(getProvider, { name: params.provider ?? '' }),
    directoryOf(visit),
    person.mayCall(listWinLimits) ? person.call(listWinLimits, {}).catch(notKnown) : undefined,
  ])
  return { provider, directory, limits }
}

/** The page of a provider is shown without what another service does not say. */
function notKnown(error: unknown): undefined {
  if (!(error instanceof Rejection)) throw error
}

const grantsIn = ({ environment }: Visit, { grants }: Provider): readonly Grant[] =>
  grants.filter((grant) => grant.environment === environment)

async function showProvider(visit: Visit, found: FoundProvider, sent?: SentForm): Promise<FastifyReply> {
  const { display, address, environment, person } = visit
  const { provider } = found
  const keys = provider.keys.filter((key) => key.environment === environment)
  const rounds = new URLSearchParams({ provider: provider.name })
  return showCase(visit, {
    path: providerPath(provider),
    title: provider.name,
    about: display.t('providers'),
    list: address('/providers'),
    facts: factsOf(getProvider.reply, provider, [
      'status',
      'stakesPerMinute',
      'othersPerMinute',
      ['allowedAddresses', (row) => addressesCell(visit, row)],
      ['rounds', () => (person.mayCall(listRounds) ? link(display.t('all'), address(`/rounds?${rounds}`)) : nothing)],
      ['refused', () => link(display.t('refusedRequests'), address(`/requests?${rounds}`))],
      'createdAt',
      'id',
    ]),
    decisions: providerDecisions(visit, found),
    decisionsTitle: 'actions',
    sent,
    sections: [
      {
        title: 'grants',
        remark: display.t('grantsWhat'),
        rows: grantsIn(visit, provider).map((grant) => ({
          href: address(grantPath({ ...found, grant })),
          ...rowWith({
            operator: link(grant.operatorName, address(`/operators/${grant.operatorId}`)),
            status: { kind: 'status', text: grant.status },
            maxWin: maxWinCell(found, grant),
            grantedAt: time(grant.grantedAt),
          }),
        })),
      },
      {
        title: 'keys',
        rows: keys.map((key) => ({
          href: address(keyPath({ ...found, key })),
          ...rowWith({
            key: text(lastFour(key.key)),
            createdAt: time(key.createdAt),
            lastUsedAt: lastUse(visit, key),
            revokedAt: key.revokedAt === null ? nothing : time(key.revokedAt),
          }),
        })),
      },
    ],
  })
}

const lastUse = ({ display }: Visit, { lastUsedAt }: Key): Cell =>
  lastUsedAt === null ? text(display.t('neverUsed')) : time(lastUsedAt)

function maxWinCell(found: FoundProvider, grant: Grant): Cell {
  const maxWin = maxWinOf(found, grant)
  const currency = found.directory.brand(grant.brandId)?.currency
  return maxWin === undefined ? nothing : currency === undefined ? text(maxWin) : money(maxWin, currency)
}

async function findGrant(visit: Visit): Promise<FoundGrant> {
  const found = await findProvider(visit)
  const grant = found.provider.grants.find(({ brandId }) => brandId === visit.params.brand)
  if (grant === undefined) throw new Rejection('NOT_FOUND')
  return { ...found, grant }
}

/** One brand that a provider was granted. */
function showGrant(visit: Visit, found: FoundGrant, sent?: SentForm): FastifyReply {
  const { provider, grant } = found
  const list = visit.address(providerPath(provider))
  return showCase(visit, {
    path: grantPath(found),
    title: `${provider.name} · ${grant.operatorName}`,
    about: provider.name,
    list,
    facts: factsOf(getProvider.reply.properties.grants.items, grant, [
      'status',
      ['maxWin', () => maxWinCell(found, grant)],
      ['provider', () => link(provider.name, list)],
      ['operator', () => link(grant.operatorName, visit.address(`/operators/${grant.operatorId}`))],
      'environment',
      'grantedAt',
      ['brandId', ({ brandId }) => id(brandId)],
    ]),
    decisions: [
      regrantDecision(visit, found),
      ...(maxWinOf(found, grant) === undefined ? [] : [winLimitDecision(visit, found)]),
    ],
    decisionsTitle: 'actions',
    sent,
  })
}

async function findKey(visit: Visit): Promise<FoundKey> {
  const found = await findProvider(visit)
  const key = found.provider.keys.find((one) => one.key === visit.params.key)
  if (key === undefined) throw new Rejection('CREDENTIAL_NOT_FOUND')
  return { ...found, key }
}

/** One key, and the form that revokes it. */
function showKey(visit: Visit, found: FoundKey, sent?: SentForm): FastifyReply {
  const { provider, key } = found
  const list = visit.address(providerPath(provider))
  return showCase(visit, {
    path: keyPath(found),
    title: lastFour(key.key),
    about: provider.name,
    list,
    facts: factsOf(getProvider.reply.properties.keys.items, key, [
      ['key', () => id(key.key)],
      ['provider', () => link(provider.name, list)],
      'environment',
      'createdAt',
      ['lastUsedAt', () => lastUse(visit, key)],
      'revokedAt',
    ]),
    decisions: key.revokedAt === null ? [revokeDecision(visit, found)] : [],
    decisionsTitle: 'actions',
    sent,
  })
}
