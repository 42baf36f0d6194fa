import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { System } from '@backoffice/test-kit'

const root = fileURLToPath(new URL('../../', import.meta.url))
const run = promisify(execFile)

export interface TeamReply {
  readonly status: number
  readonly stdout: string
  readonly stderr: string
  // biome-ignore lint/suspicious/noExplicitAny: a test says what it expects of it
  readonly json: any
}

/** The team's command line as a person types it, in the name of one person. */
export async function team(system: System, person: string, ...args: readonly string[]): Promise<TeamReply> {
  const env = { ...process.env, STACK_JSON: system.stackJson, TEAM_USER: person }
  try {
    const { stdout, stderr } = await run('npm', ['run', '--silent', 'team', '--', ...args], { cwd: root, env })
    return { status: 0, stdout, stderr, json: parse(stdout) }
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string }
    return { status: code, stdout, stderr, json: parse(stdout) }
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
