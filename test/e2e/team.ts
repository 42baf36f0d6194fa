import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { execute } from '@backoffice/team'
import type { SharedSystem } from '@backoffice/test-kit'
import { captured } from '@backoffice/test-kit/captured'

const root = fileURLToPath(new URL('../../', import.meta.url))

export interface TeamReply {
  readonly status: number
  readonly stdout: string
  readonly stderr: string
  // biome-ignore lint/suspicious/noExplicitAny: a test says what it expects of it
  readonly json: any
}

/** The team's command line as a person types it: npm runs it as a program of its own. */
export async function typedByTeam(
  system: SharedSystem,
  person: string,
  ...args: readonly string[]
): Promise<TeamReply> {
  const env = { ...process.env, STACK_JSON: system.stackJson, TEAM_USER: person }
  const words = ['run', '--silent', 'team', '--', ...args]
  const { stdout, stderr } = await promisify(execFile)('npm', words, { cwd: root, env })
  return { status: 0, stdout, stderr, json: parse(stdout) }
}

/** The same in this process, which takes a tenth of the time. */
export async function team(system: SharedSystem, person: string, ...args: readonly string[]): Promise<TeamReply> {
  Object.assign(process.env, { STACK_JSON: system.stackJson, TEAM_USER: person })
  let status = 0
  const { stdout, stderr } = await captured(async () => {
    status = await execute(args)
  })
  // Some commands say by it that they have found something: not that this test has failed.
  process.exitCode = undefined
  return { status, stdout, stderr, json: parse(stdout) }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
