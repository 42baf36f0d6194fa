import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Teardown } from './test-bed.ts'

/**
 * A folder that goes when `t` ends, after all that is registered later to end with it. For what servers write to: tap
 * removes its own `testdir` before that, so a server would still write there, and what fails then leaves it running.
 */
export function temporaryFolder(t: Teardown): string {
  const dir = mkdtempSync(join(tmpdir(), 'backoffice-'))
  // PostgreSQL may run as another account than the test.
  chmodSync(dir, 0o755)
  t.teardown(() => rmSync(dir, { recursive: true, force: true }))
  return dir
}
