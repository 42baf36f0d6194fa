import { AsyncLocalStorage } from 'node:async_hooks'

export interface WrittenText {
  readonly stdout: string
  readonly stderr: string
  /** What the program ended with, where it did not succeed. */
  readonly error?: Error
}

/** Of the run that writes, and of nobody else: tap writes its results to standard output whenever a reader has room. */
const current = new AsyncLocalStorage<Record<'stdout' | 'stderr', string>>()

for (const name of ['stdout', 'stderr'] as const) {
  const write = process[name].write.bind(process[name])
  process[name].write = ((...args: Parameters<typeof write>) => {
    const written = current.getStore()
    if (written === undefined) return write(...args)
    written[name] += args[0]
    return true
  }) as typeof write
}

/**
 * Runs something and keeps what it writes.
 * @param run gets what was written so far
 */
export async function captured(
  run: (soFar: Readonly<Record<'stdout' | 'stderr', string>>) => unknown,
): Promise<WrittenText> {
  const written = { stdout: '', stderr: '' }
  try {
    await current.run(written, () => run(written))
    return written
  } catch (error) {
    return { ...written, error: error as Error }
  }
}
