// `npm run nats-permissions`: writes the files of permissions from the tables of operations and events.
import { writeFileSync } from 'node:fs'
import { renderObserverFile, renderPermissionsFile, renderSystemObserverFile } from '@backoffice/contracts'

writeFileSync(new URL('permissions.conf', import.meta.url), renderPermissionsFile())
writeFileSync(new URL('ops-permissions.conf', import.meta.url), renderObserverFile())
writeFileSync(new URL('system-permissions.conf', import.meta.url), renderSystemObserverFile())
