import { enableCompileCache } from 'node:module'
import { fileURLToPath } from 'node:url'
import { Command, CommanderError, Option } from 'commander'
import metadata from '../package.json' with { type: 'json' }
import { groups } from './commands/index.ts'
import { addOwnCommands, needsAll } from './own-commands.ts'
import type { OpenSession } from './run.ts'

const openSession: OpenSession = async (options) => (await import('./login/connection.ts')).openSession(options)

/**
 * The team's command line, as commands of one program.
 * @param words what was typed: only the groups that it names are loaded, because all of them take most of a second
 */
export async function program(words: readonly string[], open = openSession): Promise<Command> {
  const root = new Command('team')
  root
    .description(
      "The team's side of the back office: operators, decisions, corrections. Each action is recorded with who, when and why.",
    )
    .version(metadata.version, '-V, --version', 'the release of this program')
    .showHelpAfterError()
    .exitOverride()
    .addHelpText(
      'after',
      `
Every command takes --json (one JSON document on standard output). Commands that change something take --reason,
--operation-id (a retry with the same id never does it twice) and, where it cannot be undone, --yes.
Who you are is your login: npm run team -- login --console <address>. Beside a running npm start nobody has to log in:
--as chooses a person of it.

Examples:
  npm run team -- operators create --name "Casa Azul" --rate-limit 1200 --allow-ip 203.0.113.0/24
  npm run team -- withdrawals queue --watch
  npm run team -- withdrawals approve wdr_… --reason "documents match"
  npm run --silent team -- operators list --json | jq .`,
    )
  addJson(root)
  addOwnCommands(root)
  for (const [name, description, load] of groups) {
    const group = root.command(name).description(description)
    addJson(group)
    if (!words.includes(name) && !needsAll(words)) continue
    const { addRow } = await import('./add-row.ts')
    for (const row of await load()) addRow(group, row, open)
    if (name === 'audit') (await import('./audit.ts')).addAuditVerify(group)
  }
  return root
}

/** It may stand anywhere on the line. */
const addJson = (command: Command) =>
  command.addOption(new Option('--json', 'one JSON document on standard output').hideHelp())

/**
 * Does what was typed. What goes wrong is said on standard error.
 * @returns the exit status
 */
export async function execute(words: readonly string[]): Promise<number> {
  try {
    const root = await program(words)
    // It serves nobody: whoever types may wait as long as they like.
    root.hook('preAction', async () => {
      const { bePatient } = await import('@backoffice/process/limits')
      bePatient({ ...process.env, DEVELOPMENT: 'true' })
    })
    await root.parseAsync(words, { from: 'user' })
    return Number(process.exitCode ?? 0)
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 1
    const { printError } = await import('./output.ts')
    printError(error, words.includes('--json'))
    return 1
  }
}

if (import.meta.main) {
  // What is loaded from here on is compiled once: a command takes a third of the time then.
  enableCompileCache(fileURLToPath(new URL('../../../node_modules/.cache/node-compile', import.meta.url)))
  // A reader such as `head` may close the pipe early. That is no fault.
  process.stdout.on('error', (error: Error & { code?: string }) => {
    if (error.code === 'EPIPE') process.exit(0)
    throw error
  })
  process.exitCode = await execute(process.argv.slice(2))
}
