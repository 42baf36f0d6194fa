import { serviceNames } from '@backoffice/contracts'
import type { Sample } from './case.ts'
import { createAndConfirm } from './cases/pairs.ts'
import { measureLoad } from './measure.ts'
import type { Options } from './options.ts'
import { Subject } from './stack/subject.ts'

const clients = 32
const windows = 20
const windowMs = 15_000

/**
 * Pairs on a fresh system, from its first request on: what costs more the longer a load lasts, or until a table has
 * statistics, shows in no short window.
 * @returns a sample for each quarter of five minutes
 */
export async function measureLasting(
  options: Options,
  ending: AsyncDisposableStack,
  say: (line: string) => void,
): Promise<readonly Sample[]> {
  say(`starting the system of ${options.checkout}`)
  const subject = await Subject.start('this', { checkout: options.checkout, under: options.dir }, ending)
  const work = createAndConfirm(subject, await subject.players(options.players))
  const settings = {
    options: { ...options, windowMs, warmUpMs: 0 },
    clients,
    processes: () => subject.stack.processes(),
  }
  const samples: Sample[] = []
  for (let window = 1; window <= windows; window += 1) {
    samples.push(await measureLoad(settings, work))
    say(lastingText(samples.slice(-1), window))
  }
  return samples
}

const columns = {
  'pairs/s': ['perSecond'],
  'p50 ms': ['p50Ms'],
  'p99 ms': ['p99Ms'],
  // While V8 still compiles it is larger.
  'services ms a pair': serviceNames.map((name) => `cpuMs.${name}`),
  'PostgreSQL ms a pair': ['cpuMs.postgres'],
  'nats-server ms a pair': ['cpuMs.nats'],
  'other load': ['othersShare'],
} as const

/** A row for each quarter of a minute, in Markdown. */
export function lastingText(samples: readonly Sample[], first = 1): string {
  const rows = samples.map(({ figures, failures }, index) => {
    const cells = Object.values(columns).map((names) => {
      const value = names.reduce((sum, name) => sum + (figures[name] ?? 0), 0)
      return value.toFixed(/Ms$|Second/.test(names[0] ?? '') ? 0 : 2)
    })
    const failed = Object.entries(failures).map(([what, count]) => `${what}: ${count}`)
    return `| ${[(first + index - 1) * (windowMs / 1_000), ...cells, failed.join(', ')].join(' | ')} |`
  })
  const head = ['second', ...Object.keys(columns), 'failures']
  return (first > 1 ? rows : [`| ${head.join(' | ')} |`, `|${head.map(() => '---').join('|')}|`, ...rows]).join('\n')
}
