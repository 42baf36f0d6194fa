import type { Background } from '@backoffice/service-runtime'

/** Runs again and again until it is stopped, never twice at once. */
export function every(intervalMs: number, run: () => Promise<void>): Background {
  let running: Promise<void> | undefined
  const timer = setInterval(() => {
    running ??= run().finally(() => {
      running = undefined
    })
  }, intervalMs)
  return {
    async stop() {
      clearInterval(timer)
      await running
    },
  }
}
