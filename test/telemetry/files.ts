import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parse } from 'yaml'

export const telemetryFolder = fileURLToPath(new URL('../../deploy/telemetry/', import.meta.url))
export const alertsGuide = fileURLToPath(new URL('../../docs/alerts.md', import.meta.url))

/** Where docs/alerts.md says what an alert means, as the end of a link. */
export const fragmentOf = (alert: string): string => alert.toLowerCase()

export const readText = (name: string): string => readFileSync(telemetryFolder + name, 'utf8')

export interface Rule {
  readonly record?: string
  readonly alert?: string
  readonly expr: string
  readonly for?: string
  readonly labels?: Readonly<Record<string, string>>
  readonly annotations?: Readonly<Record<string, string>>
}

/** What the services export themselves, and what the exporters of the things they run on do. */
export type RuleFile = 'alerts.yaml' | 'platform-alerts.yaml'
export const ruleFiles: readonly RuleFile[] = ['alerts.yaml', 'platform-alerts.yaml']

export function rules(...files: readonly RuleFile[]): readonly Rule[] {
  return (files.length === 0 ? ruleFiles : files).flatMap((file) => {
    const { groups } = parse(readText(file)) as { groups: { rules: Rule[] }[] }
    return groups.flatMap((group) => group.rules)
  })
}

export interface Alert extends Rule {
  readonly alert: string
}

export const alerts = (...files: readonly RuleFile[]): readonly Alert[] =>
  rules(...files).filter((rule): rule is Alert => rule.alert !== undefined)

/** An alert's name, and its cause where several rules have that name; of what is recorded its name. */
export const idOf = ({ alert, record, labels }: Rule): string =>
  labels?.cause === undefined ? (alert ?? record ?? '') : `${alert}/${labels.cause}`

export interface Panel {
  readonly type: string
  readonly title: string
  readonly description?: string
  readonly targets?: readonly { readonly refId: string; readonly expr: string }[]
}

export interface Dashboard {
  readonly panels: readonly Panel[]
  readonly templating: { readonly list: readonly { name: string }[] }
}

export const dashboard = (): Dashboard => JSON.parse(readText('dashboard.json')) as Dashboard

/** The queries of the panels, with Grafana's variables as it replaces them. */
export const dashboardQueries = (): readonly { panel: string; expr: string }[] =>
  dashboard().panels.flatMap((panel) =>
    (panel.targets ?? []).map(({ expr }) => ({
      panel: panel.title,
      expr: expr.replaceAll('$__rate_interval', '1m').replaceAll('$environment', '.*'),
    })),
  )

/** Names of metrics in a query; those with a colon are recorded by rules. */
export function metricNames(expr: string): ReadonlySet<string> {
  const bare = expr
    .replaceAll(/"(?:[^"\\]|\\.)*"/g, '')
    .replaceAll(/\{[^}]*\}/g, '')
    .replaceAll(/\b(?:by|without|on|ignoring|group_left|group_right)\s*\([^)]*\)/g, '')
  const words = bare.match(/[a-z_][a-z0-9_:]*(?!\s*\()(?![a-z0-9_:])/g) ?? []
  return new Set(words.filter((word) => word.includes('_') || word.includes(':') || word === 'up'))
}
