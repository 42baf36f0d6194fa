import {
  errorCatalogue,
  operations,
  providerApiPrefix,
  providerErrors,
  Rejection,
  type Reply,
} from '@backoffice/contracts'
import { lists } from '@backoffice/team-rows'
import type { FastifyReply } from 'fastify'
import { factsOf, folded, id, link, nothing, rowSchema, text } from '../pieces/cells.ts'
import { listRows, showListed } from '../pieces/list-page.ts'
import { type Section, showCase } from '../pieces/queue.ts'
import type { Pages, Visit } from '../pieces/visit.ts'
import { playsPath } from './rounds.ts'

const { findIdempotencyKey, listRefusedRequests } = operations.gateway

type Refused = Reply<typeof listRefusedRequests>['data'][number]
type KeyUse = Reply<typeof findIdempotencyKey>['data'][number]

/** The page of what was refused or failed, by the X-Request-Id that its caller has. */
export const requestPath = (requestId: string): string => `/requests/${requestId}`

/** What operators and providers of games were refused. Nobody decides anything here. */
export const requestPages: Pages = (route) => {
  route.get('/requests', (visit) =>
    showListed(visit, {
      list: lists.refusedRequests,
      title: 'refusedRequests',
      path: '/requests',
      frame: ({ display }, _asked, { notKeptToday: count = 0 }) => ({
        remark: count === 0 ? display.t('refusedKept') : display.t('refusedNotKept', { count }),
      }),
    }),
  )
  route.get('/requests/:requestId', async (visit) => {
    const requestId = visit.params.requestId ?? ''
    const [request] = (await visit.person.call(listRefusedRequests, { requestId, limit: 1 })).data
    if (request !== undefined) return showRequest(visit, request)
    // What was refused of plays stands among those.
    const plays = await playsPath(visit, requestId)
    if (plays === undefined) throw new Rejection('REQUEST_NOT_FOUND')
    return visit.reply.redirect(visit.address(plays), 303)
  })
}

function showRequest(visit: Visit, request: Refused): FastifyReply {
  const { display, address } = visit
  const { operatorId, operatorName, providerId, providerName, method, path, canonicalString } = request
  const words: Readonly<Record<string, { readonly message: string }>> = path.startsWith(providerApiPrefix)
    ? providerErrors
    : errorCatalogue
  const message = words[request.code]?.message
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
        ...((operatorId ?? providerId ?? null) !== null && !request.verified ? [display.t('senderNotProven')] : []),
      ].join(' '),
    },
    facts: factsOf(rowSchema(listRefusedRequests.reply), request, [
      [
        'operator',
        () => (operatorId === null ? nothing : link(operatorName ?? operatorId, address(`/operators/${operatorId}`))),
      ],
      [
        'provider',
        () => (providerId ? link(providerName ?? providerId, address(`/providers/${providerId}`)) : nothing),
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
  visit: Visit,
  uses: readonly KeyUse[],
  placeOf: (id: string) => string | undefined,
): Section & { readonly title: 'idempotencyKeys' } => ({
  title: 'idempotencyKeys',
  rows: listRows(
    visit,
    {
      ...lists.idempotencyKeys,
      opens: ({ recordId, requestId, status }) =>
        (recordId === null ? undefined : placeOf(recordId)) ??
        (requestId !== null && (status ?? 0) >= 400 ? requestPath(requestId) : '/requests'),
    },
    uses.filter((use) => use.environment === visit.environment),
  ),
})
