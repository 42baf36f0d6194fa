import { mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { Session } from 'node:inspector'
import { join } from 'node:path'

// Loaded before a program of the system (node --import). Whenever the process gets SIGUSR2 it writes which functions ran
// since the signal before.

/** What one process ran. */
export interface RanFunctions {
  /** How often it was asked before. */
  readonly reading: number
  /** `<url of the file> <function>@<offset>` of each. */
  readonly functions: readonly string[]
}

const folder = process.env.WALK_FOLDER
if (folder !== undefined) {
  mkdirSync(folder, { recursive: true })
  const session = new Session()
  session.connect()
  session.post('Profiler.enable')
  session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
  let reading = 0
  process.on('SIGUSR2', () => {
    session.post('Profiler.takePreciseCoverage', (error, coverage) => {
      if (error !== null) throw error
      const functions = coverage.result
        .filter(({ url }) => url.startsWith('file:') && !url.includes('/node_modules/'))
        .flatMap(({ url, functions }) =>
          functions
            .filter(
              ({ functionName, ranges: [range] }) => functionName !== '' && range !== undefined && range.count > 0,
            )
            .map(({ functionName, ranges: [range] }) => `${url} ${functionName}@${range?.startOffset}`),
        )
      const file = join(folder, `${process.pid}.json`)
      const ran: RanFunctions = { reading, functions }
      writeFileSync(`${file}.part`, JSON.stringify(ran))
      renameSync(`${file}.part`, file)
      reading += 1
    })
  })
}
