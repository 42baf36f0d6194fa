import { runService } from '@backoffice/service-runtime'
import { reconciler } from './service.ts'

await runService(reconciler)
