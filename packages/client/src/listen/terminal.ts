const endSignals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
const ctrlC = '\u0003'

export interface Terminal {
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
