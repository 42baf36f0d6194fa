import { spawnSync } from 'node:child_process'
import { readFileSync, statSync } from 'node:fs'
import { userInfo } from 'node:os'
import { dirname } from 'node:path'

export interface Account {
  readonly uid: number
  readonly gid: number
}

/**
 * PostgreSQL refuses to run as root. When we are root it runs as the owner of its data folder or, the first time, as
 * `postgres` or `nobody`, whichever exists; no account is made for it.
 *
 * @returns undefined when we are not root: PostgreSQL then runs as ourselves.
 */
export function serverAccount(dataFolder: string | undefined): Account | undefined {
  if (userInfo().uid !== 0) return undefined
  if (dataFolder !== undefined) {
    const { uid, gid } = statSync(dataFolder)
    if (uid !== 0) return { uid, gid }
  }
  const accounts = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'))
  const found = ['postgres', 'nobody'].map((name) => accounts.find((fields) => fields[0] === name)).find(Boolean)
  if (found === undefined) {
    throw new Error('PostgreSQL does not run as root. Start again as another user, or set POSTGRES_URL.')
  }
  return { uid: Number(found[2]), gid: Number(found[3]) }
}

interface Command {
  readonly command: string
  readonly args: readonly string[]
  readonly uid?: number
  readonly gid?: number
}

/** The command as it is to be spawned so that `account` runs it, although the path may lead through root's home. */
export function asAccount(
  account: Account | undefined,
  command: string,
  args: readonly string[],
  folder: string,
): Command {
  if (account === undefined) return { command, args }
  if (everyoneMayEnter(command) && everyoneMayEnter(folder)) return { command, args, ...account }
  const setpriv = passageFlags.map((flags) => [...flags, `--reuid=${account.uid}`, `--regid=${account.gid}`])
  const works = setpriv.find((flags) => succeeds('setpriv', [...flags, '--clear-groups', 'test', '-x', command]))
  if (works === undefined) {
    throw new Error(
      `PostgreSQL does not run as root, and no other user may enter ${dirname(command)}. ` +
        'Move this folder out of a private one (such as /root), or start again as another user, or set POSTGRES_URL.',
    )
  }
  return { command: 'setpriv', args: [...works, '--clear-groups', command, ...args] }
}

/**
 * The one right of root that is kept: to pass through closed folders. Containers often lack the narrow one. Without
 * no_setuid_fixup the kernel would leave it out when PostgreSQL asks whether its own programs are there.
 */
const passageFlags = ['dac_read_search', 'dac_override'].map((right) => [
  '--securebits=+no_setuid_fixup',
  `--inh-caps=+${right}`,
  `--ambient-caps=+${right}`,
])

function succeeds(command: string, args: readonly string[]): boolean {
  return spawnSync(command, args, { stdio: 'ignore' }).status === 0
}

function everyoneMayEnter(path: string): boolean {
  for (let folder = dirname(path); folder !== dirname(folder); folder = dirname(folder)) {
    if ((statSync(folder).mode & 0o001) === 0) return false
  }
  return true
}
