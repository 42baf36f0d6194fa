// `npm run nats-permissions`: writes permissions.conf from the tables of operations and events.
import { writeFileSync } from 'node:fs'
import { renderPermissionsFile } from '@backoffice/contracts'

writeFileSync(new URL('permissions.conf', import.meta.url), renderPermissionsFile())
