import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { table } from '../report/text.ts'

/** As the inspector writes it. */
interface Profile {
  readonly nodes: readonly {
    readonly id: number
    readonly callFrame: { readonly functionName: string; readonly url: string }
  }[]
  readonly samples?: readonly number[]
  readonly timeDeltas?: readonly number[]
}

const rowsMax = 12

/** Where a function comes from: a package, a folder of ours, or what Node itself does. */
export function originOf(functionName: string, url: string): string {
  if (functionName === '(garbage collector)') return 'garbage collector'
  if (/^(writeBuffer|writev|writeUtf8String|writeLatin1String)$/.test(functionName) && url === '')
    return 'socket writes'
  const installed = /node_modules\/((?:@[^/]+\/)?[^/]+)(?!.*node_modules\/)/.exec(url)?.[1]
  if (installed !== undefined) return installed
  const own = /\/((?:packages|services)\/[\w-]+\/src\/[\w-]+)/.exec(url)?.[1]
  return own ?? 'Node'
}

/** The share of each origin in the time that a process was busy. */
export function sharesOf({ nodes, samples = [], timeDeltas = [] }: Profile): ReadonlyMap<string, number> {
  const origins = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]))
  const micros = new Map<string, number>()
  let busy = 0
  for (const [index, id] of samples.entries()) {
    const { functionName = '', url = '' } = origins.get(id) ?? {}
    if (functionName === '(idle)') continue
    const spent = timeDeltas[index] ?? 0
    const origin = originOf(functionName, url)
    micros.set(origin, (micros.get(origin) ?? 0) + spent)
    busy += spent
  }
  const sorted = [...micros].sort(([, one], [, other]) => other - one)
  return new Map(sorted.map(([origin, spent]) => [origin, busy === 0 ? 0 : spent / busy]))
}

/** For each service, where its processor time goes: self time by origin. */
export function profileText(folder: string): string {
  const files = readdirSync(folder).filter((name) => name.endsWith('.cpuprofile'))
  const parts = files.sort().map((file) => {
    const shares = sharesOf(JSON.parse(readFileSync(join(folder, file), 'utf8')) as Profile)
    const rows = [...shares].slice(0, rowsMax).map(([origin, share]) => [origin, `${(share * 100).toFixed(1)} %`])
    return table([file.replace(/-\d+\.cpuprofile$/, ''), 'self time'], rows)
  })
  return `Where the processor time of each service goes\n\n${parts.join('\n\n')}\n`
}
