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

interface RuleGroup {
  readonly name: string
  readonly rules: readonly Rule[]
}

/** What fires at a moment: for each its own labels, and the value as a person reads it. */
type Expected = Readonly<Record<string, readonly Readonly<Record<string, string>>[]>>

/** A case of deploy/telemetry/cases.yaml. All other keys are alerts. */
interface Case {
  readonly when: string
  readonly every?: string
  readonly series: Readonly<Record<string, string>>
}

// All as text: `0x20` is twenty samples and no number.
const cases = parse(readText('cases.yaml'), { schema: 'failsafe' }) as readonly Case[]
const groups = ruleFiles.flatMap((file) => (parse(readText(file)) as { groups: readonly RuleGroup[] }).groups)
const known = new Map(alerts().map((rule) => [idOf(rule), rule]))

function expectedIn({ when, every, series, ...expected }: Case): readonly (readonly [Alert, Expected])[] {
  return Object.entries(expected as Readonly<Record<string, Expected>>).map(([id, moments]) => {
    const rule = known.get(id)
    if (rule === undefined) throw new Error(`${when}: there is no alert ${id}`)
    return [rule, moments]
  })
}

/** The alerts that the cases look at, and whether they fire there. */
export const alertCases = (): readonly { readonly id: string; readonly fires: boolean }[] =>
  cases
    .flatMap(expectedIn)
    .flatMap(([rule, moments]) =>
      Object.values(moments).map((firing) => ({ id: idOf(rule), fires: firing.length > 0 })),
    )

/**
 * The cases as promtool reads them, each with the alert that it names and what that reads. Of a whole file promtool
 * evaluates every rule at every step of every test, which takes five times as long.
 * @returns files by their names, and those of them that are tests
 */
export function testsOfNeededRules() {
  const files: Record<string, unknown> = {}
  const tests: string[] = []
  // One test for each alert of a case: promtool knows the causes of one name by their labels alone.
  const each = cases.flatMap((one) => expectedIn(one).map(([rule, moments]) => ({ one, rule, moments })))
  for (const [need, ofNeed] of Map.groupBy(each, ({ one, rule }) => JSON.stringify([one.every, neededBy(rule)]))) {
    const [every, ids] = JSON.parse(need) as [string | null, readonly string[]]
    const needed = groups
      .map((group) => ({ ...group, rules: group.rules.filter((rule) => ids.includes(idOf(rule))) }))
      .filter(({ rules }) => rules.length > 0)
    const number = tests.length + 1
    files[`rules-${number}.yaml`] = { groups: needed }
    files[`${number}.test.yaml`] = {
      rule_files: [`rules-${number}.yaml`],
      evaluation_interval: every ?? '1m',
      group_eval_order: needed.map(({ name }) => name),
      tests: ofNeed.map(({ one, rule, moments }) => ({
        name: one.when,
        interval: '1m',
        input_series: seriesOf(one),
        alert_rule_test: Object.entries(moments).map(([eval_time, firing]) => ({
          alertname: rule.alert,
          eval_time,
          exp_alerts: firing.map((each) => asItIsRead(rule, each)),
        })),
      })),
    }
    tests.push(`${number}.test.yaml`)
  }
  return { files, tests }
}

const seriesOf = ({ series }: Case) => Object.entries(series).map(([name, values]) => ({ series: name, values }))

/** The labels and the words of an alert that fires. */
function asItIsRead({ labels, annotations = {} }: Alert, { value, ...own }: Readonly<Record<string, string>>) {
  const words = (template: string) =>
    template
      .replaceAll(/\{\{ \$labels\.(\w+) \}\}/g, (_, label) => own[label] ?? '')
      .replaceAll(/\{\{ \$value.*?\}\}/g, value ?? '')
  const exp_annotations = Object.fromEntries(Object.entries(annotations).map(([name, text]) => [name, words(text)]))
  return { exp_labels: { ...labels, ...own }, exp_annotations }
}

/** An alert and all that is recorded for it, sorted. */
function neededBy(alert: Alert): readonly string[] {
  const recorded = groups.flatMap((group) => group.rules).filter(({ record }) => record !== undefined)
  const needed = new Set<string>()
  const add = (rule: Rule) => {
    if (needed.has(idOf(rule))) return
    needed.add(idOf(rule))
    const metrics = metricNames(rule.expr)
    for (const other of recorded) if (metrics.has(idOf(other))) add(other)
  }
  add(alert)
  return [...needed].sort()
}
