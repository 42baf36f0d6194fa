import { fileURLToPath } from 'node:url'
import { Argument, type Command } from 'commander'
import type { CommonOptions } from './run.ts'

const login = () => import('./login/connection.ts')

/** Whether the other commands must be known for these words. */
export const needsAll = (words: readonly string[]): boolean => words.includes('completion')

/** Commands that are about this program and its person, and call no operation. */
export function addOwnCommands(root: Command): void {
  addLogin(root)
  add(root, 'logout', 'End the login of this machine, here and at every service')
    .option('--everywhere', 'all of your sessions, also in browsers')
    .action(async ({ everywhere = false }: { readonly everywhere?: boolean }, command: Command) => {
      const { endSession, readSession } = await login()
      const session = readSession()
      if (session !== undefined) await endSession(session, { everywhere })
      await show({ loggedOut: session !== undefined }, command)
    })
  add(root, 'whoami', 'Who you are here, with which roles, and until when')
    .option('--console <address>', 'the console to ask')
    .option('--as <person>', 'a person of the development stack')
    .action(async (_options, command: Command) => {
      const { connect } = await login()
      const { console, client } = await connect(command.optsWithGlobals<CommonOptions>())
      const { newOperationId } = await import('./session.ts')
      const { identity: _, ...who } = await client.whoami(newOperationId())
      await show({ console, ...who }, command)
    })
  root
    .command('completion')
    .description('A script for a shell: it makes the command `team` and completes its words')
    .addArgument(new Argument('<shell>').choices(shells))
    .addHelpText('after', '\nbash, zsh: source <(npm run --silent team -- completion bash)')
    .addHelpText('after', 'fish: npm run --silent team -- completion fish | source')
    .action(async (shell: Shell) => (await import('./output.ts')).print(completionScript(shell, root)))
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
      const { personOf, writeSession } = await login()
      await writeSession(session)
      const { name, loggedInAt } = personOf(session.idToken)
      await show({ console, name, loggedInAt }, command)
    })
}

async function consoleFor(options: CommonOptions): Promise<string> {
  const { namedConsole, readSession, runningStack } = await login()
  const console = namedConsole(options) ?? readSession()?.console ?? (await runningStack())?.consoleUrl
  if (console === undefined) throw new Error('which console? npm run team -- login --console <address>')
  return console
}

const add = (root: Command, name: string, description: string): Command =>
  root.command(name).description(description).option('--json', 'one JSON document on standard output')

const inWords = (value: unknown) => (Array.isArray(value) ? value.join(', ') : value)

async function show(result: object, command: Command): Promise<void> {
  const { printJson, printRecord } = await import('./output.ts')
  if (command.optsWithGlobals<CommonOptions>().json === true) printJson(result)
  else printRecord(Object.fromEntries(Object.entries(result).map(([name, value]) => [name, inWords(value)])))
}

export const shells = ['bash', 'zsh', 'fish'] as const
export type Shell = (typeof shells)[number]

/** What may follow after some words of a command. */
interface Place {
  /** The words so far, without options: none, a group, or a group and what to do. */
  readonly words: string
  readonly next: readonly { readonly word: string; readonly help: string }[]
  readonly options: readonly { readonly flag: string; readonly help: string; readonly choices: readonly string[] }[]
}

/**
 * A script that makes the command `team` of a shell, and completes its words. It knows all of them, so that no program
 * has to start for each key.
 */
function completionScript(shell: Shell, root: Command): string {
  const places = placesOf(root)
  if (shell === 'fish') return fishScript(places)
  const zsh = 'autoload -U +X compinit && compinit\nautoload -U +X bashcompinit && bashcompinit\n'
  return `${shell === 'zsh' ? zsh : ''}${bashScript(places)}`
}

function placesOf(command: Command, words: readonly string[] = []): Place[] {
  const choices = command.registeredArguments.flatMap(({ argChoices = [] }) => argChoices)
  const place: Place = {
    words: words.join(' '),
    next: [
      ...command.commands.map((child) => ({ word: child.name(), help: child.summary() || child.description() })),
      ...choices.map((word) => ({ word, help: '' })),
    ],
    options: command.options
      .filter(({ hidden, long }) => !hidden && long !== undefined)
      .map(({ long, description, argChoices = [] }) => ({ flag: long ?? '', help: description, choices: argChoices })),
  }
  return [place, ...command.commands.flatMap((child) => placesOf(child, [...words, child.name()]))]
}

/** For a shell: one word, whatever is in it. */
const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`

const folder = fileURLToPath(new URL('../../../', import.meta.url))
const start = `npm --prefix ${quoted(folder)} run --silent team --`

function bashScript(places: readonly Place[]): string {
  const list = (candidates: readonly string[]) => quoted(candidates.join(' '))
  const values = places.flatMap(({ words, options }) =>
    options
      .filter(({ choices }) => choices.length > 0)
      .map(({ flag, choices }) => `    ${quoted(`${words}|${flag}`)}) candidates=${list(choices)} ;;`),
  )
  const words = places.map(({ words, next, options }) => {
    const candidates = [...next.map(({ word }) => word), ...options.map(({ flag }) => flag)]
    return `    ${quoted(words)}) candidates=${list(candidates)} ;;`
  })
  return `team() { ${start} "$@"; }
_team() {
  local current="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[$((COMP_CWORD-1))]}" typed='' candidates='' count=0 word
  for word in "\${COMP_WORDS[@]:1:$((COMP_CWORD-1))}"; do
    case "$word" in -*) continue ;; esac
    [ "$count" -lt 2 ] && typed="\${typed:+$typed }$word"
    count=$((count + 1))
  done
  case "$typed|$before" in
${values.join('\n')}
    *) case "$typed" in
${words.join('\n')}
    esac ;;
  esac
  COMPREPLY=( $(compgen -W "$candidates" -- "$current") )
}
complete -F _team team
`
}

function fishScript(places: readonly Place[]): string {
  const lines = places.flatMap(({ words, next, options }) => {
    const at = `complete -c team -n ${quoted(`__team_at ${quoted(words)}`)}`
    return [
      ...next.map(({ word, help }) => `${at} -a ${quoted(word)} -d ${quoted(help)}`),
      ...options.map(({ flag, help, choices }) => {
        const values = choices.length > 0 ? ` -x -a ${quoted(choices.join(' '))}` : ''
        return `${at} -l ${flag.slice(2)} -d ${quoted(help)}${values}`
      }),
    ]
  })
  return `function team
  ${start} $argv
end
function __team_at
  set -l typed (string match --invert -- '-*' (commandline -opc))[2..-1]
  test "$typed[1..2]" = "$argv[1]"
end
complete -c team -f
${lines.join('\n')}
`
}
