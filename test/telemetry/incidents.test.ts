// proof: a minute of promtool, and a real Alertmanager.

import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { freePort } from '@backoffice/local-stack'
import { eventually, skipWithout, startProcess, temporaryFolder } from '@backoffice/test-kit'
import t, { type Test } from 'tap'
import { parse, stringify } from 'yaml'
import { alerts, readText, ruleFiles, telemetryFolder } from './rules.ts'

type Labels = Readonly<Record<string, string>>

interface Incident {
  readonly name: string
  readonly series: Readonly<Record<string, string>>
  readonly pages: readonly string[]
}

interface InhibitRule {
  readonly source_matchers: readonly string[]
  readonly target_matchers: readonly string[]
  readonly equal?: readonly string[]
}

interface AlertmanagerFile {
  readonly route: { readonly routes: readonly { readonly receiver: string }[] }
  readonly inhibit_rules: readonly InhibitRule[]
  readonly receivers: readonly { readonly name: string }[]
}

const run = promisify(execFile)
const { healthy, incidents } = parse(readText('incidents.yaml')) as {
  readonly healthy: Readonly<Record<string, string>>
  readonly incidents: readonly Incident[]
}
const alertmanager = parse(readText('alertmanager.yaml')) as AlertmanagerFile
const skip = skipWithout('promtool', 'prometheus') || skipWithout('amtool', 'prometheus-alertmanager')
const lastMinute = 190

t.test('the configuration of Alertmanager is valid', { skip }, (t) =>
  t.resolves(run('amtool', ['check-config', `${telemetryFolder}alertmanager.yaml`])),
)

/** What a matcher is about: `alertname` or `cause`, and the names that it takes. */
const firstMatch = ([first = '']: readonly string[]) => {
  const [, label = '', pattern = ''] = /^(alertname|cause)=~?"(.+)"$/.exec(first) ?? []
  return {
    label,
    pattern: new RegExp(`^(?:${pattern})$`),
    names: pattern.split('|').filter((part) => /^[\w-]+$/.test(part)),
  }
}

t.test('only what wakes somebody silences what would, and every rule is about alerts that there are', async (t) => {
  const named = alerts().map(({ alert: alertname, labels }) => ({ alertname, ...labels }) as Labels)
  const causes = named.flatMap(({ cause }) => cause ?? [])
  t.equal(new Set(causes).size, causes.length, 'a cause is of one rule')
  const matched = (matchers: readonly string[]) => {
    const { label, pattern } = firstMatch(matchers)
    return named.filter((labels) => pattern.test(labels[label] ?? ''))
  }
  for (const { source_matchers, target_matchers } of alertmanager.inhibit_rules) {
    const [sources, targets] = [matched(source_matchers), matched(target_matchers)]
    t.ok(sources.length > 0 && targets.length > 0, String(source_matchers))
    if (targets.some(({ severity }) => severity === 'page'))
      for (const { severity, ...source } of sources)
        t.equal(severity, 'page', `${JSON.stringify(source)} silences a page`)
    for (const { label, names } of [source_matchers, target_matchers].map(firstMatch))
      for (const name of names)
        t.ok(
          named.some((labels) => labels[label] === name),
          `there is ${label} ${name}`,
        )
  }
})

t.test('an incident rings at most twice, and what others must mend, or waits, not at all', { skip }, async (t) => {
  t.ok(incidents.length >= 10)
  const recordings: (readonly (readonly Labels[])[])[] = []
  for (const incident of incidents) recordings.push(await record(t, incident))
  const rang = await pagesOf(t, recordings)
  for (const [index, { name, pages }] of incidents.entries()) {
    t.ok(pages.length <= 2, name)
    t.same(rang[index], pages, name)
  }
})

/** What fires at each minute of an incident. promtool names it, because nothing is expected to. */
async function record(t: Test, { series }: Incident): Promise<readonly (readonly Labels[])[]> {
  const all: Record<string, string> = { ...healthy, ...series }
  for (const [metric, values] of Object.entries(all)) {
    // What takes less than a second is counted in that bucket too.
    const bucket = metric.replace(/^(backoffice_request_duration_seconds_)count\{(.+)\}$/, '$1bucket{$2, le="1"}')
    if (bucket !== metric) all[bucket] ??= values
  }
  const test = {
    rule_files: ruleFiles.map((file) => `${telemetryFolder}${file}`),
    evaluation_interval: '1m',
    group_eval_order: ruleFiles.flatMap((file) =>
      parse(readText(file)).groups.map((group: { name: string }) => group.name),
    ),
    tests: [
      {
        interval: '1m',
        input_series: Object.entries(all).map(([metric, values]) => ({ series: metric, values })),
        promql_expr_test: Array.from({ length: lastMinute }, (_, minute) => ({
          expr: 'ALERTS{alertstate="firing", alertname!="Watchdog"}',
          eval_time: `${minute}m`,
          exp_samples: [],
        })),
      },
    ],
  }
  const file = join(temporaryFolder(t), 'incident.yaml')
  writeFileSync(file, stringify(test))
  // It lives for seconds: memory is cheaper than collecting it.
  const options = { maxBuffer: 2 ** 27, env: { ...process.env, GOGC: '800' } }
  const { stdout, stderr } = await run('promtool', ['test', 'rules', file], options).catch((error) => error)
  const moments: Labels[][] = Array.from({ length: lastMinute }, () => [])
  const got = /time: (?:(\d+)h)?(?:(\d+)m)?(?:0s)?,\n +exp: nil\n +got: (.+)/g
  for (const [, hours = '0', minutes = '0', vector = ''] of `${stdout}${stderr}`.matchAll(got)) {
    const labels = [...vector.matchAll(/\{(.+?)\} 1E\+00/g)].map(([, text = '']) =>
      Object.fromEntries([...text.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, key, value]) => [key, value])),
    )
    moments[Number(hours) * 60 + Number(minutes)] = labels
  }
  return moments
}

/**
 * What rings while this fires: a rule that reaches the receiver `pages` and was not there a minute before. All moments are
 * shown at once; a label keeps each of them to itself. A pager tells of several rules of one alert together, so it rings no
 * more often.
 */
async function pagesOf(t: Test, recordings: readonly (readonly (readonly Labels[])[])[]): Promise<readonly string[][]> {
  const moment = (recording: number, minute: number) => `${recording} ${minute}`
  const shown = recordings.flatMap((moments, recording) =>
    moments.flatMap((firing, minute) =>
      firing.map(({ __name__, alertstate, ...labels }) => ({ ...labels, moment: moment(recording, minute) })),
    ),
  )
  const url = await startAlertmanager(t)
  await post(url, shown)
  // Behind all others: when it is silent, they were seen.
  await post(url, [
    { alertname: 'last', moment: 'last' },
    { alertname: 'silent', moment: 'last' },
  ])
  await eventually(async () => (await unsilenced(url, 'tickets', 'silent')).length === 0)
  const uninhibited = new Map<string, Set<string>>()
  for (const { labels } of await unsilenced(url, 'pages')) {
    const groups = uninhibited.get(labels.moment ?? '') ?? new Set()
    const { alertname = '', cause } = labels
    uninhibited.set(labels.moment ?? '', groups.add(cause === undefined ? alertname : `${alertname}/${cause}`))
  }
  const groupsAt = (recording: number, minute: number) => uninhibited.get(moment(recording, minute)) ?? new Set()
  return recordings.map((moments, recording) =>
    moments.flatMap((_, minute) => [...groupsAt(recording, minute).difference(groupsAt(recording, minute - 1))].sort()),
  )
}

/** With the file's routes and rules, without anybody to tell. */
async function startAlertmanager(t: Test): Promise<string> {
  const rules = alertmanager.inhibit_rules.map((rule) => ({ ...rule, equal: [...(rule.equal ?? []), 'moment'] }))
  const last = { source_matchers: ['alertname="last"'], target_matchers: ['alertname="silent"'], equal: ['moment'] }
  const config = {
    ...alertmanager,
    inhibit_rules: [...rules, last],
    receivers: alertmanager.receivers.map(({ name }) => ({ name })),
  }
  const folder = temporaryFolder(t)
  writeFileSync(join(folder, 'alertmanager.yaml'), stringify(config))
  const port = await freePort()
  const args = [
    `--config.file=${folder}/alertmanager.yaml`,
    `--storage.path=${folder}/data`,
    `--web.listen-address=127.0.0.1:${port}`,
    '--cluster.listen-address=',
  ]
  const { until } = startProcess(t, ['prometheus-alertmanager', ...args], { endsBy: 'SIGTERM' })
  const url = `http://127.0.0.1:${port}`
  await until(async () => (await fetch(`${url}/-/ready`)).ok)
  return `${url}/api/v2/alerts`
}

async function post(url: string, labels: readonly Labels[]): Promise<void> {
  const endsAt = new Date(Date.now() + 3_600_000)
  const body = JSON.stringify(labels.map((one) => ({ labels: one, endsAt })))
  const { status } = await fetch(url, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body })
  if (status !== 200) throw new Error(`Alertmanager replied ${status}`)
}

async function unsilenced(url: string, receiver: string, alertname = '.+'): Promise<readonly { labels: Labels }[]> {
  const query = { receiver: `^${receiver}$`, inhibited: 'false', filter: `alertname=~"${alertname}"` }
  return (await (await fetch(`${url}?${new URLSearchParams(query)}`)).json()) as { labels: Labels }[]
}
