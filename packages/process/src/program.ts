import assert from 'node:assert/strict'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { performance } from 'node:perf_hooks'
import { setTimeout as wait } from 'node:timers/promises'
import { metrics, ProxyTracerProvider, trace } from '@opentelemetry/api'
import { bePatient, patiently } from './limits.ts'
import type { Logger } from './log.ts'
import { waitAtMost } from './time.ts'

/** One step of stopping. It may be late: an unavailable backend must not hold up the process. */
export interface StoppingStep {
  /** For the log. */
  readonly what: string
  readonly msMax: number
  readonly stop: () => Promise<unknown>
  /** What is done when it takes too long. */
  readonly late?: () => unknown
}

interface Program {
  readonly log: Logger
  readonly settings: { readonly DRAIN_DELAY_MS: number; readonly HEALTH_HOST: string; readonly HEALTH_PORT: number }
  /** Whether it can work now. Not asked any more once it drains. */
  readonly ready: () => Promise<boolean>
  /** Called at once when the process is asked to stop. */
  readonly leave?: () => void
  /** Taken one after the other. Together with the telemetry's own limit they stay below `stoppingMsMax`. */
  readonly stopping: readonly StoppingStep[]
}

export interface StartedProgram {
  readonly healthPort: number
  /** Fails /readyz, goes on for DRAIN_DELAY_MS, and takes the steps of stopping. Safe to call twice. */
  drain(): Promise<void>
}

/** Beyond DRAIN_DELAY_MS: Kubernetes kills the process after its grace period. */
const stoppingMsMax = 25_000

/** Says that a program works, once it does, and ends it in order. */
export async function startProgram({ log, settings, ready, leave, stopping }: Program): Promise<StartedProgram> {
  const stopsInMs = stopping.reduce((sum, { msMax }) => sum + msMax, flushTimeoutMs)
  assert(stopsInMs <= stoppingMsMax, `stopping may take ${stopsInMs} ms`)
  let draining: Promise<void> | undefined
  giveBackMemory()
  giveBackAtRest()
  const health = await startHealthServer({
    host: settings.HEALTH_HOST,
    port: settings.HEALTH_PORT,
    ready: async () => draining === undefined && (await ready()),
  })
  log.info({ healthPort: health.port }, 'the process has started')

  async function stop(): Promise<void> {
    leave?.()
    await wait(settings.DRAIN_DELAY_MS)
    for (const { what, msMax, stop, late } of stopping) {
      const stopped = Promise.try(stop).catch((err) =>
        log.warn({ what, err }, `the process could not stop its ${what}`),
      )
      await waitAtMost(patiently(msMax), stopped, () => {
        log.warn({ what }, `the process stops without waiting any longer for its ${what}`)
        return late?.()
      })
    }
    await flushTelemetry()
    await health.close()
    log.info('the process has ended what was under way, and stops')
  }
  return {
    healthPort: health.port,
    drain() {
      draining ??= stop()
      return draining
    },
  }
}

/**
 * The empty part of the heap, which loading the program and each busy time leave: a third of it and more. A collection
 * that Node starts by itself leaves the heap as large as it was. Whatever starts a service gives --expose-gc.
 */
const giveBackMemory = () => globalThis.gc?.({ type: 'major', execution: 'sync', flavor: 'last-resort' })

const lookEveryMs = 10_000
/** Health checks and the program's own looks take less of that time. */
const restMs = 300

/** After each busy time, once the program rests: it stands still for some 30 ms then, which nobody is there to notice. */
function giveBackAtRest(): void {
  let [seen, worked] = [performance.eventLoopUtilization(), false]
  const look = () => {
    const now = performance.eventLoopUtilization()
    const rests = performance.eventLoopUtilization(now, seen).active < restMs
    if (rests && worked) giveBackMemory()
    seen = now
    worked = !rests
  }
  setInterval(look, lookEveryMs).unref()
}

interface HealthServer {
  readonly port: number
  close(): Promise<void>
}

/**
 * /healthz: the process is alive. /readyz: it can serve now. It replies 503 while the process starts, drains, or cannot
 * reach a backend that it needs.
 */
async function startHealthServer(options: {
  readonly host: string
  readonly port: number
  readonly ready: () => Promise<boolean>
}): Promise<HealthServer> {
  const server = createServer((request, response) => {
    const reply = (status: number, text: string) =>
      response.writeHead(status, { 'Content-Type': 'text/plain' }).end(`${text}\n`)
    if (request.url === '/healthz') reply(200, 'ok')
    else if (request.url === '/readyz')
      options
        .ready()
        .catch(() => false)
        .then((ready) => (ready ? reply(200, 'ready') : reply(503, 'not ready')))
    else reply(404, 'not found')
  })
  await listen(server, options.host, options.port)
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

function listen(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => resolve())
  })
}

/** What runs as a process, once it has started. */
export interface RunningProcess {
  readonly log: Logger
  /** Finishes what is under way. */
  drain(): Promise<void>
}

interface RunOptions<R> {
  /** Resolves, to what is said about it, when the process looks alive and can no longer work. It is then ended at once. */
  readonly broken?: (running: R) => Promise<{ readonly message: string; readonly err: unknown }>
}

/**
 * Runs a program as this process: drains on SIGTERM and SIGINT, and exits with 1 when it cannot start. A fault that no
 * task handles is a bug: it is logged, what is under way is finished, and the process exits with 1, to be started again.
 */
export async function runProcess<R extends RunningProcess>(
  start: () => Promise<R>,
  { broken }: RunOptions<R> = {},
): Promise<void> {
  let running: R | undefined
  let ending = false
  const end = async (status: 0 | 1) => {
    ending = true
    // Before it has started there is nothing to finish.
    if (running === undefined) process.exit(status)
    try {
      await running.drain()
      process.exit(status)
    } catch (error) {
      running.log.error({ err: error }, 'the process could not end what was under way')
      process.exit(1)
    }
  }
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    // What has ended the process while its modules were loaded (telemetry/register.ts). It goes last: without any listener
    // a signal that has just come would be lost.
    const before = process.listeners(signal)
    process.once(signal, () => void end(0))
    for (const listener of before) process.off(signal, listener)
  }
  // Of a promise that was rejected and that nobody waits for, too: Node raises it as an exception.
  process.on('uncaughtException', (err: unknown, origin) => {
    if (running === undefined) report(err)
    else running.log.fatal({ err, origin }, 'a fault that nothing handled ends the process')
    if (!ending) void end(1)
  })
  try {
    bePatient(process.env)
    const started = await start()
    running = started
    void broken?.(started).then(({ message, err }) => {
      if (ending) return
      started.log.fatal({ err }, message)
      process.exit(1)
    })
  } catch (error) {
    report(error)
    process.exit(1)
  }
}

function report(error: unknown): void {
  process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`)
}

const flushTimeoutMs = 3_000

interface Provider {
  forceFlush?(): Promise<void>
}

/**
 * Sends what the SDK still holds, if there is one. An unavailable collector delays the end of the process by this time
 * at most.
 */
async function flushTelemetry(): Promise<void> {
  const tracers = trace.getTracerProvider()
  const providers = [
    tracers instanceof ProxyTracerProvider ? tracers.getDelegate() : tracers,
    metrics.getMeterProvider(),
  ] as Provider[]
  const flushed = Promise.allSettled(providers.map((provider) => provider.forceFlush?.()))
  await Promise.race([flushed, new Promise((resolve) => setTimeout(resolve, flushTimeoutMs).unref())])
}
