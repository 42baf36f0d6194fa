// The dashboard that Grafana reads, from panels.yaml. `npm run generate` writes dashboard.json.
import { readFileSync } from 'node:fs'
import { operations, runtimeOperationIds } from '@backoffice/contracts'
import { parse } from 'yaml'

interface Panel {
  readonly title: string
  readonly says: string
  readonly unit: string
  readonly asks: Readonly<Record<string, string>>
  readonly as?: 'timeseries' | 'stat' | 'heatmap'
  readonly width?: number
  readonly bounds?: Readonly<Record<string, number | null>>
  readonly min?: number | null
  readonly max?: number
  readonly isStacked?: boolean
}

/** A refused credit moves nothing, and a restore that is recorded neither. */
const postNothing = new Set<string>(['openAccount', 'refuseCredit', 'recordRestore', ...runtimeOperationIds])
const postings = Object.values(operations.wallet)
  .flatMap(({ kind, id }) => (kind === 'direct' && !postNothing.has(id) ? [id] : []))
  .join('|')

const rows = parse(readFileSync(new URL('panels.yaml', import.meta.url), 'utf8')) as Record<string, readonly Panel[]>

const datasource = { type: 'prometheus', uid: '$' + '{datasource}' }
const height = 8
const width = 24

const series = { drawStyle: 'line', lineWidth: 1, fillOpacity: 10, showPoints: 'never' }
const stacking = { fillOpacity: 30, stacking: { mode: 'normal', group: 'A' } }
const options = {
  timeseries: { legend: { displayMode: 'list', placement: 'bottom' }, tooltip: { mode: 'multi', sort: 'desc' } },
  stat: {
    reduceOptions: { calcs: ['lastNotNull'], fields: '', values: false },
    colorMode: 'background',
    graphMode: 'area',
  },
  heatmap: { calculate: false, yAxis: { unit: 's' }, color: { mode: 'scheme', scheme: 'Spectral' } },
}

/** Panels in rows of 24, from left to right. */
function placed(): readonly object[] {
  let y = 0
  let id = 0
  return Object.entries(rows).flatMap(([title, panels]) => {
    const row = {
      id: ++id,
      type: 'row',
      title,
      collapsed: false,
      gridPos: { h: 1, w: width, x: 0, y: y++ },
      panels: [],
    }
    let x = 0
    const drawn = panels.map((panel) => {
      const { width: w = 8 } = panel
      if (x + w > width) {
        x = 0
        y += height
      }
      x += w
      return drawnAt(panel, ++id, { h: height, w, x: x - w, y })
    })
    y += height
    return [row, ...drawn]
  })
}

function drawnAt({ title, says, as = 'timeseries', asks, ...panel }: Panel, id: number, gridPos: object): object {
  const targets = Object.entries(asks).map(([legendFormat, expr], index) => ({
    refId: 'ABCDEF'[index],
    datasource,
    expr: expr.replace('$postings', postings),
    legendFormat,
    ...(as === 'heatmap' ? { format: 'heatmap' } : {}),
  }))
  const fieldConfig = { defaults: defaultsOf(as, panel), overrides: [] }
  return { id, type: as, title, description: says, datasource, gridPos, fieldConfig, options: options[as], targets }
}

function defaultsOf(as: Panel['as'], { unit, min = 0, max, bounds, isStacked }: Partial<Panel>): object {
  const steps = Object.entries(bounds ?? {}).map(([color, value]) => ({ color, value }))
  const hasSteps = steps.length > 0
  const custom = {
    ...series,
    ...(isStacked ? stacking : {}),
    ...(hasSteps ? { thresholdsStyle: { mode: 'line' } } : {}),
  }
  return {
    ...{ unit, min: min ?? undefined, max },
    ...(hasSteps ? { thresholds: { mode: 'absolute', steps } } : {}),
    ...(as === 'timeseries' ? { custom } : {}),
  }
}

const environments = 'label_values(backoffice_request_duration_seconds_count, environment)'
const variables = [
  {
    name: 'datasource',
    label: 'Prometheus',
    type: 'datasource',
    query: 'prometheus',
    current: {},
    hide: 0,
    refresh: 1,
  },
  {
    ...{ name: 'environment', label: 'Environment', type: 'query', datasource },
    ...{ query: { query: environments, refId: 'environment' }, definition: environments },
    ...{ refresh: 2, multi: true, includeAll: true, allValue: '.*', current: { text: ['All'], value: ['$__all'] } },
    ...{ sort: 1, hide: 0 },
  },
]

export function renderDashboard(): string {
  const dashboard = {
    uid: 'backoffice',
    title: 'Operator back office',
    description:
      'Requests, money, events and processes of the operator back office. What each alert means: docs/alerts.md.',
    tags: ['backoffice'],
    ...{ schemaVersion: 39, version: 1, editable: true, graphTooltip: 1 },
    ...{ refresh: '30s', time: { from: 'now-3h', to: 'now' }, timezone: 'browser' },
    annotations: { list: [] },
    templating: { list: variables },
    links: [],
    panels: placed(),
  }
  return `${JSON.stringify(dashboard)}\n`
}
