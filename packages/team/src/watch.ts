import { setTimeout as wait } from 'node:timers/promises'
import { errorCatalogue, Rejection } from '@backoffice/contracts'
import { ConsoleUnreachable } from './console-client.ts'
import { say } from './output.ts'

export const watchSecondsDefault = 5

export function watchSecondsOf(value: string): number {
  if (!/^[1-9]\d{0,4}$/.test(value)) throw new Error(`--watch takes whole seconds, not ${value}`)
  return Number(value)
}

export interface Watch<Result> {
  readonly look: () => Promise<Result>
  readonly show: (result: Result) => void
  readonly everyMs: number
  /** Ends it. A person does that with Ctrl-C. */
  readonly signal?: AbortSignal
}

/**
 * Looks again and again, and shows what differs from what was shown last.
 * @throws when the first look fails, or a later one in a way that does not pass by itself
 */
export async function watch<Result>({ look, show, everyMs, signal }: Watch<Result>): Promise<void> {
  let shown: string | undefined
  while (signal?.aborted !== true) {
    try {
      const result = await look()
      const text = JSON.stringify(result)
      if (text !== shown) show(result)
      shown = text
    } catch (error) {
      if (shown === undefined || !isPassing(error)) throw error
      say(`${(error as Error).message}; trying again\n`)
    }
    await wait(everyMs, undefined, signal === undefined ? {} : { signal }).catch(() => {})
  }
}

const isPassing = (error: unknown) =>
  error instanceof ConsoleUnreachable || (error instanceof Rejection && errorCatalogue[error.code].retryable)
