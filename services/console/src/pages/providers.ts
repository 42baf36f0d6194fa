import { defined, operations, Rejection } from '@backoffice/contracts'
import { lists } from '@backoffice/team-rows'
import type { FastifyReply } from 'fastify'
import { notKnown } from '../identity/person.ts'
import { type Cell, factsOf, id, link, money, nothing, rowWith, text, time } from '../pieces/cells.ts'
import { directoryOf } from '../pieces/directory.ts'
import { showListed } from '../pieces/list-page.ts'
import { addressesCell } from '../pieces/operator-actions.ts'
import {
  createDecision,
  type FoundGrant,
  type FoundProvider,
  type Grant,
  isVerb,
  maxWinOf,
  type Provider,
  providerDecision,
  providerDecisions,
  providerPath,
  regrantDecision,
  winLimitDecision,
} from '../pieces/provider-actions.ts'
import { showCase, type Tab } from '../pieces/queue.ts'
import { type Pages, pageWithForms, type SentForm, type Visit } from '../pieces/visit.ts'
import { keyRows, linkToNew, pageOfKey, pageOfNew } from './operators.ts'

const { createProvider, getProvider, revokeProviderKey } = operations.gateway
const { listWinLimits, listRounds } = operations.wallet

/** Providers of games: keys, limits, and the brands that they were granted, each with what one win may be. */
export const providerPages: Pages = (route) => {
  route.get('/providers', showProviders)
  pageOfNew(route, '/providers', createDecision)
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
  pageOfKey(route, '/providers/:provider', {
    find: async ({ person, params }) => {
      const holder = await person.call(getProvider, { name: params.provider ?? '' })
      return { holder, path: providerPath(holder), credentials: holder.keys }
    },
    field: 'provider',
    schema: keySchema,
    revokes: revokeProviderKey,
  })
}

const keySchema = getProvider.reply.properties.keys.items
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
    frame: () => ({
      tabs: providerTabs(visit, 'providers'),
      create: linkToNew(visit, createProvider, '/providers'),
    }),
  })

async function findProvider(visit: Visit): Promise<FoundProvider> {
  const { person, params } = visit
  const [provider, directory] = await Promise.all([
    person.call(getProvider, { name: params.provider ?? '' }),
    directoryOf(visit),
  ])
  const asked = { providerId: provider.id, ...defined({ brandId: params.brand }), limit: 1_000 }
  const limits = person.mayCall(listWinLimits) ? await person.call(listWinLimits, asked).catch(notKnown) : undefined
  return { provider, directory, limits }
}

const grantsIn = ({ environment }: Visit, { grants }: Provider): readonly Grant[] =>
  grants.filter((grant) => grant.environment === environment)

async function showProvider(visit: Visit, found: FoundProvider, sent?: SentForm): Promise<FastifyReply> {
  const { display, address, person } = visit
  const { provider } = found
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
      [
        'rounds',
        () => (person.mayCall(listRounds) ? link(display.t('allRounds'), address(`/rounds?${rounds}`)) : nothing),
      ],
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
            grant: { kind: 'status', text: grant.status },
            maxWin: maxWinCell(found, grant),
            grantedAt: time(grant.grantedAt),
          }),
        })),
      },
      { title: 'keys', rows: keyRows(visit, keySchema, providerPath(provider), provider.keys) },
    ],
  })
}

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

function showGrant(visit: Visit, found: FoundGrant, sent?: SentForm): FastifyReply {
  const { provider, grant } = found
  const list = visit.address(providerPath(provider))
  return showCase(visit, {
    path: grantPath(found),
    title: `${provider.name} · ${grant.operatorName}`,
    about: provider.name,
    list,
    facts: factsOf(getProvider.reply.properties.grants.items, grant, [
      ['grant', (row) => ({ kind: 'status', text: row.status })],
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
