/** One process of the system, as faults see it. */
export interface Part {
  readonly name: string
  /** SIGKILL; resolves when a new process has taken its place. */
  kill(): Promise<void>
  /** SIGSTOP. Without a process there is nothing to stop. */
  freeze(): void
  /** SIGCONT. */
  thaw(): void
}

/** Sends a signal to a process that may have ended by itself. */
export function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}
