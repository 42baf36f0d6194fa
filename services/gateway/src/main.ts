import { runService } from '@backoffice/service-runtime'
import { gateway } from './service.ts'

await runService(gateway)
