import { runService } from '@backoffice/service-runtime'
import { wallet } from './service.ts'

await runService(wallet)
