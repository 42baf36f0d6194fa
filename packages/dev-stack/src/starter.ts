import { execFileSync } from 'node:child_process'

const checkMs = 1_000
const ancestorsMax = 4

/**
 * Calls `gone` once the npm that started us has ended without telling us, which is what happens when it is killed. Does
 * nothing for a stack that was started without npm: its parent may well end before it, as with nohup.
 */
export function watchStarter(gone: () => void): void {
  const npm = startingNpm()
  if (npm === undefined) return
  const timer = setInterval(() => {
    if (isRunning(npm)) return
    clearInterval(timer)
    gone()
  }, checkMs)
  timer.unref()
}

/** npm starts a shell, which starts us: npm is an ancestor, but not always the parent. */
function startingNpm(): number | undefined {
  if (process.env.npm_lifecycle_event === undefined) return undefined
  let pid = process.ppid
  for (let generation = 0; generation < ancestorsMax && pid > 1; generation += 1) {
    const [parent, ...command] = describe(pid)
    if (command.some((word) => /(^|\/)npm(-cli\.js)?$/.test(word))) return pid
    pid = Number(parent)
  }
  return undefined
}

/** @returns the parent's number and the words of the command, or nothing where `ps` cannot tell. */
function describe(pid: number): string[] {
  try {
    const line = execFileSync('ps', ['-o', 'ppid=,args=', '-p', String(pid)], { encoding: 'utf8' })
    return line.trim().split(/\s+/)
  } catch {
    return []
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
