import { setTimeout as wait } from 'node:timers/promises'
import { Load, type Work } from './load.ts'

export interface ClosedLoop {
  readonly clients: number
  /** Time before the window, in which connections are made and code is compiled. */
  readonly warmUpMs: number
  readonly windowMs: number
  /** Called when the window begins and when it ends. */
  readonly opened?: () => void
  readonly closed?: () => void
}

/** A window is extended until each client has had this many turns, but not for ever. */
const turnsMin = 3
const windowsMax = 5
const lookEveryMs = 20

/** Clients that each begin their next operation when their last one has ended. */
export async function closedLoop(settings: ClosedLoop, work: Work): Promise<Load> {
  const load = new Load()
  let running = true
  const client = async (number: number) => {
    while (running) {
      await work(number, load)
      load.done()
    }
  }
  const clients = Promise.all(Array.from({ length: settings.clients }, (_, number) => client(number)))
  // Only a fault of a client ends the wait early.
  const during = (ms: number) => Promise.race([wait(ms), clients])
  await during(settings.warmUpMs)
  settings.opened?.()
  load.open()
  await during(settings.windowMs)
  const endMs = performance.now() + settings.windowMs * (windowsMax - 1)
  while (load.operations < settings.clients * turnsMin && performance.now() < endMs) await during(lookEveryMs)
  load.close()
  settings.closed?.()
  running = false
  await clients
  return load
}
