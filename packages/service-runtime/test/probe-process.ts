import { defineService, runService } from '../src/index.ts'
import { payments } from './probe-services.ts'

// The probe as a process of its own, to be killed.
await runService(
  defineService({
    ...payments,
    compose(context, settings, outside) {
      process.once('SIGUSR2', () => void context.nats.close())
      process.once('SIGHUP', () => void Promise.reject(new Error('nobody waits for this task')))
      return payments.compose(context, settings, outside)
    },
  }),
)
