import type { WebhookEventType } from '../types.ts'
import { Listener } from './listener.ts'
import { paintFor, watchTerminal } from './terminal.ts'
import { eventTypeOf } from './trigger.ts'

/** The options of the command line, as `parseArgs` of Node.js takes them. */
export const listenOptions = {
  port: { type: 'string' },
  'forward-to': { type: 'string' },
  body: { type: 'boolean', default: false },
  events: { type: 'string' },
  latest: { type: 'boolean', default: false },
  help: { type: 'boolean', short: 'h', default: false },
} as const

export const optionsHelp = `  --port P           listen on port P of 127.0.0.1
  --forward-to URL   send each verified delivery on to a receiver of yours, and answer what it answers
  --body             print the body of each event
  --events A,B       pass over all events but these
  --latest           pass over what happened before the start, by the clock of this machine`

/** @param more what it is called with */
export const triggerHelp = (more: string): string =>
  `trigger EVENT instead makes that event happen in the sandbox, with a player of its own${more}.`

export const keysHelp = `What is passed over is answered 204, and neither printed nor sent on.

While it runs, r sends the last event once more, signed anew, and q or Ctrl-C ends it.`

export interface Settings {
  /** 0 takes any free one. */
  readonly port: number
  /** A receiver of one's own, which gets each verified delivery and answers it. */
  readonly forwardTo: URL | undefined
  /** Whether the body of each event is printed too. */
  readonly showBody: boolean
  /** All, unless said. */
  readonly events: readonly WebhookEventType[] | undefined
  /** What happened before is passed over. */
  readonly since: Date | undefined
}

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

interface Run {
  readonly settings: Settings
  readonly secrets: readonly string[]
  /**
   * Has deliveries sent to this address.
   * @returns puts everything back as it was
   */
  readonly attach: (url: string) => Promise<() => Promise<void>>
  /** What is done first when deliveries come. */
  readonly onAttached?: () => Promise<void>
}

/** Listens until somebody ends it. */
export async function run({ settings, secrets, attach, onAttached }: Run): Promise<void> {
  const { stdout } = process
  const print = (text: string) => stdout.write(text)
  const listener = new Listener({ ...settings, secrets, print, paint: paintFor(stdout) })
  const url = await listener.start().catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'EADDRINUSE' ? new Error(`${error.message}. Choose another one with --port`) : error
  })
  const terminal = watchTerminal({ onResend: () => void listener.resend() })
  try {
    const detach = await attach(url)
    try {
      print(settings.forwardTo === undefined ? '\n' : `What is verified goes on to ${settings.forwardTo}.\n\n`)
      await onAttached?.()
      await terminal.ended
    } finally {
      await detach()
    }
  } finally {
    terminal.release()
    await listener.close()
  }
}
