import { operations, type Reply } from '@backoffice/contracts'
import { factsOf, id, rowSchema, type Shown, text } from './cells.ts'
import { rowsOnPage } from './queue.ts'
import type { Pages } from './route.ts'

const { listOperators, getOperator } = operations.gateway

type Operator = Reply<typeof getOperator>

/** The operators, and their brand and keys of one environment. */
export const operatorPages: Pages = (route) => {
  route.get('/operators', async (visit) => {
    const { person, environment, query } = visit
    const after = query.after === undefined ? {} : { after: query.after }
    const { data, nextCursor } = await person.call(listOperators, { limit: rowsOnPage, ...after })
    const columns: readonly Shown<Operator>[] = [
      'name',
      'status',
      ['brand', ({ brands }) => text(brands.find((brand) => brand.environment === environment)?.name)],
      'rateLimitPerMinute',
      ['keys', ({ credentials }) => text(credentials.filter((key) => isActive(key, environment)).length)],
      'createdAt',
    ]
    return visit.show('queue', {
      title: 'operators',
      tabs: [],
      empty: 'none',
      rows: data.map((row) => ({
        href: visit.address(`/operators/${row.id}`),
        cells: factsOf(rowSchema(listOperators.reply), row, columns),
      })),
      more: nextCursor && visit.address(`/operators?after=${encodeURIComponent(nextCursor)}`),
      first: query.after === undefined ? undefined : visit.address('/operators'),
    })
  })

  route.get('/operators/:operator', async (visit) => {
    const { person, params, display, environment } = visit
    const operator = await person.call(getOperator, { name: params.operator ?? '' })
    const brand = operator.brands.find((candidate) => candidate.environment === environment)
    const shown: readonly Shown<Operator>[] = [
      'status',
      ['brand', () => text(brand?.name)],
      ['brandId', () => (brand === undefined ? text(null) : id(brand.id))],
      ['currency', () => text(brand?.currency)],
      ['timeZone', () => text(brand?.timeZone)],
      'rateLimitPerMinute',
      'allowedAddresses',
      'createdAt',
      'id',
    ]
    const keys: readonly Shown<Operator['credentials'][number]>[] = [
      ['key', ({ key }) => text(`…${key.slice(-4)}`)],
      'createdAt',
      'revokedAt',
    ]
    return visit.show('case', {
      title: operator.name,
      about: display.t('operators'),
      list: visit.address('/operators'),
      next: undefined,
      facts: factsOf(getOperator.reply, operator, shown),
      remark: undefined,
      people: [],
      decisions: undefined,
      lost: undefined,
      history: [],
      sections: [
        {
          title: 'keys',
          rows: operator.credentials
            .filter((key) => key.environment === environment)
            .map((row) => ({ cells: factsOf(getOperator.reply.properties.credentials.items, row, keys) })),
        },
      ],
    })
  })
}

const isActive = (key: Operator['credentials'][number], environment: string): boolean =>
  key.environment === environment && key.revokedAt === null
