import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '@backoffice/dev-stack'
import { startProcess, type Teardown, temporaryFolder } from '@backoffice/test-kit'
import { stringify } from 'yaml'

export interface Series {
  readonly metric: Readonly<Record<string, string>>
  readonly value: readonly [number, string]
}

export interface LoadedRule {
  readonly name: string
  readonly type: 'alerting' | 'recording'
  readonly health: string
  readonly lastError?: string
}

/** A real Prometheus on loopback, which scrapes every second and stops with the test. */
export class Prometheus {
  readonly #url: string

  constructor(url: string) {
    this.#url = url
  }

  /** @throws with what Prometheus says of a query that it refuses. */
  async query(expr: string): Promise<readonly Series[]> {
    const { resultType, result } = await this.#get<{ resultType: string; result: Series[] }>('query', { query: expr })
    if (resultType !== 'vector') throw new Error(`a vector was expected, not a ${resultType}: ${expr}`)
    return result
  }

  async metricNames(): Promise<ReadonlySet<string>> {
    return new Set(await this.#get<string[]>('label/__name__/values'))
  }

  async rules(): Promise<readonly LoadedRule[]> {
    const { groups } = await this.#get<{ groups: { rules: LoadedRule[] }[] }>('rules')
    return groups.flatMap((group) => group.rules)
  }

  async #get<T>(path: string, parameters: Readonly<Record<string, string>> = {}): Promise<T> {
    const answer = await fetch(`${this.#url}/api/v1/${path}?${new URLSearchParams(parameters)}`)
    const body = (await answer.json()) as { status: string; data: T; error?: string }
    if (body.status !== 'success') throw new Error(`${body.error}: ${parameters.query ?? path}`)
    return body.data
  }
}

/** @param targets the address of the metrics by job */
export async function startPrometheus(
  t: Teardown,
  targets: Readonly<Record<string, string>>,
  ruleFile: string,
): Promise<Prometheus> {
  const folder = temporaryFolder(t)
  const config = {
    global: { scrape_interval: '1s', scrape_timeout: '1s', evaluation_interval: '1s' },
    rule_files: [ruleFile],
    scrape_configs: Object.entries(targets).map(([job, address]) => {
      const { host, pathname } = new URL(address)
      return { job_name: job, metrics_path: pathname, static_configs: [{ targets: [host] }] }
    }),
  }
  writeFileSync(join(folder, 'prometheus.yaml'), stringify(config))
  const port = await freePort()
  const args = [
    `--config.file=${join(folder, 'prometheus.yaml')}`,
    `--storage.tsdb.path=${join(folder, 'data')}`,
    `--web.listen-address=127.0.0.1:${port}`,
  ]
  const { until } = startProcess(t, ['prometheus', ...args], { endsBy: 'SIGTERM' })
  const url = `http://127.0.0.1:${port}`
  await until(async () => (await fetch(`${url}/-/ready`)).ok)
  return new Prometheus(url)
}
