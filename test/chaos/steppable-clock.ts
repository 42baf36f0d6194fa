/**
 * Loaded before a service (`node --import`). The service's clock is then off by the milliseconds that the file
 * CHAOS_CLOCK_FILE contains. The file is read at the start and again at each SIGUSR2.
 */
import { readFileSync } from 'node:fs'

const file = process.env.CHAOS_CLOCK_FILE ?? ''
const RealDate = Date
let offsetMs = 0

function readOffset(): void {
  offsetMs = Number(readFileSync(file, 'utf8'))
}

const now = () => RealDate.now() + offsetMs

globalThis.Date = new Proxy(RealDate, {
  construct: (target, given, newTarget) => Reflect.construct(target, given.length === 0 ? [now()] : given, newTarget),
  apply: () => new RealDate(now()).toString(),
  get: (target, name, receiver) => (name === 'now' ? now : Reflect.get(target, name, receiver)),
})

readOffset()
process.on('SIGUSR2', readOffset)
