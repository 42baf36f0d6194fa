import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { delimiter, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { Client } from 'pg'

const outputSecondsMax = 5

export type Ending = 'passed' | 'failed' | 'timed out'

export interface Run {
  readonly ending: Ending
  readonly seconds: number
  readonly output: string
}

/** Runs a program of the copy, and ends it when it takes too long. */
export async function run(
  folder: string,
  command: string,
  args: readonly string[],
  {
    env = {},
    secondsMax,
    copy,
  }: { readonly env?: NodeJS.ProcessEnv; readonly secondsMax: number; readonly copy: string },
): Promise<Run> {
  const startedAt = performance.now()
  const path = `${join(copy, 'node_modules/.bin')}${delimiter}${process.env.PATH}`
  const child = spawn(command, args, {
    cwd: join(copy, folder),
    env: { ...process.env, NO_COLOR: '1', PATH: path, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const output: Buffer[] = []
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => output.push(chunk))
  let isLate = false
  const limit = setTimeout(() => {
    // If this process was stopped meanwhile, the end of the other may be waiting to be read.
    setImmediate(() => {
      isLate = child.exitCode === null
      // What it has started ends with it.
      child.kill('SIGKILL')
    })
  }, secondsMax * 1_000)
  const exited = once(child, 'exit').finally(() => clearTimeout(limit)) as Promise<[number | null]>
  const closed = once(child, 'close')
  const [code] = await exited
  const seconds = (performance.now() - startedAt) / 1_000
  // A service that outlives a killed test for a moment holds on to its output.
  await Promise.race([closed, delay(outputSecondsMax * 1_000, undefined, { ref: false })])
  const ending = code === 0 ? 'passed' : isLate ? 'timed out' : 'failed'
  return { ending, seconds, output: Buffer.concat(output).toString() }
}

/** A test that was ended, or that stopped at its first failure, leaves its database behind. */
export async function dropTestDatabases(administratorUrl: string): Promise<void> {
  const client = new Client({ connectionString: administratorUrl })
  await client.connect()
  try {
    const { rows } = await client.query<{ datname: string }>(
      "select datname from pg_database where datname like 'backoffice_test_%'",
    )
    for (const { datname } of rows) await client.query(`drop database ${client.escapeIdentifier(datname)} with (force)`)
  } finally {
    await client.end()
  }
}
