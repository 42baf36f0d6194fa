import { operations, pendingCountedMax, type Reply, type WebhookEndpoint } from '@backoffice/contracts'
import { lists } from '@backoffice/team-rows'
import { arrivalCells } from '../pieces/arrivals.ts'
import { ago, type Cell, lines, link, nothing, type Row, status, text } from '../pieces/cells.ts'
import { type Cells, listRows, showListed } from '../pieces/list-page.ts'
import { operatorNames } from '../pieces/listed.ts'
import { rowsOnPage } from '../pieces/queue.ts'
import type { Pages, Visit } from '../pieces/visit.ts'
import { tabsOf } from './deliveries.ts'

const { listEndpoints } = operations.webhooks

type Endpoint = Reply<typeof listEndpoints>['data'][number]

/** Where the operators' events go, and whether they arrive. */
export const endpointPages: Pages = (route) => {
  route.get('/endpoints', (visit) =>
    showListed(visit, {
      list: lists.endpoints,
      title: 'endpoints',
      path: '/endpoints',
      cells: endpointCells,
      frame: () => ({ tabs: tabsOf(visit, 'endpoints') }),
    }),
  )
}

/** As many as the start page shows; the list has all of them. */
const shownMax = 5

/** The endpoints that fail, for the start page. Undefined where this person may not know. */
export async function failingEndpoints(visit: Visit) {
  const { person, environment } = visit
  if (!person.mayCall(listEndpoints)) return undefined
  const { data, nextCursor } = await person.call(listEndpoints, { environment, failing: true, limit: rowsOnPage })
  return {
    count: nextCursor === null ? String(data.length) : `${data.length}+`,
    /** Since when the first of them fails. Null: those that are left recover. */
    since: data[0]?.breaker.failingSince ?? null,
    rows: await endpointRows(visit, data.slice(0, shownMax)),
  }
}

const endpointRows = async (visit: Visit, endpoints: readonly Endpoint[]): Promise<readonly Row[]> =>
  listRows(visit, lists.endpoints, endpoints, await endpointCells(visit, endpoints))

async function endpointCells(visit: Visit, endpoints: readonly Endpoint[]): Promise<Cells<Endpoint>> {
  const operatorIds = endpoints.map(({ operatorId }) => operatorId)
  const [ownerOf, arrivals] = await Promise.all([operatorNames(visit), arrivalCells(visit, operatorIds)])
  return {
    operator: ({ operatorId, url }) => lines(text(ownerOf(operatorId)), text(url)),
    health: (row) => lines(status(healthOf(row)), arrivals.get(row.operatorId) ?? nothing, text(row.disabledReason)),
    failingSince: ({ breaker }) => agoOf(breaker.failingSince),
    latestFault: (row) => faultOf(visit, row),
    retryAt: (row) => heldUntil(visit, row),
    pending: (row) => lines(pendingOf(row), deliveriesOf(visit, ownerOf(row.operatorId))),
    oldestPendingAt: ({ oldestPendingAt }) => agoOf(oldestPendingAt),
  }
}

const pendingOf = ({ pending }: Pick<Endpoint, 'pending'>): Cell =>
  text(pending < pendingCountedMax ? pending : `${pending}+`)

/** Why the latest attempt failed, and when. */
export const faultOf = ({ display }: Visit, { lastFault }: Pick<Endpoint, 'lastFault'>): Cell =>
  lastFault == null ? nothing : lines(text(display.sentence(lastFault.error)), ago(lastFault.at))

/** Once its time has come, a try waits only for something to send. */
export function heldUntil(
  { display, now }: Visit,
  { enabled, breaker: { retryAt } }: Pick<Endpoint, 'enabled' | 'breaker'>,
) {
  if (!enabled || retryAt === null || Date.parse(retryAt) <= now.getTime()) return nothing
  return text(display.t('heldUntil', { time: display.time(retryAt) }))
}

/** Leads to what has not arrived there. */
export const deliveriesOf = ({ display, address }: Visit, operator: string): Cell =>
  link(display.t('deliveries'), address(`/deliveries?${new URLSearchParams({ operator })}`))

export const agoOf = (at: string | null): Cell => (at === null ? nothing : ago(at))

/** Whether webhooks arrive, as a value of the catalogue of words. */
export const healthOf = ({ url, enabled, breaker }: Pick<WebhookEndpoint, 'url' | 'enabled' | 'breaker'>): string => {
  if (url === null) return 'noUrl'
  if (!enabled) return 'disabled'
  return { closed: 'working', open: 'failing', recovering: 'recovering' }[breaker.state]
}
