import { parse } from 'yaml'
import { metricNames, type Rule, readText, ruleTests } from './files.ts'

interface RuleGroup {
  readonly name: string
  readonly rules: readonly Rule[]
}

interface RuleTest {
  readonly interval: string
  readonly input_series: readonly { readonly series: string }[]
  readonly alert_rule_test: readonly { readonly alertname: string; readonly eval_time: string }[]
}

interface RuleTestFile {
  readonly rule_files: readonly string[]
  readonly evaluation_interval: string
  readonly group_eval_order?: readonly string[]
  readonly tests: readonly RuleTest[]
}

/** What promtool runs: files by their names, and those of them that are tests. */
export interface RuleTestRun {
  readonly files: Readonly<Record<string, unknown>>
  readonly tests: readonly string[]
}

/**
 * The tests of the rules as they are, each with the alerts that it names and what these read. Of a whole file promtool
 * evaluates every rule at every step of every test, which takes five times as long.
 */
export function testsOfNeededRules(): RuleTestRun {
  const files: Record<string, unknown> = {}
  const tests: string[] = []
  for (const file of ruleTests) {
    const given = read<RuleTestFile>(file)
    const groups = groupsOf(given)
    for (const [need, ofNeed] of Map.groupBy(given.tests, (test) => neededBy(test, groups).join(' '))) {
      const names = new Set(need.split(' '))
      const needed = groups
        .map((group) => ({ ...group, rules: group.rules.filter((rule) => names.has(nameOf(rule))) }))
        .filter(({ rules }) => rules.length > 0)
      const number = tests.length + 1
      const rulesFile = `rules-${number}.yaml`
      const testFile = `${number}-${file}`
      files[rulesFile] = { groups: needed }
      files[testFile] = {
        ...given,
        rule_files: [rulesFile],
        group_eval_order: needed.map(({ name }) => name),
        tests: ofNeed,
      }
      tests.push(testFile)
    }
  }
  return { files, tests }
}

/**
 * All rules of a file on the series of all of its tests together, at the first moment and a later one. promtool tells when
 * a rule cannot be evaluated there, such as one that finds several series where it wants one.
 */
export function testsThatRulesCanBeEvaluated(): RuleTestRun {
  const files: Record<string, unknown> = {}
  for (const file of ruleTests) {
    const { tests, ...given } = read<RuleTestFile>(file)
    for (const rulesFile of given.rule_files) files[rulesFile] = read(rulesFile)
    const series = new Map(tests.flatMap(({ input_series }) => input_series.map((one) => [one.series, one])))
    const later = '10m'
    // Nothing is expected, but promtool goes on until here.
    const promql_expr_test = [{ expr: 'vector(1)', eval_time: later, exp_samples: [{ labels: '{}', value: 1 }] }]
    const together = { interval: '1m', input_series: [...series.values()], promql_expr_test }
    files[file] = { ...given, evaluation_interval: later, tests: [together] }
  }
  return { files, tests: ruleTests }
}

const read = <T>(file: string): T => parse(readText(file)) as T

const groupsOf = ({ rule_files }: RuleTestFile): readonly RuleGroup[] =>
  rule_files.flatMap((file) => read<{ groups: readonly RuleGroup[] }>(file).groups)

const nameOf = ({ alert, record }: Rule): string => alert ?? record ?? ''

/** Names of the alerts of a test and of all that is recorded for them, sorted. */
function neededBy(test: RuleTest, groups: readonly RuleGroup[]): readonly string[] {
  const rules = groups.flatMap((group) => group.rules)
  const needed = new Set<string>()
  const add = (name: string) => {
    if (needed.has(name)) return
    const named = rules.filter((rule) => nameOf(rule) === name)
    if (named.length > 0) needed.add(name)
    for (const { expr } of named) for (const metric of metricNames(expr)) add(metric)
  }
  for (const { alertname } of test.alert_rule_test) add(alertname)
  return [...needed].sort()
}
