import { execFileSync } from 'node:child_process'

export function isInstalled(command: string): boolean {
  try {
    execFileSync('sh', ['-c', `command -v ${command}`], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

/** @returns why a test of that command is skipped, or false; where tools are required its absence is an error. */
export function missing(command: string): string | false {
  if (isInstalled(command)) return false
  const reason = `${command} is not installed (Debian package prometheus)`
  if (process.env.REQUIRE_TEST_TOOLS === 'true') throw new Error(reason)
  return reason
}
