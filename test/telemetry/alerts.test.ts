// proof: promtool tries every alert. They change with deploy/telemetry alone.

import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { errorCatalogue } from '@backoffice/contracts'
import { skipWithout } from '@backoffice/test-kit'
import t from 'tap'
import { parse, stringify } from 'yaml'
import {
  alertCases,
  alerts,
  alertsGuide,
  dashboardQueries,
  fragmentOf,
  idOf,
  metricNames,
  readText,
  ruleFiles,
  rules,
  telemetryFolder,
  testsOfNeededRules,
} from './rules.ts'

const run = promisify(execFile)
const promtool = (...args: string[]) => run('promtool', args, { cwd: telemetryFolder })
/** Each test has a database of its own in memory, which is let go less often. */
const promtoolEnvironment = { ...process.env, GOGC: '400' }
const skip = skipWithout('promtool', 'prometheus')

t.test('the rules and the scrape configuration are valid', { skip }, async (t) => {
  await t.resolves(promtool('check', 'rules', '--lint=all', '--lint-fatal', ...ruleFiles))
  // Debian's Prometheus is built without the discovery of pods; everything else in the file is checked.
  const config = parse(readText('prometheus.yaml'))
  for (const scrape of config.scrape_configs) {
    t.same(scrape.kubernetes_sd_configs, [{ role: 'pod', namespaces: { names: ['backoffice'] } }])
    delete scrape.kubernetes_sd_configs
    scrape.static_configs = [{ targets: ['127.0.0.1:9464'] }]
  }
  t.same(config.rule_files, ruleFiles)
  config.rule_files = ruleFiles.map((file) => `${telemetryFolder}${file}`)
  const file = join(t.testdir({ 'prometheus.yaml': stringify(config) }), 'prometheus.yaml')
  await t.resolves(promtool('check', 'config', '--lint=all', '--lint-fatal', file))
})

t.test('each alert fires when it must, with the text that a person reads, and else is silent', { skip }, async (t) => {
  const { files, tests } = testsOfNeededRules()
  const texts = Object.entries(files).map(([name, content]) => [name, stringify(content)])
  const options = { cwd: t.testdir(Object.fromEntries(texts)), env: promtoolEnvironment }
  await run('promtool', ['test', 'rules', ...tests], options).catch(({ stdout, stderr }) =>
    t.fail(`${stdout}${stderr}`),
  )
})

t.test('each alert is tried firing and silent', async (t) => {
  const cases = alertCases()
  const tried = (fires: boolean) =>
    [...new Set(cases.filter((entry) => entry.fires === fires).map(({ id }) => id))].sort()
  const ids = alerts().map(idOf).sort()
  t.equal(new Set(ids).size, ids.length, 'rules of one name have different causes')
  t.same(tried(true), ids)
  // It fires all the time, so that somebody notices when it stops.
  t.same([...tried(false), 'Watchdog'].sort(), ids)
})

t.test('each alert says how urgent it is, what is wrong, and where to read what to do', async (t) => {
  const guide = readFileSync(alertsGuide, 'utf8')
  const headings = [...guide.matchAll(/^## (.+)$/gm)].map((match) => match[1] ?? '')
  for (const { alert, labels, annotations } of alerts()) {
    t.match(labels?.severity, alert === 'Watchdog' ? 'none' : /^(page|ticket)$/, alert)
    t.ok(annotations?.summary, alert)
    t.ok(annotations?.description, alert)
    // A pager opens the link, so it is a whole address. The overlay of Kubernetes puts its own in front of the heading.
    t.equal(annotations?.runbook_url, `https://docs.backoffice.example/alerts.md#${fragmentOf(alert)}`)
  }
  const names = new Set(alerts().map(({ alert }) => alert))
  t.same([...headings].sort(), [...names].sort(), 'a section for each alert, and none for another')
  const sections = new Map(guide.split(/^## /m).map((section) => [section.split('\n', 1)[0], section]))
  for (const { alert, labels } of alerts())
    if (labels?.cause !== undefined)
      t.match(sections.get(alert), new RegExp(`^- [^:]*\`${labels.cause}\``, 'm'), `${alert}: ${labels.cause}`)
})

t.test('what the sandbox alone does wakes nobody', async (t) => {
  const pages = alerts().filter(({ labels }) => labels?.severity === 'page')
  for (const { alert, expr } of pages) t.notMatch(expr, /environment="sandbox"/, alert)
  const ofTheSandbox = alerts().filter(({ alert }) => alert.startsWith('Sandbox'))
  t.ok(ofTheSandbox.length > 4)
  for (const { alert, labels } of ofTheSandbox) t.equal(labels?.severity, 'ticket', alert)
})

t.test('codes in rules and queries are those of the catalogue, and of 5xx all that are ours', async (t) => {
  const failures = Object.entries(errorCatalogue).flatMap(([code, { status }]) => (status >= 500 ? [code] : []))
  // Somebody else's, or a decision: no page, and no part of the objective. One panel shows it beside ours.
  const isOurs = (code: string) => !['PROVIDER_UNAVAILABLE', 'WIN_HELD'].includes(code)
  for (const { expr } of rules()) t.notMatch(expr, /PROVIDER_UNAVAILABLE/)
  const expressions = [...rules(), ...dashboardQueries()].map(({ expr }) => expr)
  const matchers = expressions.flatMap((expr) => [...expr.matchAll(/code(=~|!=|=)"([^"]+)"/g)])
  t.ok(matchers.length > 10)
  for (const [whole, , value = ''] of matchers) {
    for (const code of value.split('|')) t.ok(code === 'ok' || code in errorCatalogue, `${whole}: ${code}`)
    if (value.includes('INTERNAL_ERROR'))
      t.same(value.split('|').filter(isOurs).sort(), failures.filter(isOurs).sort(), whole)
  }
  t.ok(matchers.some(([, , value = '']) => value.includes('INTERNAL_ERROR')))
})

t.test('what rules and panels read from rules is recorded, and everything recorded is read', async (t) => {
  const recorded = rules().flatMap(({ record }) => record ?? [])
  const read = new Set([...rules(), ...dashboardQueries()].flatMap(({ expr }) => [...metricNames(expr)]))
  t.same([...read].filter((name) => name.includes(':')).sort(), [...recorded].sort())
})
