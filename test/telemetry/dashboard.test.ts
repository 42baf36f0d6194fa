import t from 'tap'
import { dashboard } from './files.ts'

const { panels, schemaVersion, templating } = dashboard()
const drawn = panels.filter(({ type }) => type !== 'row')

t.test('the dashboard has a row for each part, and every panel asks something and says what it shows', async (t) => {
  t.ok(schemaVersion >= 39)
  t.same(
    panels.filter(({ type }) => type === 'row').map(({ title }) => title),
    [
      'Traffic and errors',
      'Latency',
      'Money',
      'Idempotency and rate limits',
      'Outbox and events',
      'Webhooks',
      'Ledger',
      'Game provider',
      'The team',
      'Runtime',
      'Connections to PostgreSQL',
      'PostgreSQL',
      'JetStream',
    ],
  )
  for (const { title, description, targets = [] } of drawn) {
    t.ok(description, title)
    t.ok(targets.length > 0, title)
    t.equal(new Set(targets.map(({ refId }) => refId)).size, targets.length, title)
  }
  const ids = panels.map(({ id }) => id)
  t.equal(new Set(ids).size, ids.length)
})

t.test('every query asks the data source that the reader chose', async (t) => {
  t.ok(templating.list.some(({ name, type }) => name === 'datasource' && type === 'datasource'))
  // biome-ignore lint/suspicious/noTemplateCurlyInString: Grafana replaces it
  const chosen = '${datasource}'
  for (const { title, datasource, targets = [] } of drawn) {
    for (const source of [datasource, ...targets.map((target) => target.datasource)])
      t.equal(source?.uid, chosen, title)
  }
})

t.test('every variable in a query is declared, or Grafana’s own', async (t) => {
  const declared = new Set(templating.list.map(({ name }) => name))
  for (const { title, targets = [] } of drawn) {
    for (const { expr } of targets) {
      for (const [, name = ''] of expr.matchAll(/\$\{?(\w+)/g))
        t.ok(declared.has(name) || name === '__rate_interval', `${title}: ${name}`)
    }
  }
})

t.test('panels stay inside the grid and do not overlap', async (t) => {
  const overlaps = panels.flatMap(({ title, gridPos: place }, index) =>
    panels
      .slice(index + 1)
      .filter(({ gridPos: other }) => {
        const beside = place.x + place.w <= other.x || other.x + other.w <= place.x
        return !beside && place.y < other.y + other.h && other.y < place.y + place.h
      })
      .map((other) => `${title} and ${other.title}`),
  )
  t.same(overlaps, [])
  t.ok(panels.every(({ gridPos }) => gridPos.x >= 0 && gridPos.x + gridPos.w <= 24))
})
