import { runService } from '@backoffice/service-runtime'
import { webhooks } from './service.ts'

await runService(webhooks)
