import { execFileSync } from 'node:child_process'
import { closeSync, mkdirSync, mkdtempSync, openSync, rmdirSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Teardown, unlessRequired } from '@backoffice/test-kit'

const chunk = Buffer.alloc(64 * 1024)

/** A disk of its own, in memory, so small that it can be filled. */
export class SmallDisk {
  readonly dir: string

  private constructor(dir: string) {
    this.dir = dir
  }

  /** @param dir is made; everybody may look into it */
  static mount(t: Teardown, dir: string, megabytes: number): SmallDisk {
    mkdirSync(dir, { recursive: true })
    mount(dir, megabytes)
    t.teardown(() => unmount(dir))
    return new SmallDisk(dir)
  }

  /** Takes what is left, to the last byte. */
  fill(): void {
    const file = openSync(this.#ballast, 'a')
    try {
      for (;;) writeSync(file, chunk)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
    } finally {
      closeSync(file)
    }
  }

  /** Gives it back. */
  free(): void {
    rmSync(this.#ballast)
  }

  get #ballast(): string {
    return join(this.dir, 'ballast')
  }
}

/** Why a test with a small disk is skipped, or false. */
export function skipWithoutSmallDisks(): string | false {
  const dir = mkdtempSync(join(tmpdir(), 'backoffice-disk-'))
  try {
    mount(dir, 1)
    unmount(dir)
    return false
  } catch {
    return unlessRequired('no tmpfs can be mounted here (Linux, as root)')
  } finally {
    rmdirSync(dir)
  }
}

function mount(dir: string, megabytes: number): void {
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m,mode=755`, 'tmpfs', dir], { stdio: 'pipe' })
}

/** At once, and from its last user when that ends. */
function unmount(dir: string): void {
  execFileSync('umount', ['--lazy', dir], { stdio: 'pipe' })
}
