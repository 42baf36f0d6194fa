import { runService } from '@backoffice/service-runtime'
import { players } from './service.ts'

await runService(players)
