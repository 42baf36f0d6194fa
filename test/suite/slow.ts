import { existsSync, mkdirSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

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
