import { bePatient } from './limits.ts'
import type { Logger } from './log.ts'

/** What runs as a process, once it has started. */
export interface RunningProcess {
  readonly log: Logger
  /** Finishes what is under way. */
  drain(): Promise<void>
}

interface RunOptions<R> {
  /** Resolves, to what is said about it, when the process looks alive and can no longer work. It is then ended at once. */
  readonly broken?: (running: R) => Promise<{ readonly message: string; readonly err: unknown }>
}

/**
 * Runs a program as this process: drains on SIGTERM and SIGINT, and exits with 1 when it cannot start. A fault that no
 * task handles is a bug: it is logged, what is under way is finished, and the process exits with 1, to be started again.
 */
export async function runProcess<R extends RunningProcess>(
  start: () => Promise<R>,
  { broken }: RunOptions<R> = {},
): Promise<void> {
  let running: R | undefined
  let ending = false
  const end = async (status: 0 | 1) => {
    ending = true
    // Before it has started there is nothing to finish.
    if (running === undefined) process.exit(status)
    try {
      await running.drain()
      process.exit(status)
    } catch (error) {
      running.log.error({ err: error }, 'could not drain')
      process.exit(1)
    }
  }
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    // What has ended the process while its modules were loaded (telemetry/register.ts). It goes last: without any listener
    // a signal that has just come would be lost.
    const before = process.listeners(signal)
    process.once(signal, () => void end(0))
    for (const listener of before) process.off(signal, listener)
  }
  // Of a promise that was rejected and that nobody waits for, too: Node raises it as an exception.
  process.on('uncaughtException', (err: unknown, origin) => {
    if (running === undefined) report(err)
    else running.log.fatal({ err, origin }, 'a fault that nothing handled ends the process')
    if (!ending) void end(1)
  })
  try {
    bePatient(process.env)
    const started = await start()
    running = started
    void broken?.(started).then(({ message, err }) => {
      if (ending) return
      started.log.fatal({ err }, message)
      process.exit(1)
    })
  } catch (error) {
    report(error)
    process.exit(1)
  }
}

function report(error: unknown): void {
  process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`)
}
