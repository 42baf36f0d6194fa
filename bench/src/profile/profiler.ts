import { writeFileSync } from 'node:fs'
import { Session } from 'node:inspector'
import { join } from 'node:path'

/** By then a service has started and its code is compiled, so that what is sampled is the work under load. */
const startAfterMs = 10_000
const samplingMicros = 1_000

// Loaded by `--import` into every process of a system, with the folder to write to in its own URL. Only services are
// sampled, each from soon after its start to its end.
const folder = new URL(import.meta.url).searchParams.get('to') ?? ''
const service = /services\/(\w+)\/src\/main\.ts$/.exec(process.argv[1] ?? '')?.[1]
if (service !== undefined) {
  const session = new Session()
  session.connect()
  session.post('Profiler.enable')
  session.post('Profiler.setSamplingInterval', { interval: samplingMicros })
  let sampling = false
  setTimeout(() => {
    session.post('Profiler.start')
    sampling = true
  }, startAfterMs).unref()
  process.once('exit', () => {
    if (!sampling) return
    session.post('Profiler.stop', (error, result) => {
      if (error === null)
        writeFileSync(join(folder, `${service}-${process.pid}.cpuprofile`), JSON.stringify(result.profile))
    })
  })
}
