// `npm run nats-permissions`: writes both permissions.conf from the tables of operations and events.
import { writeFileSync } from 'node:fs'
import { renderPermissionsFile, renderUpgradePermissionsFile } from '@backoffice/contracts'

writeFileSync(new URL('permissions.conf', import.meta.url), renderPermissionsFile())
writeFileSync(new URL('upgrade/permissions.conf', import.meta.url), renderUpgradePermissionsFile())
