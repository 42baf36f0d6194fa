import { Argument, type Command } from 'commander'
import { completionScript, type Shell, shells } from './completion.ts'
import { connect, namedConsole, runningStack } from './login/connection.ts'
import { personOf, readSession, removeSession, writeSession } from './login/session-file.ts'
import { print, printJson, printRecord } from './output.ts'
import type { CommonOptions } from './run.ts'
import { newOperationId } from './session.ts'

/** Commands that are about this program and its person, and call no operation. */
export function addOwnCommands(root: Command): void {
  addLogin(root)
  add(root, 'logout', 'Forget the login of this machine').action((_options, command: Command) =>
    show({ loggedOut: removeSession() }, command),
  )
  add(root, 'whoami', 'Who you are here, with which roles, and until when')
    .option('--console <address>', 'the console to ask')
    .option('--as <person>', 'a person of the development stack')
    .action(async (_options, command: Command) => {
      const { console, client } = await connect(command.optsWithGlobals<CommonOptions>())
      show({ console, ...(await client.whoami(newOperationId())) }, command)
    })
  root
    .command('completion')
    .description('A script for a shell: it makes the command `team` and completes its words')
    .addArgument(new Argument('<shell>').choices(shells))
    .addHelpText('after', '\nbash, zsh: source <(npm run --silent team -- completion bash)')
    .addHelpText('after', 'fish: npm run --silent team -- completion fish | source')
    .action((shell: Shell) => print(completionScript(shell, root)))
}

function addLogin(root: Command): void {
  add(root, 'login', 'Log in at the identity provider of a console, in the browser')
    .option('--console <address>', 'of the console: of the last login, or of npm start, when absent')
    .option('--no-browser', 'only print the address to open')
    .action(async (options: { readonly browser: boolean }, command: Command) => {
      const console = await consoleFor(command.optsWithGlobals<CommonOptions>())
      // Only a login needs what talks to identity providers and browsers.
      const { logInWithBrowser } = await import('./login/browser-login.ts')
      const session = await logInWithBrowser({ console, browser: options.browser })
      await writeSession(session)
      const { name, loggedInAt } = personOf(session.idToken)
      show({ console, name, loggedInAt }, command)
    })
}

async function consoleFor(options: CommonOptions): Promise<string> {
  const console = namedConsole(options) ?? (await readSession())?.console ?? (await runningStack())?.consoleUrl
  if (console === undefined) throw new Error('which console? npm run team -- login --console <address>')
  return console
}

const add = (root: Command, name: string, description: string): Command =>
  root.command(name).description(description).option('--json', 'one JSON document on standard output')

const inWords = (value: unknown) => (Array.isArray(value) ? value.join(', ') : value)

function show(result: object, command: Command): void {
  if (command.optsWithGlobals<CommonOptions>().json === true) printJson(result)
  else printRecord(Object.fromEntries(Object.entries(result).map(([name, value]) => [name, inWords(value)])))
}
