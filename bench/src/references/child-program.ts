import { type ChildProcess, fork, type Serializable, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createConnection } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { freePort, natsServerBinary } from '@backoffice/dev-stack'

const natsStartTimeoutMs = 10_000
const lookEveryMs = 20

/**
 * Starts a program beside this file as a process of its own, so that it is scheduled as a service is and its processor time
 * is its own. Its settings go over as one JSON argument; its first message says that it is ready.
 */
export async function startProgram(
  name: string,
  settings: unknown,
  ending: AsyncDisposableStack,
): Promise<{ readonly child: ChildProcess; readonly ready: Serializable }> {
  const child = fork(fileURLToPath(new URL(name, import.meta.url)), [JSON.stringify(settings)])
  ending.defer(() => end(child))
  const [ready] = await Promise.race([
    once(child, 'message') as Promise<[Serializable]>,
    once(child, 'exit').then(([code]) => Promise.reject(new Error(`${name} ended with ${code}`))),
  ])
  return { child, ready }
}

/** Starts a nats-server with its default settings, for the references alone. */
export async function startNatsServer(ending: AsyncDisposableStack): Promise<{ url: string; pid: number }> {
  const port = await freePort()
  const child = spawn(await natsServerBinary(), ['--addr', '127.0.0.1', '--port', String(port)], { stdio: 'ignore' })
  ending.defer(() => end(child))
  for (let leftMs = natsStartTimeoutMs; !(await listens(port)); leftMs -= lookEveryMs) {
    if (leftMs <= 0 || child.exitCode !== null) throw new Error('the nats-server of the references did not start')
    await wait(lookEveryMs)
  }
  return { url: `nats://127.0.0.1:${port}`, pid: child.pid ?? 0 }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  child.kill('SIGTERM')
  await exited
}

function listens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection(port, '127.0.0.1')
    const done = (isReady: boolean) => {
      socket.destroy()
      resolve(isReady)
    }
    socket.once('connect', () => done(true))
    socket.once('error', () => done(false))
  })
}
