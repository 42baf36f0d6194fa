import { defineService, runService } from '../src/index.ts'
import { payments } from './probe-services.ts'

/** Stopping takes a tenth of the time where something does not end. */
function waitLess(): void {
  const { setTimeout } = globalThis
  globalThis.setTimeout = Object.assign((run: () => void, ms = 0) => setTimeout(run, ms / 10), setTimeout)
}

// The probe as a process of its own, to be killed.
await runService(
  defineService({
    ...payments,
    compose(context, settings, outside) {
      process.once('SIGTERM', waitLess)
      process.once('SIGUSR2', () => void context.nats.close())
      process.once('SIGHUP', () => void Promise.reject(new Error('nobody waits for this task')))
      return payments.compose(context, settings, outside)
    },
  }),
)
