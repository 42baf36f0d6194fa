import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { SharedSystem } from '@backoffice/test-kit'

const root = fileURLToPath(new URL('../../', import.meta.url))
const run = promisify(execFile)

export interface TeamReply {
  readonly status: number
  readonly stdout: string
  readonly stderr: string
  // biome-ignore lint/suspicious/noExplicitAny: a test says what it expects of it
  readonly json: any
}

/** What a person types, and what npm runs for it. */
const typed = ['npm', 'run', '--silent', 'team', '--']
const script: readonly string[] = JSON.parse(readFileSync(`${root}package.json`, 'utf8')).scripts.team.split(' ')
let isFirst = true

/** The command for one call. npm takes longer to start than the program, so only the first call goes through it. */
function commandLine(): readonly [string, readonly string[]] {
  const [program = '', ...words] = isFirst ? typed : script
  isFirst = false
  return [program === 'node' ? process.execPath : program, words]
}

/** The team's command line as a person types it, in the name of one person. */
export async function team(system: SharedSystem, person: string, ...args: readonly string[]): Promise<TeamReply> {
  const env = { ...process.env, STACK_JSON: system.stackJson, TEAM_USER: person }
  try {
    const [program, words] = commandLine()
    const { stdout, stderr } = await run(program, [...words, ...args], { cwd: root, env })
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
