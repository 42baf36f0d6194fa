import { execFileSync } from 'node:child_process'

/** Debian keeps servers where ordinary users do not look. */
export const toolPath = `${process.env.PATH}:/usr/sbin:/sbin`

function isInstalled(command: string): boolean {
  try {
    execFileSync('sh', ['-c', `command -v ${command}`], { stdio: 'ignore', env: { ...process.env, PATH: toolPath } })
    return true
  } catch {
    return false
  }
}

/**
 * What a machine may lack: a test that needs it is skipped and named. With REQUIRE_TEST_TOOLS=true it runs and fails
 * instead.
 * @param lack what is missing, in words; false when nothing is
 */
export function unlessRequired(lack: string | false): string | false {
  return process.env.REQUIRE_TEST_TOOLS === 'true' ? false : lack
}

/** Why a test of a program is skipped, or false. */
export function skipWithout(command: string, debianPackage: string): string | false {
  return unlessRequired(isInstalled(command) ? false : `${command} is missing (Debian: ${debianPackage})`)
}
