import {
  defined,
  errorCatalogue,
  type Input,
  operations,
  publicErrorCodes,
  Rejection,
  type Reply,
} from '@backoffice/contracts'
import type { FastifyReply } from 'fastify'
import { factsOf, folded, id, link, nothing, rowSchema, rowsOf, text } from '../pieces/cells.ts'
import { choice, filterOf, operatorGiven, valuesOf } from '../pieces/filters.ts'
import { beforeOf, rowsOnPage, type Section, showCase, showList } from '../pieces/queue.ts'
import type { Pages, Visit } from '../pieces/visit.ts'

const { findIdempotencyKey, listRefusedRequests } = operations.gateway

type Refused = Reply<typeof listRefusedRequests>['data'][number]
type KeyUse = Reply<typeof findIdempotencyKey>['data'][number]
type Filter = Omit<Input<typeof listRefusedRequests>, 'limit' | 'before'>

/** The page of what was refused or failed, by the X-Request-Id that its caller has. */
export const requestPath = (requestId: string): string => `/requests/${requestId}`

/** What operators were refused. Nobody decides anything here. */
export const requestPages: Pages = (route) => {
  route.get('/requests', showRefused)
  route.get('/requests/:requestId', async (visit) => {
    const requestId = visit.params.requestId ?? ''
    const { data } = await visit.person.call(listRefusedRequests, { requestId, limit: 1 })
    const [request] = data
    if (request === undefined) throw new Rejection('REQUEST_NOT_FOUND')
    return showRequest(visit, request)
  })
}

async function showRefused(visit: Visit): Promise<FastifyReply> {
  const { person, environment, query, address, display } = visit
  const path = '/requests'
  const { field: operatorField, operator, isUnknown } = await operatorGiven(visit)
  const { code } = valuesOf(visit, ['code'])
  const filter: Filter = { environment, ...defined({ operatorId: operator?.id, code }) }
  const page = { ...filter, limit: rowsOnPage, ...beforeOf(query.after) }
  const none = { data: [], nextCursor: null, notKeptToday: 0 }
  const { data, nextCursor, notKeptToday } = isUnknown ? none : await person.call(listRefusedRequests, page)
  return showList(visit, {
    title: 'refusedRequests',
    path,
    filter: filterOf(visit, { list: 'requests', path, fields: [operatorField, choice('code', publicErrorCodes)] }),
    remark: notKeptToday === 0 ? display.t('refusedKept') : display.t('refusedNotKept', { count: notKeptToday }),
    rows: rowsOf(
      listRefusedRequests.reply,
      data,
      [
        'code',
        ['operation', ({ operation, method, path }) => text(operation ?? `${method} ${path}`)],
        ['operator', ({ operatorName, operatorId }) => text(operatorName ?? operatorId)],
        ['httpStatus', ({ status }) => text(status)],
        'at',
        ['requestId', ({ requestId }) => id(requestId)],
      ],
      ({ requestId }) => address(requestPath(requestId)),
    ),
    nextCursor,
  })
}

function showRequest(visit: Visit, request: Refused): FastifyReply {
  const { display, address } = visit
  const { operatorId, operatorName, method, path, canonicalString } = request
  const message = errorCatalogue[request.code as keyof typeof errorCatalogue]?.message
  return showCase(visit, {
    path: requestPath(request.requestId),
    title: request.code,
    about: display.t('refusedRequests'),
    list: address('/requests'),
    verdict: {
      kind: 'refused',
      text: [
        message,
        ...(request.outcomeKnown ? [] : [display.t('outcomeNotKnown')]),
        ...(request.operatorId !== null && !request.verified ? [display.t('senderNotProven')] : []),
      ].join(' '),
    },
    facts: factsOf(rowSchema(listRefusedRequests.reply), request, [
      [
        'operator',
        () => (operatorId === null ? nothing : link(operatorName ?? operatorId, address(`/operators/${operatorId}`))),
      ],
      'environment',
      'at',
      ['request', () => text(`${method} ${path}`.trim())],
      'operation',
      ['httpStatus', ({ status }) => text(status)],
      'code',
      'fields',
      'hint',
      ['canonicalString', () => (canonicalString === null ? nothing : folded(canonicalString))],
      'key',
      ['durationMs', ({ durationMs }) => text(`${durationMs} ms`)],
      ['requestId', ({ requestId }) => id(requestId)],
    ]),
  })
}

/** What an Idempotency-Key was used for in the last 24 hours. */
export async function keyUses({ person }: Visit, key: string): Promise<readonly KeyUse[]> {
  return key === '' ? [] : (await person.call(findIdempotencyKey, { key })).data
}

/** @param placeOf the page of a record */
export const keyUseSection = (
  { address, environment }: Visit,
  uses: readonly KeyUse[],
  placeOf: (id: string) => string | undefined,
): Section & { readonly title: 'idempotencyKeys' } => ({
  title: 'idempotencyKeys',
  rows: rowsOf(
    findIdempotencyKey.reply,
    uses.filter((use) => use.environment === environment),
    [
      'operation',
      ['operator', ({ operatorName }) => text(operatorName)],
      ['httpStatus', ({ status }) => text(status)],
      'code',
      ['requestId', ({ requestId }) => (requestId === null ? nothing : id(requestId))],
      'expiresAt',
    ],
    ({ recordId, requestId, status }) => {
      const place = recordId === null ? undefined : placeOf(recordId)
      return address(place ?? (requestId !== null && (status ?? 0) >= 400 ? requestPath(requestId) : '/requests'))
    },
  ),
})
