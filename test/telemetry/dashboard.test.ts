import t from 'tap'
import { dashboard } from './files.ts'

// Its places, numbers and data source follow from deploy/telemetry/dashboard.ts, which writes it.
const { panels, templating } = dashboard()
const drawn = panels.filter(({ type }) => type !== 'row')

t.test('every panel of the dashboard asks something and says what it shows', async (t) => {
  t.ok(drawn.length > 40)
  for (const { title, description, targets = [] } of drawn) {
    t.ok(description, title)
    t.ok(targets.length > 0, title)
    t.equal(new Set(targets.map(({ refId }) => refId)).size, targets.length, title)
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
