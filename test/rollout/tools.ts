import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { eventually, type Teardown, toolPath } from '@backoffice/test-kit'

/** Runs a proxy in the foreground with a configuration of its own until the test ends, and waits until it listens. */
export async function startProxy(
  t: Teardown,
  { program, configuration, port }: { program: 'haproxy' | 'nginx'; configuration: string; port: number },
): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), `backoffice-${program}-`))
  // Its workers run as somebody else, and buffer bodies here.
  chmodSync(dir, 0o755)
  const file = join(dir, `${program}.conf`)
  writeFileSync(file, configuration.replaceAll('@DIR@', dir))
  const args = program === 'haproxy' ? ['-db', '-f', file] : ['-p', dir, '-c', file, '-g', 'daemon off;']
  const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'pipe'], env: { ...process.env, PATH: toolPath } })
  let errors = ''
  child.stderr.on('data', (chunk) => {
    errors += chunk
  })
  const exited = once(child, 'exit')
  t.teardown(async () => {
    child.kill('SIGTERM')
    await exited
    rmSync(dir, { recursive: true, force: true })
  })
  await eventually(async () => {
    if (child.exitCode !== null) throw new Error(`${program} ended: ${errors}`)
    // Any answer will do, its own 503 included.
    return (await fetch(`http://127.0.0.1:${port}/`).catch(() => null)) !== null
  }, 20_000)
}
