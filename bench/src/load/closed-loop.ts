import { setTimeout as wait } from 'node:timers/promises'
import { Load, type Work } from './load.ts'

export interface ClosedLoop {
  readonly clients: number
  /** Before anything counts: connections are made and code is compiled. */
  readonly warmUpMs: number
  readonly windowMs: number
  /** Called where the window begins and ends. */
  readonly opened?: () => void
  readonly closed?: () => void
}

/** A window holds so many turns of each client, so that it is no picture of one wave; but it does not stretch for ever. */
const turnsMin = 3
const windowsMax = 5
const lookEveryMs = 20

/** Clients that each begin their next operation when their last one is answered. */
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
  // A fault of a client ends the wait; without one the clients are still at work when it is over.
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
