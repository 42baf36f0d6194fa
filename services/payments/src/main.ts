import { runService } from '@backoffice/service-runtime'
import { payments } from './service.ts'

await runService(payments)
