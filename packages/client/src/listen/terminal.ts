import { styleText } from 'node:util'
import type { WebhookEvent } from '../types.ts'
import type { Answer, Verdict } from './forward.ts'

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

type Style = 'bold' | 'dim' | 'green' | 'red' | 'yellow'
export type Paint = (style: Style, text: string) => string

/** Colours where somebody sees them: on a terminal, and unless NO_COLOR or the kind of terminal says otherwise. */
export function paintFor(output: NodeJS.WriteStream): Paint {
  const coloured = output.isTTY === true && output.hasColors()
  return (style, text) => (coloured ? styleText(style, text) : text)
}

/** Text of others, with what a terminal would obey shown instead. */
const visible = (text: string): string =>
  text.replaceAll(
    /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu,
    (character) => `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`,
  )

const indent = ' '.repeat(11)
/** Of what a receiver answers. */
const textShownMax = 200

interface Arrival {
  readonly verdict: Verdict
  readonly at: Date
  /** Whether the same event has come before. */
  readonly again: boolean
  readonly showBody: boolean
}

export function arrivalText({ verdict, at, again, showBody }: Arrival, paint: Paint): string {
  // In UTC, as the times of events are.
  const clock = paint('dim', `${at.toISOString().slice(11, 19)}Z`)
  if ('refusal' in verdict) return `${clock}  ${paint('red', `not verified: ${visible(verdict.refusal)}`)}\n`
  const { event } = verdict
  const lines = [
    `${clock}  ${paint('bold', visible(event.type))}  ${visible(event.id)}  ${paint('green', 'verified')}${again ? paint('yellow', '  again') : ''}`,
    `${indent}${visible(changeOf(event))}`,
  ]
  if (showBody) {
    const body = JSON.stringify(event, null, 2).split('\n')
    lines.push(...body.map((line) => paint('dim', `${indent}${visible(line)}`)))
  }
  return `${lines.join('\n')}\n`
}

/** What the event tells, in a few words. */
function changeOf({ createdAt, data }: WebhookEvent): string {
  const record: Readonly<Record<string, unknown>> = data
  const { id = record.playerId, status = record.kycStatus, previousStatus, version, message } = record
  const change = id === undefined ? message : `${id}: ${previousStatus} → ${status}, version ${version}`
  return `${change} (${createdAt})`
}

/** Of which event: others may have come meanwhile. */
export function answerText({ status, text, durationMs }: Answer, { id }: WebhookEvent, paint: Paint): string {
  const said = text === '' ? '' : `: ${visible(text.slice(0, textShownMax))}`
  const style = status !== undefined && status >= 200 && status < 300 ? 'green' : 'red'
  const outcome = `${paint(style, String(status ?? 'no answer'))}${said}`
  return `${indent}→ ${outcome}  ${paint('dim', `${visible(id)}, ${durationMs} ms`)}\n`
}
