import { parseArgs } from 'node:util'
import { apiVersion } from '../api.ts'
import type { BackOfficeClient } from '../client.ts'
import { Listener, paintFor, type Settings } from './listener.ts'
import { eventToTrigger, eventTypeOf, trigger } from './trigger.ts'

/** The options of the command line, as `parseArgs` of Node.js takes them. */
const listenOptions = {
  port: { type: 'string' },
  'forward-to': { type: 'string' },
  body: { type: 'boolean', default: false },
  events: { type: 'string' },
  latest: { type: 'boolean', default: false },
  version: { type: 'boolean', default: false },
  help: { type: 'boolean', short: 'h', default: false },
} as const

export const optionsHelp = `  --port P           listen on port P of 127.0.0.1
  --forward-to URL   send each verified delivery on to a receiver of yours, and answer what it answers
  --body             print the body of each event
  --events A,B       pass over all events but these
  --latest           pass over what happened before the start, by the clock of this machine`

/** @param more what it is called with */
export const triggerHelp = (more: string): string =>
  `trigger EVENT instead makes that event happen in the sandbox, with a player of its own${more}.
Of an event that no call causes, such as player.status_changed, it sends a signed example to --forward-to.`

export const keysHelp = `What is passed over is answered 204, and neither printed nor sent on.

While it runs, r sends the last event once more, signed anew, and q or Ctrl-C ends it.`

interface Values {
  readonly port?: string | undefined
  readonly 'forward-to'?: string | undefined
  readonly body: boolean
  readonly events?: string | undefined
  readonly latest?: boolean
}

/** @throws with what is wrong with an option */
export function settingsFrom({ port = '0', 'forward-to': target, body, events, latest }: Values): Settings {
  if (!/^\d{1,5}$/.test(port) || Number(port) > 65_535)
    throw new Error(`--port takes a number from 0 to 65535, not "${port}"`)
  const forwardTo = target !== undefined && URL.canParse(target) ? new URL(target) : undefined
  if (target !== undefined && !/^https?:$/.test(forwardTo?.protocol ?? ''))
    throw new Error(`--forward-to takes an address that begins with http:// or https://, not "${target}"`)
  if (forwardTo?.username || forwardTo?.password)
    throw new Error('--forward-to takes an address without a user name and a password')
  return {
    ...{ port: Number(port), forwardTo, showBody: body },
    events: events?.split(',').map((name) => eventTypeOf(name.trim())),
    since: latest ? new Date() : undefined,
  }
}

/** WEBHOOK_SECRET: one, or both while a secret is being changed, with a comma between them. */
export const secretsInEnvironment = (): string[] =>
  (process.env.WEBHOOK_SECRET ?? '')
    .split(',')
    .map((secret) => secret.trim())
    .filter((secret) => secret !== '')

/** What differs between the program of the package and that of a system on this machine. */
interface Program {
  readonly usage: string
  /** Unless an option says another; any free one when left out. */
  readonly port?: string
  /** Of the sandbox, for `trigger`. @throws what it needs is not set */
  readonly client: () => BackOfficeClient
  /** @throws there is none */
  readonly secrets: () => readonly string[]
  /**
   * Has deliveries sent to this address.
   * @returns puts everything back as it was
   */
  readonly attach: (url: string) => Promise<() => Promise<void>>
}

/** Does what the command line says, and says in one line what is wrong. */
export async function runProgram(program: Program): Promise<void> {
  try {
    const { values, positionals } = parseArgs({ options: listenOptions, allowPositionals: true })
    if (values.help) return void process.stdout.write(`${program.usage}\n`)
    if (values.version) return void process.stdout.write(`${apiVersion}\n`)
    const triggered = eventToTrigger(positionals)
    const settings = settingsFrom(program.port === undefined ? values : { port: program.port, ...values })
    if (triggered === undefined) await listen(program, settings)
    else process.stdout.write(await trigger({ ...program, type: triggered, forwardTo: settings.forwardTo }))
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n`)
    process.exitCode = 1
  }
}

/** Until somebody ends it. */
async function listen({ secrets, attach }: Program, settings: Settings): Promise<void> {
  const { stdout } = process
  const print = (text: string) => stdout.write(text)
  const listener = new Listener({ ...settings, secrets: secrets(), print, paint: paintFor(stdout) })
  const url = await listener.start().catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'EADDRINUSE' ? new Error(`${error.message}. Choose another one with --port`) : error
  })
  const terminal = watchTerminal({ onResend: () => void listener.resend() })
  try {
    const detach = await attach(url)
    try {
      print(settings.forwardTo === undefined ? '\n' : `What is verified goes on to ${settings.forwardTo}.\n\n`)
      await terminal.ended
    } finally {
      await detach()
    }
  } finally {
    terminal.release()
    await listener.close()
  }
}

const endSignals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
const ctrlC = '\u0003'

interface Terminal {
  /** Resolves when somebody ends the program: by Ctrl-C, by `q`, by a signal, or by closing the terminal. */
  readonly ended: Promise<void>
  /** Gives keys and signals back. */
  release(): void
}

/** Hears the keys: on a terminal as they are pressed, from a pipe as they come. */
export function watchTerminal({ onResend }: { readonly onResend: () => void }): Terminal {
  const { stdin } = process
  const isTerminal = stdin.isTTY === true
  let end = () => {}
  const ended = new Promise<void>((resolve) => {
    end = resolve
  })
  const hear = (keys: Buffer) => {
    for (const key of String(keys)) {
      if (key === 'r') onResend()
      // A terminal that gives single keys gives Ctrl-C as a key, too.
      if (key === 'q' || key === ctrlC) end()
    }
  }
  for (const signal of endSignals) process.on(signal, end)
  // Nobody reads any more. There is still something to put back.
  for (const stream of [stdin, process.stdout]) stream.on('error', end)
  if (isTerminal) stdin.setRawMode(true)
  stdin.on('data', hear)
  return {
    ended,
    release() {
      stdin.off('data', hear)
      if (isTerminal) stdin.setRawMode(false)
      stdin.pause()
      for (const signal of endSignals) process.off(signal, end)
    },
  }
}
