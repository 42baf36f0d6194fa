export interface Written {
  readonly stdout: string
  readonly stderr: string
  /** What the program ended with, where it did not succeed. */
  readonly error?: Error
}

/**
 * Runs something and keeps what it writes. Nothing else may write meanwhile.
 * @param run gets what was written so far
 */
export async function captured(
  run: (soFar: Readonly<Record<'stdout' | 'stderr', string>>) => unknown,
): Promise<Written> {
  const written = { stdout: '', stderr: '' }
  const writes = { stdout: process.stdout.write, stderr: process.stderr.write }
  for (const name of ['stdout', 'stderr'] as const) {
    process[name].write = ((text: string) => {
      written[name] += text
      return true
    }) as typeof process.stdout.write
  }
  try {
    await run(written)
    return written
  } catch (error) {
    return { ...written, error: error as Error }
  } finally {
    process.stdout.write = writes.stdout
    process.stderr.write = writes.stderr
  }
}
