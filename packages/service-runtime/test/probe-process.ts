import { runService } from '../src/index.ts'
import { payments } from './probe-services.ts'

// The probe as a process of its own, to be killed.
await runService(payments)
