import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { startSeconds } from './test-file.ts'

/** What the start of a test process takes on two cores that do nothing else. */
const startSecondsUsual = 0.5
/** What begins now may meet a machine that is as many times slower still: neighbours start while it runs. */
const slowerStill = 2
/** Beyond it the slowest machine has time enough, and a test that waits until a limit is over would wait for minutes. */
const patienceMax = 16
/** A measure counts so long. */
const measuredForMs = 60_000
const measuresKept = 4
/** Of so many times slower a machine one place less is used, and one less again, down to one. */
const slowerPerPlace = 8
const lookAgainAfterMs = 1_000

/**
 * How slow the machine is now: the start of a test process is measured before the first file, and again as the run goes
 * on. A limit that is there for what hangs is as many times longer, so that none of them says anything about the machine.
 */
export class Pace {
  readonly #environment: NodeJS.ProcessEnv
  readonly #measures: number[] = []
  #measuredAt = Number.NEGATIVE_INFINITY
  #measuring: Promise<void> | undefined
  #most = 1

  constructor(environment: NodeJS.ProcessEnv) {
    this.#environment = environment
  }

  /**
   * By how much limits are longer: as the slowest moment of the run asks for, never below 1. A power of two, because the
   * roles of PostgreSQL have limits too, and each other value would need a template of databases.
   */
  get patience(): number {
    return Math.min(patienceMax, 2 ** Math.ceil(Math.log2(this.#most * slowerStill)))
  }

  async measure(): Promise<number> {
    if (performance.now() - this.#measuredAt > measuredForMs) this.#measuring ??= this.#measure()
    await this.#measuring
    return this.patience
  }

  /** Resolves when another file may run beside those that do. A slow machine is not made slower. */
  async mayRunBeside(running: () => number, placesMost: number): Promise<void> {
    const places = () => Math.max(1, placesMost - Math.floor(Math.max(...this.#measures) / slowerPerPlace))
    while (running() >= places()) await delay(lookAgainAfterMs)
  }

  async #measure(): Promise<void> {
    const times = (await startSeconds(this.#environment)) / startSecondsUsual
    this.#measures.unshift(times)
    this.#measures.length = Math.min(this.#measures.length, measuresKept)
    this.#most = Math.max(this.#most, times)
    this.#measuredAt = performance.now()
    this.#measuring = undefined
  }
}

/** The processor seconds of this process and of all that it has waited for, in Linux' hundredths; null elsewhere. */
export function processorSeconds(): number | null {
  try {
    const [, fields = ''] = /\) (.*)$/s.exec(readFileSync('/proc/self/stat', 'utf8')) ?? []
    const ticks = fields.split(' ').slice(11, 15)
    return ticks.reduce((sum, field) => sum + Number(field), 0) / 100
  } catch {
    return null
  }
}

/** Of a core, for the runner and all that it starts. */
const share = { quotaUs: 50_000, periodUs: 100_000 }

/**
 * From now on this process, and all that it starts, has half a core: a control group of Linux says so.
 * @returns what gives it back
 * @throws where the system has no such groups, or this user may not make one
 */
export function slowDown(): () => void {
  const v2 = existsSync('/sys/fs/cgroup/cgroup.controllers')
  const parent = v2 ? '/sys/fs/cgroup' : '/sys/fs/cgroup/cpu'
  const group = join(parent, `backoffice-slow-${process.pid}`)
  const enter = (folder: string) => writeFileSync(join(folder, 'cgroup.procs'), String(process.pid))
  try {
    mkdirSync(group)
    if (v2) writeFileSync(join(group, 'cpu.max'), `${share.quotaUs} ${share.periodUs}`)
    else {
      writeFileSync(join(group, 'cpu.cfs_period_us'), String(share.periodUs))
      writeFileSync(join(group, 'cpu.cfs_quota_us'), String(share.quotaUs))
    }
    enter(group)
  } catch (cause) {
    const instead = 'systemd-run --user --scope -p CPUQuota=50% npm test'
    throw new Error(`--slow takes a Linux whose control groups this user may make; else try: ${instead}`, { cause })
  }
  return () => {
    enter(parent)
    try {
      rmdirSync(group)
    } catch {
      // What is still ending is in it.
    }
  }
}
